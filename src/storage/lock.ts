/**
 * A heartbeat lock on one key of a store, so that two processes do not work on the same store. The
 * owner renews it; without renewal it ends by itself. A lock that was left behind is taken over:
 * at once when its process is known to be gone, else when its heartbeat has stopped for one life.
 * An owner that lives is never pushed out: the second one is refused with `store_locked`.
 */

import { z } from 'zod';
import { type Clock, sleep } from '../base/clock.ts';
import { BotError } from '../base/errors.ts';
import { errorFacts, type Log } from '../base/log.ts';
import { type Processes, processIdentitySchema } from './process-identity.ts';
import type { Store } from './store.ts';
import { readValidated } from './validated.ts';

export interface HeldLock {
  /** Aborted with `store_locked` when the lock was lost: stop writing at once. */
  readonly lost: AbortSignal;
  /** Ends the lock. The next owner need not wait. */
  release(): Promise<void>;
}

export interface Lock {
  /**
   * Resolves when the lock is held. Rejects with `store_locked` when its owner lives, with the
   * signal's reason when aborted while waiting.
   */
  acquire(
    key: string,
    options: {
      /** Life without a heartbeat; the longest wait for a lock that was left behind. */
      readonly ttlMs: number;
      /** Unique to this process's attempt. */
      readonly owner: string;
      readonly signal?: AbortSignal;
    },
  ): Promise<HeldLock>;
}

const holderSchema = z.object({
  v: z.literal(1),
  owner: z.string(),
  process: processIdentitySchema,
  /** Milliseconds since the epoch. */
  since: z.number(),
  beat: z.number(),
});
type Holder = Readonly<z.infer<typeof holderSchema>>;

export function createLock(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly processes: Processes;
}): Lock {
  const { store, clock, log, processes } = deps;

  return {
    acquire: async (key, { ttlMs, owner, signal }) => {
      const holderSince = (since: number): Holder => ({
        v: 1,
        owner,
        process: processes.self,
        since,
        beat: clock.now(),
      });
      /** The holder that we wait for, and its heartbeat when first seen. */
      let watched: Holder | undefined;
      for (;;) {
        const askedMs = clock.now();
        if (await store.claim(key, holderSince(askedMs), { ttlMs })) {
          const renewed = (): Holder => holderSince(askedMs);
          return hold(deps, key, { ttlMs, owner, renewed, askedMs });
        }
        const other = await readValidated(deps, key, holderSchema);
        // Released, expired or set aside since the claim: claim again.
        if (other === undefined) continue;
        const state = processes.stateOf(other.process);
        const same = watched?.owner === other.owner;
        if (state === 'running' || (same && watched?.beat !== other.beat)) throw lockedBy(other);
        if (state === 'gone' && (await wasLeftBehind(deps, key, other, ttlMs))) continue;
        if (!same) {
          watched = other;
          log.warn('store_lock_waiting', {
            reason: 'the last owner did not release it; waiting for its heartbeat to stop',
            mostMs: ttlMs,
            pid: other.process.pid,
            host: other.process.host,
            since: timeOf(other.since),
          });
        }
        await sleep(clock, Math.max(1, ttlMs / 20), signal);
      }
    },
  };
}

/**
 * Removes the lock of a process that is gone. One of all who see it does so, the others wait; and
 * nobody does when it is about to end by itself, for then it could be another's when deleted.
 */
async function wasLeftBehind(
  deps: { readonly store: Store; readonly clock: Clock; readonly log: Log },
  key: string,
  other: Holder,
  ttlMs: number,
): Promise<boolean> {
  const { store, clock, log } = deps;
  if (clock.now() > other.beat + ttlMs * 0.9) return false;
  if (!(await store.claim(`${key}:left:${other.owner}`, true, { ttlMs: 2 * ttlMs }))) return false;
  await store.delete(key);
  log.info('store_lock_taken_over', { pid: other.process.pid, since: timeOf(other.since) });
  return true;
}

function hold(
  deps: { readonly store: Store; readonly clock: Clock; readonly log: Log },
  key: string,
  lock: {
    readonly ttlMs: number;
    readonly owner: string;
    readonly renewed: () => Holder;
    readonly askedMs: number;
  },
): HeldLock {
  const { store, clock, log } = deps;
  const { ttlMs, owner, renewed } = lock;
  const loss = new AbortController();
  /** Until here nobody else can have it. */
  let sureUntilMs = lock.askedMs + ttlMs;
  let cancel: () => void = () => undefined;
  let beating: Promise<void> = Promise.resolve();
  let released = false;

  const isOurs = async (): Promise<boolean> => {
    const holder = await readValidated(deps, key, holderSchema);
    return holder?.owner === owner;
  };
  /** True when the lock is ours for another life. */
  const renew = async (): Promise<boolean> => {
    const askedMs = clock.now();
    // After a pause longer than its life the lock may be another's, or free to claim.
    const late = askedMs >= sureUntilMs;
    const ours = late ? await store.claim(key, renewed(), { ttlMs }) : await isOurs();
    if (!ours) return false;
    if (!late) await store.set(key, renewed(), { ttlMs });
    sureUntilMs = askedMs + ttlMs;
    return true;
  };
  const beat = async (): Promise<void> => {
    try {
      if (!(await renew())) {
        log.error('store_lock_lost', { key });
        const sentence = 'Another process has taken the store over; this one must stop.';
        loss.abort(new BotError('store_locked', sentence, { facts: { key } }));
        return;
      }
    } catch (error) {
      // While the store is away nobody else can take the lock there; the next beat tells.
      log.warn('store_lock_beat_failed', errorFacts(error));
    }
    beatLater();
  };
  const beatLater = (): void => {
    if (released) return;
    cancel = clock.setTimer(ttlMs / 4, () => {
      beating = beat();
    });
  };
  beatLater();

  return {
    lost: loss.signal,
    release: async () => {
      if (released) return;
      released = true;
      cancel();
      await beating;
      if (!loss.signal.aborted && (await isOurs())) await store.delete(key);
    },
  };
}

function lockedBy({ process, since }: Holder): BotError {
  return new BotError(
    'store_locked',
    `The store is in use by another process (pid ${process.pid} on ${process.host}, since ${timeOf(since)}). Stop that one first, or give this one a store of its own.`,
    { facts: { pid: process.pid, host: process.host, since: timeOf(since) } },
  );
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
