/** The lock between two real processes on one SQLite file. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createLock } from '../../src/storage/lock.ts';
import { createProcesses } from '../../src/storage/process-identity.ts';
import { openSqliteStore } from '../../src/storage/sqlite.ts';
import { createKeptLog } from '../support/log.ts';

const holder = fileURLToPath(new URL('../fixtures/hold-lock.ts', import.meta.url));
const key = 'lock:process';

describe.skipIf(process.platform !== 'linux')('the lock between processes', () => {
  it('refuses a second one while the first lives, and none after kill -9', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'deckhand-lock-'));
    const path = join(folder, 'store.db');
    const child = spawn(process.execPath, ['--import', 'tsx', holder, path, key], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');

    const log = createKeptLog();
    const store = await openSqliteStore(path, { clock: systemClock, log });
    const processes = createProcesses(process.pid);
    const lock = createLock({ store, clock: systemClock, log, processes });
    const acquire = () => lock.acquire(key, { ttlMs: 10_000, owner: 'second' });
    await expect(acquire()).rejects.toMatchObject({
      code: 'store_locked',
      facts: { pid: child.pid },
    });

    child.kill('SIGKILL');
    await once(child, 'exit');
    const startedMs = performance.now();
    const held = await acquire();
    expect(performance.now() - startedMs).toBeLessThan(1_000);
    await held.release();
    await store.close();
    await rm(folder, { recursive: true });
  });
});
