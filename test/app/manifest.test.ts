/** What an operator pastes at the platforms. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { manifestText } from '../../src/app/manifest.ts';

const root = path.resolve(import.meta.dirname, '../..');

describe('the manifest command', () => {
  it('prints Slack’s manifest', async () => {
    expect(await manifestText(root, ['slack'])).toContain('display_information:');
  });

  it('prints Discord’s invite address with the permissions that are needed and no more', async () => {
    const url = new URL(await manifestText(root, ['discord', '123456789012345678']));
    expect(url.searchParams.get('client_id')).toBe('123456789012345678');
    expect(url.searchParams.get('scope')).toBe('bot applications.commands');
    const bits = BigInt(url.searchParams.get('permissions') ?? '0');
    const isAdministrator = (bits & 8n) !== 0n;
    const canWriteInThreads = (bits & (1n << 38n)) !== 0n;
    expect([isAdministrator, canWriteInThreads]).toEqual([false, true]);
  });

  it('takes the application’s id from the token', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'deckhand-manifest-'));
    const id = Buffer.from('123456789012345678').toString('base64').replace(/=+$/u, '');
    await writeFile(path.join(folder, '.env'), `DISCORD_TOKEN=${id}.x.y\n`);
    expect(await manifestText(folder, ['discord'])).toContain('client_id=123456789012345678');
    await rm(folder, { recursive: true });
  });

  it('says what is missing', async () => {
    await expect(manifestText(os.tmpdir(), ['discord'])).rejects.toThrow(
      'Set DISCORD_TOKEN, or give the application id',
    );
    await expect(manifestText(root, [])).rejects.toThrow('Say which');
  });
});
