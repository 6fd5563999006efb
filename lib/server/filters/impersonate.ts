// May answer 400, 403. Whoever may act as somebody else becomes them for all that follows.
import type { NamingProfile } from '../../api/vendor.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { describeObjects, describeUser } from '../impersonation/described-user.ts';
import { Impersonation } from '../impersonation/impersonation.ts';
import type { ImpersonationOptions } from '../impersonation/impersonation.ts';
import {
  dropImpersonationHeaders,
  mentionsImpersonation,
  readWantedUser,
} from '../impersonation/wanted-user.ts';
import type { WantedUser } from '../impersonation/wanted-user.ts';
import type { Filter, HttpRequest, Next } from '../request-context.ts';
import { attributesOf } from './authorize.ts';

export function impersonateFilter(
  options: ImpersonationOptions & { readonly naming: NamingProfile },
): Filter {
  const impersonation = new Impersonation(options);
  const group = options.naming.resolve('authentication.{v}');
  const describe = options.isConstrained
    ? describeUser
    : (user: WantedUser): string => describeObjects(user, group);

  return function impersonate(request, _response, next): MaybePromise<void> {
    if (!mentionsImpersonation(request.rawHeaders)) return next();
    const wanted = readWantedUser(request.rawHeaders, describe);
    dropImpersonationHeaders(request);
    return wanted === undefined ? next() : becomes(wanted, request, next);
  };

  async function becomes(wanted: WantedUser, request: HttpRequest, next: Next): Promise<void> {
    const { context } = request;
    const { user, constraint } = await impersonation.as(wanted, attributesOf(context), context);
    context.impersonator = context.user;
    context.impersonationConstraint = constraint;
    context.user = user;
    await next();
  }
}
