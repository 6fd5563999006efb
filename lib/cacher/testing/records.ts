// Other records of the widgets of cache-fixture.ts, and transcoders that tell what they read.
import type { ResourceInfo } from '../../api/type-info.ts';
import { field, message, specType, widgetType } from '../../codec/testing/sample-types.ts';
import type { CachedResource } from '../cache.ts';
import type { Transcoder } from '../transcoder.ts';
import { widgets, widgetTranscoder } from './cache-fixture.ts';

const narrowSpec = message('WidgetSpec', specType.fields.slice(0, 1));

/** Its schema does not know `spec.size`. */
export const narrow: ResourceInfo = {
  ...widgets,
  type: message(
    'Widget',
    widgetType.fields.map((one) => (one.jsonName === 'spec' ? field('spec', narrowSpec) : one)),
    { hasTypeMeta: true },
  ),
};

/** `spec.size` is selectable, too. */
export const sized: ResourceInfo = {
  ...widgets,
  fieldSelectors: [...widgets.fieldSelectors, 'spec.size'],
};

export const removable: CachedResource = {
  resource: widgets,
  indexedFields: ['spec.nodeName'],
  isRemovable: true,
};
export const removableNarrow: CachedResource = { ...removable, resource: narrow };
export const removableSized: CachedResource = {
  ...removable,
  resource: sized,
  indexedFields: ['spec.nodeName', 'spec.size'],
};

/** Calls `onRead` for each object that is made of bytes of another form. */
export const reading = (onRead: (value: Uint8Array) => void): Transcoder => ({
  ...widgetTranscoder,
  decodeForeign(value, resource) {
    onRead(value);
    return widgetTranscoder.decodeForeign(value, resource);
  },
});
