// Watch events as bytes: framed once per event and form, shared by all watchers that get them.
import type { ResourceInfo } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { WatchEvent } from '../cacher/resource-view.ts';
import { watchEvent } from '../codec/frame.ts';
import type { Form } from './forms.ts';
import type { WatchRepresentation } from './representation.ts';

export function formWatch(
  form: Form,
  options: {
    readonly resource: ResourceInfo;
    readonly naming: NamingProfile;
    readonly contentType: string;
  },
): WatchRepresentation {
  const { resource, naming } = options;
  const bookmark = (revision: number, isInitialEnd: boolean): Uint8Array => {
    const annotations = { [naming.initialEventsEndAnnotation]: 'true' };
    const metadata = {
      resourceVersion: String(revision),
      ...(isInitialEnd ? { annotations } : {}),
    };
    return watchEvent('BOOKMARK', form.bookmark(metadata, resource));
  };
  const later = (event: WatchEvent): Uint8Array =>
    event.item === undefined
      ? bookmark(event.revision, event.initialEventsEnd === true)
      : watchEvent(event.type, form.laterObject(event.item));
  const hasFirst = form.laterObject !== form.object;
  let isFirst = hasFirst;
  return {
    contentType: options.contentType,
    frame(event) {
      if (isFirst && event.item !== undefined) {
        isFirst = false;
        return watchEvent(event.type, form.object(event.item));
      }
      return event.memo(form.variant, later);
    },
    bookmark: (revision) => bookmark(revision, false),
    error: (error) => watchEvent('ERROR', Buffer.from(JSON.stringify(error.toBody()))),
  };
}
