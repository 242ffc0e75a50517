/**
 * Tokens for private answers to interactions: good for 15 minutes (receiving-and-responding), kept
 * in memory only.
 */

import type { Clock } from '../../src/base/clock.ts';
import { createKept } from './kept.ts';

export interface InteractionAnswer {
  readonly applicationId: string;
  readonly token: string;
  /** A command's deferral shows a waiting line that the first answer must fill. */
  isWaiting: boolean;
}

export interface InteractionBook {
  keep(interactionId: string, answer: InteractionAnswer): void;
  /** Null when it is unknown or old. */
  get(interactionId: string): InteractionAnswer | null;
}

/** Half a minute less than Discord's 15: an answer needs time to arrive. */
const mostAgeMs = 14.5 * 60_000;

export function createInteractionBook(clock: Clock): InteractionBook {
  const kept = createKept<InteractionAnswer>(clock, { mostEntries: 10_000, mostAgeMs });
  return {
    keep: (interactionId, answer) => kept.set(interactionId, answer),
    get: (interactionId) => kept.get(interactionId) ?? null,
  };
}
