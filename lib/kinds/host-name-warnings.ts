// Kinds whose names become host names of pods: what is no DNS label surprises.
import { dns1123LabelProblems } from '../api/name-rules.ts';
import { textAt, recordAt } from '../api/json-access.ts';
import type { Warnings } from './validator.ts';

const nameWarnings =
  (use: string): Warnings =>
  ({ object, old }) => {
    const name = textAt(recordAt(object, 'metadata'), 'name');
    const isNew = old === undefined && name !== '';
    const problems = isNew ? dns1123LabelProblems(name) : [];
    if (problems.length === 0) return [];
    const risk = 'which can result in surprising behavior; a DNS label is recommended';
    return [`metadata.name: ${use}, ${risk}: [${problems.join(' ')}]`];
  };

export const podNameWarnings = nameWarnings("this is used in the Pod's hostname");
/** Of kinds that make pods. */
export const hostNameWarnings = nameWarnings('this is used in Pod names and hostnames');

/** Of several sorts, in order. */
export const joinedWarnings =
  (...sorts: readonly Warnings[]): Warnings =>
  (write) =>
    sorts.flatMap((warnings) => warnings(write));
