// Who a controller is: the service account that the default roles name for it (specification 3,
// default roles, `system:controller:<name>`), whoever runs it.
import type { NamingProfile } from '../api/vendor.ts';
import {
  authenticatedGroup,
  mastersGroup,
  serviceAccountGroups,
  serviceAccountUser,
} from '../base/user.ts';
import type { User } from '../base/user.ts';

/**
 * `account`: the name of the role after `system:controller:`. It may do everything: what it does
 * is decided here, and must not end with a role that somebody changed.
 */
export const controllerUser = (naming: NamingProfile, account: string): User => ({
  name: serviceAccountUser(naming.systemNamespace, account),
  uid: '',
  groups: [...serviceAccountGroups(naming.systemNamespace), authenticatedGroup, mastersGroup],
  extra: {},
});
