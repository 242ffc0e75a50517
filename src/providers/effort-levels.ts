/**
 * A level of effort that a model does not know costs that level, and no other: the next weaker one
 * is asked for, from then on.
 */

import { type Abilities, type Effort, efforts, offeredEfforts } from '../messages/model.ts';
import { type Adaptation, unquoted } from './adaptation.ts';
import { askedEffort } from './budgets.ts';
import type { WireFailure } from './errors.ts';

/** Before the refused levels: `no_effort:xhigh,max`. */
const prefix = 'no_effort:';

export const effortLevels: Adaptation = {
  lasts: 'model',
  cureOf: (failure, request, learned) => {
    const abilities = withoutRefusedEfforts(request.abilities, learned);
    const sent = askedEffort({ ...request, abilities });
    if (sent === undefined) return undefined;
    const refused = refusedLevels(failure, sent, offeredEfforts(abilities));
    return refused.length === 0 ? undefined : prefix + refused.join(',');
  },
};

const aboutEffort = /effort|thinking[_ .]?level|unsupported value/iu;
const isRefusal =
  /not support|unsupported|invalid|not (?:a )?valid|unknown|unrecogni|expected|be/iu;
/** Fields whose values are called as levels are: the verbosity, and the detail of an image. */
const ofOthers = /verbosity|\bdetail\b|\boriginal\b/iu;
/** From here on a refusal names what it would take. */
const takenPattern =
  /(?:supported values|valid values|allowed values|one of|should be|must be|expected|use)\b/iu;

function refusedLevels(
  { message, param = '' }: WireFailure,
  sent: Effort,
  offered: readonly Effort[],
): readonly Effort[] {
  const text = unquoted(`${param} ${message}`);
  if (!aboutEffort.test(text) || !isRefusal.test(text) || ofOthers.test(text)) return [];
  const taken = levelsIn(text.slice(takenPattern.exec(text)?.index ?? text.length));
  if (taken.includes(sent)) return [];
  if (taken.length > 0) {
    // Not to think may be asked for in another way than by a level.
    return offered.filter((one) => one === sent || (one !== 'none' && !taken.includes(one)));
  }
  return levelsIn(text).includes(sent) ? [sent] : [];
}

function levelsIn(text: string): readonly Effort[] {
  return efforts.filter((effort) => new RegExp(`\\b${effort}\\b(?! tokens)`, 'iu').test(text));
}

/** What the model can do, without the levels that it was seen to refuse. */
export function withoutRefusedEfforts(
  abilities: Abilities,
  learned: ReadonlySet<string>,
): Abilities {
  const refused = [...learned].flatMap((name) =>
    name.startsWith(prefix) ? name.slice(prefix.length).split(',') : [],
  );
  if (refused.length === 0) return abilities;
  const { thinking } = abilities;
  return {
    ...abilities,
    efforts: abilities.efforts.filter((effort) => !refused.includes(effort)),
    thinking: refused.includes('none')
      ? thinking.filter((form) => form !== 'off' && form !== 'between_tools')
      : thinking,
  };
}
