/** The SQLite store: the contract, and what is its own: files, deleted words, failures. */

import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, describe, expect, it } from 'vitest';
import { openDatabase, openSqliteStore } from '../../src/storage/sqlite.ts';
import { describeStoreContract } from '../contract/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';

describeStoreContract('SQLite', async (deps) => {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-sqlite-'));
  const store = await openSqliteStore(join(folder, 'store.db'), deps);
  return {
    store,
    remove: async () => {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
});

describe('the SQLite store', () => {
  const folders: string[] = [];
  const setUp = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'deckhand-sqlite-'));
    folders.push(folder);
    const path = join(folder, 'data', 'store.db');
    const clock = createFakeClock();
    const log = createKeptLog();
    const store = await openSqliteStore(path, { clock, log });
    return { folder, path, clock, log, store };
  };
  const bytesIn = async (path: string): Promise<Buffer> => {
    const folder = join(path, '..');
    const files = await readdir(folder);
    return Buffer.concat(await Promise.all(files.map((file) => readFile(join(folder, file)))));
  };
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
  });

  it('makes its folder and files readable by its user only', async () => {
    const { path, store } = await setUp();
    expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700);
    await store.set('key', 1);
    const files = await readdir(join(path, '..'));
    expect(files.toSorted()).toEqual(['store.db', 'store.db-shm', 'store.db-wal']);
    for (const file of files) {
      expect((await stat(join(path, '..', file))).mode & 0o777).toBe(0o600);
    }
    await store.close();
  });

  it('keeps values over closing and opening', async () => {
    const { path, clock, log, store } = await setUp();
    await store.set('key', { kept: true });
    await store.claim('claimed', 1, {
      ttlMs: 1_000,
      indexed: [{ index: 'i', member: 'm', score: 7 }],
    });
    await store.close();
    const again = await openSqliteStore(path, { clock, log });
    expect(await again.get('key')).toEqual({ kept: true });
    expect(await again.claim('claimed', 2, { ttlMs: 1_000 })).toBe(false);
    expect(await again.rangeOfIndex('i', { most: 1 })).toEqual([{ member: 'm', score: 7 }]);
    await again.close();
  });

  it.each([
    ['short', 'canary-5f1e'],
    ['a page long', `canary-5f1e${'y'.repeat(5_000)}`],
    ['many pages long', 'canary-5f1e '.repeat(50_000)],
  ])('has no copy of %s words left after they were overwritten', async (_, words) => {
    const { path, store } = await setUp();
    for (let number = 0; number < 50; number += 1) await store.set(`before:${number}`, number);
    await store.set('secret', { words });
    for (let number = 0; number < 50; number += 1) await store.set(`after:${number}`, number);
    await store.checkpoint();
    expect((await bytesIn(path)).includes('canary-5f1e')).toBe(true);
    await store.set('secret', { kind: 'tombstone' });
    await store.checkpoint();
    expect((await bytesIn(path)).includes('canary-5f1e')).toBe(false);
    await store.close();
  });

  it('has no copy of deleted words left after the next sweep', async () => {
    const { path, clock, store } = await setUp();
    await store.set('secret', 'canary-5f1e');
    await store.delete('secret');
    expect((await bytesIn(path)).includes('canary-5f1e')).toBe(true);
    await clock.advance(60_000);
    expect((await bytesIn(path)).includes('canary-5f1e')).toBe(false);
    await store.close();
  });

  it('has no copy left of an expired value that a claim replaced, after the next sweep', async () => {
    const { path, clock, store } = await setUp();
    await store.claim('key', 'canary-5f1e', { ttlMs: 1_000 });
    // The sweep before leaves nothing that would make this one empty the log.
    await store.checkpoint();
    await clock.advance(1_000);
    await store.claim('key', 'other', { ttlMs: 600_000 });
    await clock.advance(60_000);
    expect((await bytesIn(path)).includes('canary-5f1e')).toBe(false);
    expect((await stat(`${path}-wal`)).size).toBe(0);
    await store.close();
  });

  it('says that the log could not be emptied while somebody reads, and empties it later', async () => {
    const { path, clock, log, store } = await setUp();
    await store.set('secret', 'canary-5f1e');
    const reader = new Database(path);
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM kept').get();
    await store.delete('secret');
    const warned = () => log.lines.filter(({ event }) => event === 'store_log_not_emptied').length;
    await store.checkpoint();
    expect(warned()).toBe(1);
    await clock.advance(60_000);
    expect(warned()).toBe(2);
    expect((await bytesIn(path)).includes('canary-5f1e')).toBe(true);
    reader.exec('COMMIT');
    await clock.advance(60_000);
    expect(warned()).toBe(2);
    expect((await bytesIn(path)).includes('canary-5f1e')).toBe(false);
    reader.close();
    await store.close();
  });

  it('has every write on the disk before it is acknowledged', async () => {
    const { path, store } = await setUp();
    const database = await openDatabase(path);
    expect(database.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: 2 });
    expect(database.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
    database.close();
    await store.close();
  });

  it('sweeps expired keys every minute, until it is closed', async () => {
    const { path, clock, store } = await setUp();
    await store.set('short', 1, { ttlMs: 60_000 });
    await store.set('long', 1, { ttlMs: 60_001 });
    const reader = new Database(path);
    const keys = () => reader.prepare('SELECT key FROM kept ORDER BY key').all();
    await clock.advance(59_999);
    expect(keys()).toEqual([{ key: 'long' }, { key: 'short' }]);
    await clock.advance(1);
    expect(keys()).toEqual([{ key: 'long' }]);
    reader.close();
    await store.close();
    expect(clock.pending).toBe(0);
  });

  it('rejects with store_unavailable when a statement fails, and says nothing was found', async () => {
    const { path, log, store } = await setUp();
    await store.set('key', 1);
    const breaker = new Database(path);
    breaker.exec('DROP TABLE kept');
    for (const attempt of [
      () => store.get('key'),
      () => store.getMany(['key']),
      () => store.set('key', 2),
      () => store.setMany([{ key: 'key', value: 2 }]),
      () => store.delete('key'),
      () => store.claim('other', 2, { ttlMs: 1_000 }),
    ]) {
      await expect(attempt()).rejects.toMatchObject({
        name: 'BotError',
        code: 'store_unavailable',
      });
    }
    expect(log.lines.filter(({ event }) => event === 'store_error').length).toBeGreaterThan(0);
    breaker.close();
    await store.close();
  });

  it('rolls a claim back when its index entry fails', async () => {
    const { path, store } = await setUp();
    const breaker = new Database(path);
    breaker.exec('ALTER TABLE indexed RENAME TO hidden');
    const indexed = [{ index: 'i', member: 'm', score: 1 }];
    await expect(store.claim('key', 1, { ttlMs: 1_000, indexed })).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    breaker.exec('ALTER TABLE hidden RENAME TO indexed');
    expect(await store.get('key')).toBeUndefined();
    expect(await store.claim('key', 1, { ttlMs: 1_000, indexed })).toBe(true);
    breaker.close();
    await store.close();
  });

  it('gives a damaged value to its reader as unreadable, and the values beside it whole', async () => {
    const { path, store } = await setUp();
    await store.setMany([
      { key: 'good', value: 1 },
      { key: 'cut', value: 2 },
    ]);
    const breaker = new Database(path);
    breaker.prepare('UPDATE kept SET text = ? WHERE key = ?').run('{"value":{"ki', 'cut');
    breaker.close();
    expect(await store.getMany(['good', 'cut'])).toEqual([1, { unreadable: '{"value":{"ki' }]);
    await store.close();
  });

  it('refuses a file that is not a database, and a folder that cannot be made', async () => {
    const { folder, clock, log, store } = await setUp();
    await store.close();
    const path = join(folder, 'letter.txt');
    await writeFile(path, 'Dear all, this is not a database but a letter. '.repeat(50));
    for (const wrong of [path, join(path, 'below', 'store.db')]) {
      await expect(openSqliteStore(wrong, { clock, log })).rejects.toMatchObject({
        code: 'store_unavailable',
        facts: { action: 'open', store: `SQLite at ${wrong}` },
      });
    }
  });
});
