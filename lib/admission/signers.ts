// Who may act for a signer of certificates: by its name, or by all of its domain.
import type { Authorizer } from '../authz/authorizer.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { whenThere } from '../base/maybe-promise.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { User } from '../base/user.ts';

export interface SignerCheck {
  readonly authorizer: Authorizer;
  readonly naming: NamingProfile;
}

export function mayActFor(
  { authorizer, naming }: SignerCheck,
  asked: { readonly user: User; readonly verb: string; readonly signer: string },
  signal: AbortSignal,
): MaybePromise<boolean> {
  const isAllowed = (name: string): MaybePromise<boolean> =>
    whenThere(
      authorizer.authorize(
        {
          user: asked.user,
          verb: asked.verb,
          isResourceRequest: true,
          group: naming.resolve('certificates.{v}'),
          version: '*',
          resource: 'signers',
          subresource: '',
          namespace: '',
          name,
          fieldSelector: undefined,
          labelSelector: undefined,
          path: '',
        },
        signal,
      ),
      ({ effect }) => effect === 'allow',
    );
  const { signer } = asked;
  const [domain = ''] = signer.split('/', 1);
  return whenThere(isAllowed(signer), (is) => is || isAllowed(`${domain}/*`));
}
