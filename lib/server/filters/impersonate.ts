// May answer 403. Nobody can act as somebody else yet: a request that asks for it is refused, so
// that it never runs with the caller's own rights instead.
import { forbiddenRequest } from '../../base/status.ts';
import type { Filter } from '../request-context.ts';

/** Of `Impersonate-User`, `-Group`, `-Uid` and `-Extra-KEY`; Node gives names in lower case. */
const prefix = 'impersonate-';

export const refuseImpersonation: Filter = (request, _response, next) => {
  for (const name in request.headers) {
    if (!name.startsWith(prefix)) continue;
    throw forbiddenRequest(
      'forbidden: impersonation is not supported: ' +
        `the header ${JSON.stringify(name)} must not be sent`,
    );
  }
  return next();
};
