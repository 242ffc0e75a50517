/** A bounded map whose entries grow old: what was looked up, and what was seen lately. */

import type { Clock } from '../../src/base/clock.ts';

export interface Kept<Value> {
  get(id: string): Value | undefined;
  set(id: string, value: Value): void;
  delete(id: string): void;
}

export interface KeptOptions {
  readonly mostEntries: number;
  readonly mostAgeMs: number;
}

export function createKept<Value>(clock: Clock, options: KeptOptions): Kept<Value> {
  const entries = new Map<string, { readonly value: Value; readonly until: number }>();
  return {
    get: (id) => {
      const entry = entries.get(id);
      if (entry === undefined) return undefined;
      if (clock.now() < entry.until) return entry.value;
      entries.delete(id);
      return undefined;
    },
    set: (id, value) => {
      entries.delete(id);
      entries.set(id, { value, until: clock.now() + options.mostAgeMs });
      const oldest = entries.keys().next();
      if (entries.size > options.mostEntries && oldest.done !== true) entries.delete(oldest.value);
    },
    delete: (id) => {
      entries.delete(id);
    },
  };
}
