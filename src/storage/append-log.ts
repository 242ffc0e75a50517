/**
 * An append-only log over a store: one value an entry under its number (from 1), and a small head
 * that names the next number. What an append reads and writes does not grow with the log.
 *
 * Entries and head are written in one transaction. A head that lags all the same (a restored copy,
 * a damaged value) is repaired by probing the next numbers, so that an entry is never overwritten.
 * One writer at a time is assumed over processes; within a process appends wait for each other.
 */

import { z } from 'zod';
import { BotError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Store } from './store.ts';
import { readValidated, validate } from './validated.ts';

interface Numbered<T> {
  readonly number: number;
  readonly value: T;
}

export interface AppendLog<T> {
  /** Numbers of the entries, in order. All are stored, or none. */
  append(values: readonly T[]): Promise<readonly number[]>;
  /** Oldest first, beginning with number `from` (default 1), at most `most` numbers. */
  read(range?: { readonly from?: number; readonly most?: number }): Promise<readonly Numbered<T>[]>;
  /** The last `most` numbers, oldest first. An entry that was set aside is left out. */
  readLast(most: number): Promise<readonly Numbered<T>[]>;
  /** The last number given out; 0 when empty. */
  length(): Promise<number>;
  /** The one rewrite: puts a tombstone over an entry. */
  overwrite(number: number, value: T): Promise<void>;
}

/** Entries that one getMany asks for. */
const batchSize = 200;

/** Numbers probed at once when the head lags. */
const probeSize = 50;

/** The next number as written in keys, so that a head has the same bytes at each length. */
const headSchema = z.object({ v: z.literal(1), next: z.string().regex(/^[0-9]{10}$/u) });

export function createAppendLog<T>(
  deps: { readonly store: Store; readonly log: Log },
  name: string,
  schema: z.ZodType<T>,
): AppendLog<T> {
  const { store } = deps;
  const headKey = `${name}:head`;
  const keyOf = (number: number): string => `${name}:${paddedOf(number)}`;
  let writing: Promise<unknown> = Promise.resolve();

  /** The number after the last entry, whatever the head says. */
  const nextNumber = async (): Promise<number> => {
    const head = await readValidated(deps, headKey, headSchema);
    let next = head ? Number(head.next) : 1;
    // As a rule the first probe finds the number free.
    for (let size = 1; ; size = probeSize) {
      const numbers = Array.from({ length: size }, (_, index) => next + index);
      // A number whose entry was set aside is taken as well.
      const keys = numbers.flatMap((number) => [keyOf(number), `aside:${keyOf(number)}`]);
      const found = await store.getMany(keys);
      const last = found.findLastIndex((value) => value !== undefined);
      if (last === -1) return next;
      deps.log.warn('append_log_head_lagged', { name, next });
      next += Math.floor(last / 2) + 1;
    }
  };

  const readNumbers = async (from: number, end: number): Promise<readonly Numbered<T>[]> => {
    const entries: Numbered<T>[] = [];
    for (let start = from; start < end; start += batchSize) {
      const keys = Array.from({ length: Math.min(batchSize, end - start) }, (_, index) =>
        keyOf(start + index),
      );
      const values = await store.getMany(keys);
      for (const [index, key] of keys.entries()) {
        const value = await validate(deps, key, values[index], schema);
        if (value !== undefined) entries.push({ number: start + index, value });
      }
    }
    return entries;
  };

  const appendNow = async (values: readonly T[]): Promise<readonly number[]> => {
    const next = await nextNumber();
    const numbered = values.map((value, index) => ({ number: next + index, value }));
    await store.setMany([
      ...numbered.map(({ number, value }) => ({ key: keyOf(number), value })),
      { key: headKey, value: { v: 1, next: paddedOf(next + values.length) } },
    ]);
    return numbered.map(({ number }) => number);
  };

  return {
    append: (values) => {
      if (values.length === 0) return Promise.resolve([]);
      const appended = writing.then(() => appendNow(values));
      // The caller of each append hears of its failure; the next one waits for the end only.
      writing = appended.catch(() => undefined);
      return appended;
    },
    read: async ({ from = 1, most = Number.POSITIVE_INFINITY } = {}) => {
      const start = Math.max(1, from);
      return await readNumbers(start, Math.min(await nextNumber(), start + most));
    },
    readLast: async (most) => {
      const end = await nextNumber();
      return await readNumbers(Math.max(1, end - most), end);
    },
    length: async () => (await nextNumber()) - 1,
    overwrite: async (number, value) => {
      if (number < 1 || number >= (await nextNumber())) {
        throw new BotError('internal', 'There is no entry of that number to overwrite.', {
          facts: { name, number },
        });
      }
      await store.set(keyOf(number), value);
    },
  };
}

function paddedOf(number: number): string {
  return String(number).padStart(10, '0');
}
