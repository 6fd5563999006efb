// The kinds of rbac: one record each.
import type { Kind } from '../kind.ts';
import { bindingColumns } from './columns.ts';
import { bindingConversions } from './conversion.ts';
import { subjectDefaults } from './defaults.ts';
import {
  clusterRoleBindingStrategy,
  clusterRoleStrategy,
  roleBindingStrategy,
  roleStrategy,
} from './escalation.ts';
import {
  validateClusterRole,
  validateClusterRoleBinding,
  validateRole,
  validateRoleBinding,
} from './role-validation.ts';

export const rbacKinds: readonly Kind[] = [
  {
    name: 'rbac/ClusterRole',
    strategy: clusterRoleStrategy,
    validate: validateClusterRole,
  },
  {
    name: 'rbac/ClusterRoleBinding',
    columns: bindingColumns,
    conversions: bindingConversions('ClusterRoleBinding'),
    strategy: clusterRoleBindingStrategy,
    validate: validateClusterRoleBinding,
  },
  {
    name: 'rbac/Role',
    strategy: roleStrategy,
    validate: validateRole,
  },
  {
    name: 'rbac/RoleBinding',
    columns: bindingColumns,
    defaults: subjectDefaults,
    conversions: bindingConversions('RoleBinding'),
    strategy: roleBindingStrategy,
    validate: validateRoleBinding,
  },
];
