/** Opening a store by its address, and the settings that name it. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { openStore } from '../../src/storage/open.ts';
import { storageSettingsSchema } from '../../src/storage/settings.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';

const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
const deps = () => ({ clock: createFakeClock(), log: createKeptLog() });

describe('openStore', () => {
  it('opens a store in memory', async () => {
    const store = await openStore('memory:', deps());
    await store.set('key', 1);
    expect(await store.get('key')).toBe(1);
    await store.close();
  });

  it('opens a SQLite file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'deckhand-open-'));
    const address = `sqlite:${join(folder, 'below', 'store.db')}`;
    const store = await openStore(address, deps());
    await store.set('key', 1);
    await store.close();
    const again = await openStore(address, deps());
    expect(await again.get('key')).toBe(1);
    await again.close();
    await rm(folder, { recursive: true });
  });

  it.each([
    'redis://127.0.0.1:1/0',
    'rediss://127.0.0.1:1/0',
    'postgres://root@127.0.0.1:1/test',
    'postgresql://root@127.0.0.1:1/test',
  ])('tries the server that %s names', async (address) => {
    const wall = { ...deps(), clock: systemClock };
    await expect(openStore(address, wall)).rejects.toMatchObject({
      code: 'store_unavailable',
      facts: { action: 'open' },
      message: matching(/127\.0\.0\.1:1\b/u),
    });
  });

  it.each([
    'data/deckhand.db',
    'sqlite:',
    'sqlite::memory:',
    'mysql://root:hunter2@127.0.0.1/test',
    'redis:',
    'redis://',
    'postgres:test',
    '',
  ])('refuses %j, naming the forms and no password', async (address) => {
    const opening = openStore(address, deps());
    await expect(opening).rejects.toMatchObject({
      code: 'config_invalid',
      message: matching(/sqlite:PATH, memory:, redis:\/\/.* or postgres:\/\//u),
    });
    await expect(opening).rejects.not.toThrow('hunter2');
  });

  it('puts no password of the address into an error', async () => {
    const wall = { ...deps(), clock: systemClock };
    const error: unknown = await openStore('redis://bot:hunter2@127.0.0.1:1/0', wall).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).not.toContain('hunter2');
  });
});

describe('the storage settings', () => {
  it('name a SQLite file by default and refuse unknown keys', () => {
    expect(storageSettingsSchema.parse({})).toEqual({ url: 'sqlite:./data/deckhand.db' });
    expect(storageSettingsSchema.safeParse({ url: '' }).success).toBe(false);
    expect(storageSettingsSchema.safeParse({ address: 'memory:' }).success).toBe(false);
  });
});
