/**
 * Where the places stood a short while ago: what arrives live after a loss must not hide what the
 * loss swallowed. Kept in memory only, since a loss that lasts over the end of the process is read
 * back from where the places stood at the start.
 */

import type { Clock } from '../base/clock.ts';

export interface FormerMarks<Mark> {
  /** This mark of the place gives way to a newer one now. */
  replaced(place: string, mark: Mark): void;
  /** The mark as it stood at this moment (ms since the epoch), to the second and for as long as it
   * is kept; undefined: it has not changed since. */
  at(place: string, moment: number): Mark | undefined;
}

const keptMs = 5 * 60_000;
const grainMs = 1_000;

interface Former<Mark> {
  readonly mark: Mark;
  replacedAt: number;
}

export function createFormerMarks<Mark>(deps: { readonly clock: Clock }): FormerMarks<Mark> {
  /** Oldest first; the places by their last change. */
  const marks = new Map<string, readonly Former<Mark>[]>();

  const forgetPlaces = (before: number): void => {
    for (const [place, kept] of marks) {
      if ((kept.at(-1)?.replacedAt ?? 0) >= before) return;
      marks.delete(place);
    }
  };

  return {
    replaced: (place, mark) => {
      const now = deps.clock.now();
      const kept = (marks.get(place) ?? []).filter(({ replacedAt }) => replacedAt >= now - keptMs);
      const last = kept.at(-1);
      // Of the marks of one second the oldest stands for all: what it hides is less, not more.
      const isSameGrain =
        last && Math.floor(last.replacedAt / grainMs) === Math.floor(now / grainMs);
      if (isSameGrain) last.replacedAt = now;
      marks.delete(place);
      marks.set(place, isSameGrain ? kept : [...kept, { mark, replacedAt: now }]);
      forgetPlaces(now - keptMs);
    },
    at: (place, moment) => marks.get(place)?.find(({ replacedAt }) => replacedAt >= moment)?.mark,
  };
}
