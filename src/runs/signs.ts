/** Signs on people's messages: "noted, it waits", and "seen" where the settings want that as an
 * emoji. */

import type { Surface } from '../surface/surface.ts';
import type { Background } from './background.ts';

export interface Signs {
  /** It waits. Once a message. */
  putOn(surface: Surface, messageId: string): void;
  /** `surely`: also when it is not known that one is there (an earlier life put it on). */
  takeOff(surface: Surface, messageId: string, surely?: boolean): void;
  /** It was seen, and is worked on. Once a message. */
  see(surface: Surface, messageId: string): void;
  unsee(surface: Surface, messageId: string, surely?: boolean): void;
}

const seenSign = { emoji: '👀' } as const;

/** A message that a click made; no platform knows it. */
export const madeMessageId = (by: 'continue', cardId: string): string => `${by}:${cardId}`;
const isMade = (messageId: string): boolean => messageId.startsWith('continue:');

export function createSigns(deps: { readonly background: Background }): Signs {
  const waiting = new Set<string>();
  const seen = new Set<string>();
  const change = (
    shown: Set<string>,
    sign: 'waiting' | typeof seenSign,
    surface: Surface,
    messageId: string,
    on: boolean,
    surely: boolean,
  ): void => {
    const isNew = shown.has(messageId) !== on;
    if (isMade(messageId) || !(isNew || (surely && !on))) return;
    if (on) shown.add(messageId);
    else shown.delete(messageId);
    const name = sign === 'waiting' ? 'waiting_sign' : 'seen_sign';
    deps.background.start(name, async () => {
      await surface.react(messageId, sign, on);
    });
  };
  return {
    putOn: (surface, messageId) => change(waiting, 'waiting', surface, messageId, true, false),
    takeOff: (surface, messageId, surely = false) =>
      change(waiting, 'waiting', surface, messageId, false, surely),
    see: (surface, messageId) => change(seen, seenSign, surface, messageId, true, false),
    unsee: (surface, messageId, surely = false) =>
      change(seen, seenSign, surface, messageId, false, surely),
  };
}
