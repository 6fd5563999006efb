// Flags of who may do what.
import { required } from './flag.ts';
import { list } from './flag-kinds.ts';

const section = 'Authorization';

export const authorizationFlags = {
  'authorization-mode': required(
    section,
    list,
    'Node,RBAC',
    'Who decides what a request may do, in this order: the first that allows or denies.',
  ),
} as const;
