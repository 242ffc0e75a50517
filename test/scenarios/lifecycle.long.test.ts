/** The process as operators meet it: npm start, signals, .env, another configuration. */

import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type BotFolder, createBotFolder } from '../support/bot-process.ts';
import { createPageClient } from '../support/page-client.ts';
import { freePort } from '../support/servers.ts';
import { until } from '../support/until.ts';

const root = path.resolve(import.meta.dirname, '../..');
const folders: BotFolder[] = [];

async function setUp(): Promise<BotFolder> {
  const folder = await createBotFolder();
  folders.push(folder);
  return folder;
}

afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => folder.close()));
});

describe('npm start', () => {
  it('ends with the bot when it is told to stop, and leaves nothing behind', async () => {
    const state = await mkdtemp(path.join(os.tmpdir(), 'deckhand-npm-'));
    const port = await freePort();
    const child = spawn('npm', ['start'], {
      cwd: root,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: state,
        PORT: String(port),
        DECKHAND_STORE: `sqlite:${path.join(state, 'deckhand.db')}`,
        DECKHAND_WORKSPACE: path.join(state, 'workspaces'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (piece: Buffer) => {
      output += piece.toString();
    });
    await until(() => output.includes('The page is at'), 90_000);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
    await until(() => output.includes('"event":"stopped"'), 15_000);
    await until(
      () =>
        fetch(`http://127.0.0.1:${port}/healthz`).then(
          () => false,
          () => true,
        ),
      15_000,
    );
    expect(output).not.toContain('stop_took_too_long');
    await rm(state, { recursive: true, force: true });
  });
});

describe('signals', () => {
  it('a second one ends at once', async () => {
    const folder = await setUp();
    const bot = await folder.start();
    const page = createPageClient(bot.page);
    const thread = await page.mention('@deckhand write 2000 words');
    await until(async () => (await page.answers(thread)).length > 0, 20_000);
    const began = Date.now();
    const first = bot.kill('SIGTERM');
    await until(() => bot.lines.some(({ event }) => event === 'stopping'));
    await bot.kill('SIGTERM');
    expect(await first).toBe(1);
    expect(Date.now() - began).toBeLessThan(5000);
  });
});

describe('the configuration of a process', () => {
  it('comes from .env and from the file that DECKHAND_CONFIG names, and is taken over when edited', async () => {
    const folder = await setUp();
    await writeFile(path.join(folder.path, '.env'), 'DECKHAND_CONFIG=other.yaml\nLOG_LEVEL=warn\n');
    await writeFile(
      path.join(folder.path, 'other.yaml'),
      'name: Jack\ninstructions: Be kind.\nchannels: [{ match: {}, followUps: all }]\n',
    );
    const bot = await folder.start();
    expect(bot.lines.map(({ says }) => says)).toContain('Jack is up.');
    const page = createPageClient(bot.page);
    const thread = await page.mention('@jack hello');
    await page.untilAnswers(thread, (all) => all.join().includes('rehearsal'), 20_000);
    await page.reply(thread, '!config');
    await until(async () => (await page.privateLines()).join().includes('Be kind.'), 20_000);
    await writeFile(
      path.join(folder.path, 'other.yaml'),
      'name: Jack\ninstructions: Be terse.\nchannels: [{ match: {}, followUps: all }]\n',
    );
    await page.reply(thread, '!config');
    await until(async () => (await page.privateLines()).join().includes('Be terse.'), 20_000);
    const shown = (await page.privateLines()).join();
    expect(shown).toContain('other.yaml');
    expect(shown).not.toContain(folder.path);
  });
});
