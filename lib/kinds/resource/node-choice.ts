// Which nodes can use the devices of a slice, or one device: exactly one of several members says
// it.
import type { FieldErrors } from '../../api/field-errors.ts';
import { isSet, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import { validateNodeSelector } from '../core/pod-scheduling.ts';
import type { Holder } from '../validator.ts';

/** The members that choose nodes, as failures name them; reports those that choose badly. */
function chosenMembers(
  of: Holder,
  path: string,
  { emptyName, flags }: { readonly emptyName: string; readonly flags: readonly string[] },
  errors: FieldErrors,
): readonly string[] {
  const chosen: string[] = [];
  if (isSet(of, 'nodeName')) {
    const name = textAt(of, 'nodeName');
    if (name === '') errors.invalid(`${path}.nodeName`, '', emptyName);
    else {
      chosen.push('nodeName');
      errors.problems(`${path}.nodeName`, name, dns1123SubdomainProblems(name));
    }
  }
  const selector = recordAt(of, 'nodeSelector');
  if (selector !== undefined) {
    chosen.push('nodeSelector');
    validateNodeSelector(selector, `${path}.nodeSelector`, errors);
  }
  for (const flag of flags) {
    if (!isSet(of, flag)) continue;
    if (of?.[flag] === true) chosen.push(flag);
    else errors.invalid(`${path}.${flag}`, false, 'must be either unset or set to true');
  }
  return chosen.map((name) => `\`${name}\``);
}

/** The slice's own choice: for all of its devices, or that each has its own. */
export function validateSliceNodes(spec: Holder, errors: FieldErrors): void {
  const chosen = chosenMembers(
    spec,
    'spec',
    {
      emptyName: 'must be either unset or set to a non-empty string',
      flags: ['allNodes', 'perDeviceNodeSelection'],
    },
    errors,
  );
  const selector = recordAt(spec, 'nodeSelector');
  const terms = recordsAt(selector, 'nodeSelectorTerms');
  if (selector !== undefined && terms.length !== 1) {
    const where = 'spec.nodeSelector.nodeSelectorTerms';
    errors.invalid(where, terms, 'must have exactly one node selector term');
  }
  const choice =
    'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';
  if (chosen.length === 0) errors.required('spec', choice);
  else if (chosen.length > 1) {
    errors.invalid('spec', shown(chosen), `${choice}, but multiple fields are set`);
  }
}

/** A device's choice, which it has exactly when its slice says so. */
export function validateDeviceNodes(
  device: Holder,
  path: string,
  errors: FieldErrors,
  { isOwn }: { readonly isOwn: boolean },
): void {
  if (!isOwn) {
    if (!['nodeName', 'nodeSelector', 'allNodes'].some((name) => isSet(device, name))) return;
    const detail =
      '`nodeName`, `nodeSelector` and `allNodes` can only be set ' +
      'if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
    errors.invalid(path, null, detail);
    return;
  }
  const rules = { emptyName: 'must not be empty', flags: ['allNodes'] };
  const chosen = chosenMembers(device, path, rules, errors);
  const choice =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required ' +
    'when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  if (chosen.length === 0) errors.required(path, choice);
  else if (chosen.length > 1) errors.invalid(path, shown(chosen), choice);
}

const shown = (members: readonly string[]): string => `{${members.join(', ')}}`;
