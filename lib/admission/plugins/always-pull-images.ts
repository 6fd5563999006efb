// AlwaysPullImages: every image is pulled each time, with the pull secrets of the pod that runs it;
// else a pod could use what lies on its node and was pulled with the secrets of another.
import { listAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { aggregateText } from '../../base/aggregate-text.ts';
import { fieldErrorText } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import { handling } from '../handling.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import { refusal } from '../refusal.ts';

const always = 'Always';

export function alwaysPullImages(): AdmissionPlugin {
  const handles = handling({ resource: 'pods', operations: ['CREATE', 'UPDATE'] });
  return {
    name: 'AlwaysPullImages',
    sideEffects: false,
    handles,
    mutate(request, pod) {
      if (hasNoNewImage(request, pod)) return false;
      let isChanged = false;
      for (const { holder, policy } of imagesOf(pod)) {
        if (holder[policy] === always) continue;
        holder[policy] = always;
        isChanged = true;
      }
      return isChanged;
    },
    validate(request, pod) {
      if (pod === undefined || hasNoNewImage(request, pod)) return;
      const errors = new FieldErrors();
      for (const { holder, policy, path } of imagesOf(pod)) {
        const given = textAt(holder, policy);
        if (given !== always) errors.notSupported(`${path}.${policy}`, given, [always]);
      }
      if (errors.list.length === 0) return;
      throw refusal(request, pod, aggregateText(errors.list.map(fieldErrorText)));
    },
  };
}

interface Image {
  /** What states how it is pulled. */
  readonly holder: JsonObject;
  readonly policy: 'imagePullPolicy' | 'pullPolicy';
  readonly image: string;
  readonly path: string;
}

const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const;

function imagesOf(pod: Readonly<ApiObject> | undefined): readonly Image[] {
  const spec = recordAt(pod, 'spec');
  const images: Image[] = [];
  for (const list of lists) {
    for (const [at, holder] of recordsAt(spec, list).entries()) {
      const path = `spec.${list}[${String(at)}]`;
      images.push({ holder, policy: 'imagePullPolicy', image: textAt(holder, 'image'), path });
    }
  }
  if (listAt(spec, 'volumes').length === 0) return images;
  for (const [at, volume] of recordsAt(spec, 'volumes').entries()) {
    const holder = recordAt(volume, 'image');
    if (holder === undefined) continue;
    const path = `spec.volumes[${String(at)}].image`;
    images.push({ holder, policy: 'pullPolicy', image: textAt(holder, 'reference'), path });
  }
  return images;
}

/** Of an update that runs nothing that did not run before; what was admitted stays. */
function hasNoNewImage({ operation, old }: AdmissionRequest, pod: Readonly<ApiObject>): boolean {
  if (operation !== 'UPDATE') return false;
  const known = new Set(imagesOf(old).map(({ image }) => image));
  return imagesOf(pod).every(({ image }) => known.has(image));
}
