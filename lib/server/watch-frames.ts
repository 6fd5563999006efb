// Watch events as bytes: framed once per event and form, shared by all watchers that get them;
// those that show ages are made for each watcher.
import type { ResourceInfo } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { StatusError } from '../base/status.ts';
import type { WatchEvent } from '../cacher/resource-view.ts';
import type { StreamFraming } from '../codec/encodings.ts';
import type { Form } from './forms.ts';
import type { WatchRepresentation } from './representation.ts';

export function formWatch(
  form: Form,
  options: {
    readonly resource: ResourceInfo;
    readonly naming: NamingProfile;
    readonly stream: StreamFraming;
    readonly errorObject: (error: StatusError) => Uint8Array;
  },
): WatchRepresentation {
  const { resource, naming, stream } = options;
  const bookmark = (revision: number, isInitialEnd: boolean): Uint8Array => {
    const annotations = { [naming.initialEventsEndAnnotation]: 'true' };
    const metadata = {
      resourceVersion: String(revision),
      ...(isInitialEnd ? { annotations } : {}),
    };
    return stream.event('BOOKMARK', form.bookmark(metadata, resource));
  };
  const later = (event: WatchEvent): Uint8Array =>
    event.item === undefined
      ? bookmark(event.revision, event.initialEventsEnd === true)
      : stream.event(event.type, form.laterObject(event.item));
  const hasFirst = form.laterObject !== form.object;
  let isFirst = hasFirst;
  return {
    contentType: stream.contentType,
    frame(event) {
      if (isFirst && event.item !== undefined) {
        isFirst = false;
        return stream.event(event.type, form.object(event.item));
      }
      return form.isTimed === true ? later(event) : event.memo(form.variant, later);
    },
    message: (frame) => stream.message(frame),
    bookmark: (revision) => bookmark(revision, false),
    error: (error) => stream.event('ERROR', options.errorObject(error)),
  };
}
