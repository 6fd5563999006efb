// What the objects of a run are: where they are served, and how they carry a run's data. Objects
// without `data` carry it in their annotations.

import type { Fields } from './history.ts';

export interface Subject {
  /** All of them serve the same objects; the first one takes the writes. */
  readonly apiPaths: readonly string[];
  readonly resource: string;
  /** An update makes an object that is not there. The checker knows only creates to do so. */
  readonly updateCreates: boolean;
  /** An update that names no version is refused. */
  readonly updateCompares: boolean;
  /** A merge patch. */
  patch(metadata: object, data: Fields): object;
  /** A whole object with so many bytes besides. */
  object(metadata: object, data: Fields, rest: { namespace: string; paddingBytes: number }): object;
}

const configMaps: Subject = {
  apiPaths: ['/api/v1'],
  resource: 'configmaps',
  updateCreates: false,
  updateCompares: false,
  patch: (metadata, data) => ({ metadata, data }),
  object: (metadata, data, { paddingBytes }) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data,
    ...(paddingBytes > 0 && { binaryData: { padding: 'AAAA'.repeat(paddingBytes / 4) } }),
  }),
};

const events: Subject = {
  apiPaths: ['/api/v1', '/apis/events.k8s.io/v1'],
  resource: 'events',
  updateCreates: true,
  updateCompares: false,
  patch: (metadata, data) => ({ metadata: { ...metadata, annotations: data } }),
  object: (metadata, data, { namespace, paddingBytes }) => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { ...metadata, annotations: data },
    involvedObject: { namespace },
    message: 'x'.repeat(paddingBytes),
  }),
};

/** Of a definition that whoever runs it has made: two versions that convert by name alone. */
const widgets: Subject = {
  apiPaths: ['/apis/history.example.com/v1', '/apis/history.example.com/v2'],
  resource: 'widgets',
  updateCreates: false,
  updateCompares: true,
  patch: (metadata, data) => ({ metadata, data }),
  object: (metadata, data, { paddingBytes }) => ({
    apiVersion: 'history.example.com/v1',
    kind: 'Widget',
    metadata,
    data,
    ...(paddingBytes > 0 && { padding: 'x'.repeat(paddingBytes) }),
  }),
};

export const subjects = { configmaps: configMaps, events, widgets } as const;
export type SubjectName = keyof typeof subjects;

export const isSubject = (name: string): name is SubjectName => Object.hasOwn(subjects, name);
