/** What every store behind a network does while its server is away, silent, or back again. */

import { afterEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { isBotError } from '../../src/base/errors.ts';
import type { Log } from '../../src/base/log.ts';
import type { Store } from '../../src/storage/store.ts';
import { createKeptLog } from '../support/log.ts';
import { openBlackHole, openTcpProxy } from '../support/tcp.ts';
import { until } from '../support/until.ts';
import { everyMember } from './store.ts';

/** The promise of the contract. */
const mostMs = 5_000;

export function describeStoreOutages(options: {
  readonly name: string;
  readonly port: number;
  /** Whether the server listens on that port of this machine. */
  readonly runs: boolean;
  /** Opens the store through a local port. */
  readonly open: (
    port: number,
    deps: { readonly clock: Clock; readonly log: Log },
  ) => Promise<Store>;
}): void {
  const { name, port, runs, open } = options;
  const ends: (() => Promise<void>)[] = [];
  const deps = () => ({ clock: systemClock, log: createKeptLog() });
  /** How an attempt failed, and whether within the promised time. */
  const failureOf = async (attempt: () => Promise<unknown>) => {
    const startedMs = performance.now();
    try {
      await attempt();
      return 'it did not fail';
    } catch (error) {
      const inTime = performance.now() - startedMs < mostMs;
      return { code: isBotError(error) ? error.code : String(error), inTime };
    }
  };
  const failed = { code: 'store_unavailable', inTime: true };
  const setUpProxy = async () => {
    const proxy = await openTcpProxy(port);
    const store = await open(proxy.port, deps());
    ends.push(
      () => store.close(),
      () => proxy.close(),
    );
    return { proxy, store };
  };
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  describe(`opening ${name} that is away`, () => {
    it('is refused in time where nothing listens', async () => {
      const proxy = await openTcpProxy(1);
      await proxy.stop();
      expect(await failureOf(() => open(proxy.port, deps()))).toEqual(failed);
    });

    it('is refused in time where something accepts and never answers', async () => {
      const hole = await openBlackHole();
      ends.push(() => hole.close());
      expect(await failureOf(() => open(hole.port, deps()))).toEqual(failed);
    });
  });

  describe.skipIf(!runs)(`${name} that goes away`, () => {
    it('fails every member in time while nothing listens, and works when it is back', async () => {
      const { proxy, store } = await setUpProxy();
      await store.set('key', 'kept');
      await proxy.stop();
      for (const attempt of everyMember(store)) {
        expect(await failureOf(attempt)).toEqual(failed);
      }
      await proxy.start();
      await until(async () => (await store.get('key')) === 'kept');
      await expect(store.check()).resolves.toBeUndefined();
    });

    it('fails every member in time while it is silent, and works when it answers again', async () => {
      const { proxy, store } = await setUpProxy();
      await store.set('key', 'kept');
      proxy.freeze();
      const failures = await Promise.all(everyMember(store).map(failureOf));
      expect(failures).toEqual(everyMember(store).map(() => failed));
      proxy.thaw();
      await until(async () => (await store.get('key')) === 'kept');
      expect(await store.claim('after', 1, { ttlMs: 1_000 })).toBe(true);
    });

    it('is closed in time while it is silent', async () => {
      const { proxy, store } = await setUpProxy();
      await store.check();
      proxy.freeze();
      const startedMs = performance.now();
      await store.close();
      expect(performance.now() - startedMs).toBeLessThan(mostMs);
    });
  });
}
