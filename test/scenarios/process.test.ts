/** The whole process by the page's server: start, answer, restart, stop, refuse. */

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type BotFolder, createBotFolder } from '../support/bot-process.ts';
import { createPageClient } from '../support/page-client.ts';

const folders: BotFolder[] = [];

async function setUp(): Promise<BotFolder> {
  const folder = await createBotFolder();
  folders.push(folder);
  return folder;
}

afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => folder.close()));
});

describe('the process', { timeout: 60_000 }, () => {
  it('says what is on and why, answers, is stopped by SIGTERM and goes on where it was', async () => {
    const folder = await setUp();
    const first = await folder.start();
    expect(first.lines.map(({ says }) => says).filter((says) => says !== undefined)).toEqual([
      'Deckhand is up.',
      expect.stringMatching(
        /^The page is at http:\/\/127\.0\.0\.1:\d+\/ Write @deckhand hello there\.$/u,
      ),
      'slack is off: SLACK_BOT_TOKEN is not set.',
      'discord is off: DISCORD_TOKEN is not set.',
      expect.stringMatching(/^The model is rehearsal\/rehearsal: /u),
      'State is kept in sqlite:./data/deckhand.db; workspaces in ./data/workspaces.',
    ]);
    expect((await fetch(`${first.page}healthz`)).status).toBe(200);
    const ready = await fetch(`${first.page}readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([
      200,
      { ready: true, parts: { store: 'reachable' } },
    ]);

    const page = createPageClient(first.page);
    const thread = await page.mention('@deckhand write notes.md: remember the milk');
    await page.untilAnswers(thread, (answers) => answers.join().includes('[Approve]'), 20_000);
    await page.press(thread, 'Approve');
    await page.untilAnswers(
      thread,
      (answers) => answers.at(-1)?.includes('Created') === true,
      20_000,
    );
    expect(await first.kill('SIGTERM')).toBe(0);
    expect(first.stderr()).toBe('');

    const second = await folder.start();
    const again = createPageClient(second.page);
    await again.reply(thread, 'read notes.md');
    const answers = await again.untilAnswers(
      thread,
      (all) => all.length === 4 && all.at(-1)?.includes('milk') === true,
      20_000,
    );
    expect(answers[1]).toBe('✓ Writing notes.md: approved by You');
    expect(await second.kill('SIGTERM')).toBe(0);
  });

  it('waits for an answer over a restart between question and click', async () => {
    const folder = await setUp();
    const first = await folder.start();
    const page = createPageClient(first.page);
    const thread = await page.mention('@deckhand ask me whether A or B');
    await page.untilAnswers(thread, (all) => all.join().includes('[Other…]'), 20_000);
    expect(await first.kill('SIGKILL')).toBeNull();
    const second = await folder.start();
    const again = createPageClient(second.page);
    const [, card = ''] = await again.answers(thread);
    await again.press(thread, /\[(1\. [^\]]+)\]/u.exec(card)?.[1] ?? '');
    const answers = await again.untilAnswers(
      thread,
      (all) => all.length === 3 && all[2]?.includes('answered by You') === true,
      20_000,
    );
    expect(answers.join()).not.toContain('[');
    expect(answers[2]).toContain('answered by You');
  });

  it('refuses a second process on the same store and takes over after a kill', async () => {
    const folder = await setUp();
    const first = await folder.start();
    const second = await folder.fail();
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/another process/iu);
    await first.kill('SIGKILL');
    const third = await folder.start();
    expect(third.page).not.toBe('');
  });

  it('starts not at all with a faulty configuration, and lists every problem', async () => {
    const folder = await setUp();
    writeFileSync(
      path.join(folder.path, 'config/deckhand.yaml'),
      'nmae: x\nruns: { concurrency: 0 }\nchannels: [{ match: {}, model: openai/gpt-6.2-sol }]\n',
    );
    const { code, stderr } = await folder.fail({
      SLACK_APP_TOKEN: 'xapp-1-A-1-secret',
      DECKHAND_STORE: 'mysql://x',
      DECKHAND_MODEL: 'claude',
    });
    expect(code).toBe(1);
    expect(stderr).toContain('The configuration has 6 problems');
    expect(stderr).toContain('SLACK_BOT_TOKEN is missing');
    expect(stderr).toContain(
      'DECKHAND_STORE (store.url): The address of the store cannot be used: "mysql:" is not known',
    );
    expect(stderr).toMatch(/the model: "claude" names no model/u);
    expect(stderr).toMatch(/channels\.0\.model: .*set OPENAI_API_KEY/u);
    expect(stderr).not.toContain('xapp-1-A-1-secret');
    expect(stderr).toMatch(/deckhand\.yaml:1: nmae: there is no such setting/u);
    expect(stderr).toMatch(/deckhand\.yaml:2: runs\.concurrency: /u);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    [
      'a bot token without a way for events',
      { SLACK_BOT_TOKEN: 'xoxb-secret-token' },
      /set SLACK_APP_TOKEN .* or SLACK_SIGNING_SECRET/u,
    ],
    [
      'an app token without a bot token',
      { SLACK_APP_TOKEN: 'xapp-1-A-1-secret' },
      /SLACK_BOT_TOKEN is missing/u,
    ],
    ['a page open to others without a token', { HOST: '0.0.0.0' }, /platforms\.web\.token/u],
    [
      'a store inside the workspaces',
      { DECKHAND_STORE: 'sqlite:./data/workspaces/x.db' },
      /the store .* lies inside the workspace folder/u,
    ],
    [
      'the configuration inside the workspaces',
      { DECKHAND_WORKSPACE: '.' },
      /the configuration .* lies inside the workspace folder/u,
    ],
    ['a store of an unknown kind', { DECKHAND_STORE: 'mysql://x' }, /"mysql:" is not known/u],
    [
      'a model without its key',
      { DECKHAND_MODEL: 'anthropic/claude-sonnet-5-5' },
      /set ANTHROPIC_API_KEY/u,
    ],
    ['a model of no provider', { DECKHAND_MODEL: 'acme/one' }, /No provider is called "acme"/u],
  ])(
    'starts not with %s, says what to do, and shows no secret',
    async (_what, environment, expected) => {
      const folder = await setUp();
      const { code, stderr } = await folder.fail(environment);
      expect(code).toBe(1);
      expect(stderr).toMatch(expected);
      expect(stderr).not.toContain('secret');
    },
  );

  it('says which store cannot be opened', async () => {
    const folder = await setUp();
    const locked = path.join(folder.path, 'locked');
    mkdirSync(locked);
    writeFileSync(path.join(locked, 'file'), 'not a folder');
    chmodSync(locked, 0o500);
    const { code, stderr } = await folder.fail({ DECKHAND_STORE: 'sqlite:./locked/file/x.db' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/store/iu);
  });
});
