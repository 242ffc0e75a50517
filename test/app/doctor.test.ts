/** The check-up: one line each, with the cure, and nothing connected, posted or spent. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { botScopes } from '../../adapters/slack/scopes.ts';
import { runDoctor } from '../../src/app/doctor.ts';
import { createDiscordGuild } from '../emulators/discord/guild.ts';
import { createModelServer } from '../emulators/model-server.ts';
import { createSlackWorkspace } from '../emulators/slack/workspace.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

function folderWith(environment: Readonly<Record<string, string>>, config = ''): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'deckhand-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(path.join(folder, 'config'));
  writeFileSync(path.join(folder, 'config/deckhand.yaml'), config);
  const lines = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  writeFileSync(path.join(folder, '.env'), lines.join('\n'));
  return folder;
}

async function doctor(folder: string, nodeVersion = 'v20.20.2') {
  let text = '';
  const code = await runDoctor({
    folder,
    nodeVersion,
    write: (more) => {
      text += more;
    },
  });
  return { code, text, lines: text.split('\n') };
}

const own = (folder: string): Readonly<Record<string, string>> => ({
  DECKHAND_STORE: `sqlite:${folder}/data.db`,
  DECKHAND_WORKSPACE: `${folder}/workspaces`,
});

async function wholeWorld() {
  const [slack, discord, model] = await Promise.all([
    createSlackWorkspace({ scopes: botScopes }),
    createDiscordGuild(),
    createModelServer(),
  ]);
  closing.push(
    () => slack.close(),
    () => discord.close(),
    () => model.close(),
  );
  const space = mkdtempSync(path.join(os.tmpdir(), 'deckhand-'));
  closing.push(() => rmSync(space, { recursive: true, force: true }));
  const environment = {
    ...own(space),
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    ANTHROPIC_API_KEY: 'key-1',
    ANTHROPIC_BASE_URL: model.baseUrl('anthropic'),
  };
  return { slack, discord, model, environment };
}

describe('deckhand doctor', () => {
  it('finds all well: store, tokens, scopes, intent, key and model', async () => {
    const { model, discord, slack, environment } = await wholeWorld();
    const { code, text, lines } = await doctor(folderWith(environment));
    expect(text).toContain('All is well.');
    expect(code).toBe(0);
    for (const start of [
      '✓ node: v20.20.2.',
      '✓ configuration: config/deckhand.yaml is right.',
      '✓ store: sqlite:',
      '✓ slack bot token: It is ',
      '✓ slack app token: ',
      '✓ discord token: It is the bot ',
      '✓ discord message content: ',
      '✓ provider anthropic: It answers; models: 1.',
      '✓ model anthropic/claude-sonnet-5-5: Its provider lists it.',
    ]) {
      expect(lines.filter((line) => line.startsWith(start))).toHaveLength(1);
    }
    expect(text).not.toContain(slack.botToken);
    expect(model.requests.every(({ path: asked }) => asked.includes('models'))).toBe(true);
    expect(discord.calls.every(({ route }) => route.startsWith('GET '))).toBe(true);
  });

  it('names what is wrong and the cure for each, and ends with 1', async () => {
    const { environment } = await wholeWorld();
    const { code, text } = await doctor(
      folderWith(
        {
          ...environment,
          DISCORD_TOKEN: 'wrong',
          ANTHROPIC_API_KEY: 'refused',
          DECKHAND_STORE: 'redis://127.0.0.1:1/0',
        },
        'limits: { usdPerDay: 5 }\n',
      ),
      'v18.1.0',
    );
    expect(code).toBe(1);
    expect(text).toContain('✗ node: v18.1.0 is too old');
    expect(text).toMatch(/✗ store: .+DECKHAND_STORE/u);
    expect(text).toMatch(/✗ discord token: .+DISCORD_TOKEN/u);
    expect(text).toMatch(/✗ provider anthropic: .+ANTHROPIC_API_KEY/u);
    expect(text).toContain('Something needs to be mended.');
  });

  it('looks at every provider that has a key, not only at the one that is used', async () => {
    const { model, environment } = await wholeWorld();
    const { code, text } = await doctor(
      folderWith({
        ...environment,
        OPENAI_API_KEY: 'k',
        OPENAI_BASE_URL: 'http://127.0.0.1:1/v1',
        COMPATIBLE_BASE_URL: `${model.url}/nowhere`,
      }),
    );
    expect(code).toBe(1);
    expect(text).toMatch(/✗ provider openai: .+OPENAI|✗ provider openai: .+_BASE_URL/u);
    expect(text).toMatch(/✓ provider compatible|! provider compatible: .+_BASE_URL/u);
  });

  it('lists every problem of the configuration and stops there', async () => {
    const folder = folderWith({ DECKHAND_MODEL: 'openai/gpt-6.2-sol' }, 'nonsense: 1\n');
    const { code, text } = await doctor(folder);
    expect(code).toBe(1);
    expect(text).toMatch(
      /✗ configuration: .*deckhand\.yaml:1: nonsense: there is no such setting/u,
    );
    expect(text).toMatch(/✗ configuration: .*OPENAI_API_KEY/u);
  });

  it('warns of a limit in money where prices are unknown, and of what was learned', async () => {
    const { model, environment } = await wholeWorld();
    const folder = folderWith(
      {
        ...environment,
        ANTHROPIC_BASE_URL: '',
        ANTHROPIC_API_KEY: '',
        COMPATIBLE_BASE_URL: model.baseUrl('compatible'),
        DECKHAND_MODEL: 'compatible/test-model',
      },
      'limits: { usdPerDay: 5 }\n',
    );
    const { text } = await doctor(folder);
    expect(text).toContain(
      '! limits: A limit in US dollars is set, but the prices of compatible/test-model are unknown',
    );
  });

  it('says what is off, which is fine', async () => {
    const space = mkdtempSync(path.join(os.tmpdir(), 'deckhand-'));
    closing.push(() => rmSync(space, { recursive: true, force: true }));
    const { code, text } = await doctor(folderWith(own(space)));
    expect(code).toBe(0);
    expect(text).toContain('- slack: off: SLACK_BOT_TOKEN is not set.');
    expect(text).toContain('✓ model rehearsal/rehearsal');
  });
});
