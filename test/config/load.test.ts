/** The configuration file: what is accepted, and how each problem is told. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { platformSchemas } from '../../src/app/adapters.ts';
import { BotError } from '../../src/base/errors.ts';
import { type Environment, readEnvironment } from '../../src/config/environment.ts';
import { createLive } from '../../src/config/live.ts';
import { loadConfig } from '../../src/config/load.ts';
import { profileOf } from '../../src/config/profiles.ts';
import { createKeptLog } from '../support/log.ts';

const folders: string[] = [];

function setUp(text: string, environment: Environment = {}) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'deckhand-config-'));
  folders.push(folder);
  const file = path.join(folder, 'deckhand.yaml');
  writeFileSync(file, text);
  const load = () =>
    loadConfig({ file, isDefaultFile: false, environment, platforms: platformSchemas });
  return { folder, file, load };
}

function problemsOf(load: () => unknown, file: string): readonly string[] {
  try {
    load();
  } catch (thrown) {
    if (!(thrown instanceof BotError)) throw thrown;
    return thrown.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim().replace(file, 'FILE'));
  }
  return [];
}

/** How a configuration refers to a variable. */
const reference = (name: string): string => `$\{${name}}`;

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

describe('the configuration', () => {
  it('needs nothing: an empty file gives all defaults', () => {
    const { load } = setUp('');
    expect(load()).toMatchObject({
      name: 'Deckhand',
      store: { url: 'sqlite:./data/deckhand.db' },
      workspace: { folder: './data/workspaces' },
      server: { host: '127.0.0.1', port: 3000 },
      runs: { concurrency: 16 },
      limits: { stepsPerRun: 25, runsPerPersonHour: 30 },
      questions: { answerers: 'participants', expireDays: 7 },
    });
  });

  it('bounds files and what looking into them may take; the rest keeps its defaults', () => {
    const { load } = setUp('files: { mostFileMb: 5, mostPdfPages: 10 }\n');
    expect(load().files).toMatchObject({ mostFileMb: 5, mostPdfPages: 10, mostFiles: 20 });
    const wrong = setUp('files:\n  mostFileMb: 201\n  mostDecodeSeconds: 0\n  mostSvgs: 1\n');
    expect(problemsOf(wrong.load, wrong.file)).toEqual([
      expect.stringMatching(/^FILE:3: files\.mostDecodeSeconds: /u),
      expect.stringMatching(/^FILE:2: files\.mostFileMb: /u),
      'FILE:4: files.mostSvgs: there is no such setting',
    ]);
  });

  it('fills in variables, with defaults, and leaves comments and keys alone', () => {
    const { load } = setUp(`name: "${reference('BOT_NAME:-Hand')} of ${reference('TEAM')}"\n`, {
      TEAM: 'Ops',
    });
    expect(load().name).toBe('Hand of Ops');
  });

  it('lets the environment win over the file', () => {
    const { load } = setUp('server: { port: 4000 }\nmodels: { model: a/b }\n', {
      PORT: '5000',
      DECKHAND_MODEL: 'c/d',
    });
    const config = load();
    expect(config.server.port).toBe(5000);
    expect(config.models.model).toBe('c/d');
  });

  it('lists every problem at once, each with file, line, path and what is expected', () => {
    const { file, load } = setUp(
      [
        'name: 7',
        'runs:',
        '  concurrency: many',
        '  speed: 3',
        'admins: [Alice]',
        'models:',
        '  anthropic:',
        `    apiKey: ${reference('MISSING_KEY')}`,
      ].join('\n'),
      { PORT: 'eighty' },
    );
    const problems = problemsOf(load, file);
    expect(problems).toHaveLength(6);
    expect(problems).toEqual(
      expect.arrayContaining([
        'FILE:8: the environment variable MISSING_KEY is not set',
        expect.stringMatching(/^FILE:1: name: .*expected string/u),
        expect.stringMatching(/^FILE:3: runs\.concurrency: .*expected number/u),
        'FILE:4: runs.speed: there is no such setting',
        expect.stringMatching(/^FILE:5: admins\.0: must be like slack:U024BE7LH/u),
        'PORT (server.port): must be a number from 0 to 65535',
      ]),
    );
  });

  it('tells where YAML itself is wrong', () => {
    const { file, load } = setUp('name: "open\n');
    expect(problemsOf(load, file)[0]).toMatch(/^FILE:\d: /u);
  });

  it('refuses a named file that is missing, and takes a missing default file as empty', () => {
    const missing = '/nowhere/deckhand.yaml';
    const input = { environment: {}, platforms: platformSchemas, file: missing };
    expect(() => loadConfig({ ...input, isDefaultFile: false })).toThrow(/there is no such file/u);
    expect(loadConfig({ ...input, isDefaultFile: true }).name).toBe('Deckhand');
  });

  it('refuses names of people where ids are meant (B167)', () => {
    const { file, load } = setUp('allow:\n  users: [Alice]\n');
    expect(problemsOf(load, file)).toEqual([
      expect.stringContaining('FILE:2: allow.users.0: must be like slack:'),
    ]);
  });
});

describe('the environment', () => {
  it('reads a .env file below what is set for real', () => {
    const { folder } = setUp('');
    writeFileSync(path.join(folder, '.env'), 'DECKHAND_TEST_ONLY=from file\nPATH=/nowhere\n');
    const environment = readEnvironment(folder);
    expect(environment['DECKHAND_TEST_ONLY']).toBe('from file');
    expect(environment['PATH']).not.toBe('/nowhere');
  });
});

describe('an edited file', () => {
  it('is taken over at the next look; an invalid one is refused and the old one stays', () => {
    const { file, load } = setUp('name: One\n');
    const log = createKeptLog();
    const live = createLive({ log, load }, load(), file);
    expect(live.current().name).toBe('One');
    writeFileSync(file, 'name: Second\n');
    expect(live.current().name).toBe('Second');
    writeFileSync(file, 'name: [broken]\n');
    expect(live.current().name).toBe('Second');
    expect(log.lines.map(({ event }) => event)).toEqual(['config_reloaded', 'config_refused']);
    writeFileSync(file, 'name: Third one\n');
    expect(live.current().name).toBe('Third one');
    rmSync(file);
    expect(live.current().name).toBe('Third one');
    expect(log.lines.at(-1)?.facts).toMatchObject({
      problems: 'the file is gone; the old settings stay',
    });
  });
});

describe('profiles', () => {
  const { load } = setUp(`
instructions: Be kind.
channels:
  - match: { channel: C1 }
    model: near/id
    instructions: In C1.
  - match: { platform: slack }
    model: far/platform
    instructions: On Slack.
    followUps: mention
  - match: { platform: slack, channel: "ops-*" }
    model: middle/name
    deny: { users: ["slack:U9"] }
`);
  const config = load();
  const at = (adapter: string, channel: string, channelName: string) =>
    profileOf(
      {
        ...config,
        sourceOf: (index) => `channels[${index}], line ${config.lineOf(['channels', index])}`,
      },
      { adapter, space: 'T1', channel, channelName },
    );

  it('takes the nearest value of each setting, with its source', () => {
    expect(at('slack', 'C1', 'ops-night').model).toEqual({
      value: 'near/id',
      source: 'channels[0], line 4',
    });
    expect(at('slack', 'C2', 'ops-night').model).toEqual({
      value: 'middle/name',
      source: 'channels[2], line 11',
    });
    expect(at('slack', 'C2', 'general').model?.value).toBe('far/platform');
    expect(at('discord', 'C2', 'general').model).toBeUndefined();
  });

  it('adds instructions up, outermost first', () => {
    expect(at('slack', 'C1', 'x').instructions.map(({ value }) => value)).toEqual([
      'Be kind.',
      'On Slack.',
      'In C1.',
    ]);
  });

  it('inherits what a nearer entry leaves open', () => {
    expect(at('slack', 'C1', 'ops-night').followUps).toEqual({
      value: 'mention',
      source: 'channels[1], line 7',
    });
    expect(at('slack', 'C1', 'ops-night').deny.map(({ value }) => value.users)).toEqual([
      ['slack:U9'],
    ]);
    expect(at('discord', 'C2', 'general').followUps).toEqual({
      value: 'all',
      source: 'default',
    });
  });
});

describe('permissions of a place', () => {
  const { load } = setUp(`
permissions:
  rules:
    - deny: [Bash(rm *), "mcp__*__delete*"]
  approvers: [asker, "slack:U1"]
  expiresMs: 600000
channels:
  - match: { platform: slack, channel: "ops-*" }
    permissions:
      rules:
        - allow: FileWrite(reports/**)
          for: ["slack:S1", "slack:U1"]
      quorum: 2
  - match: { platform: slack }
    permissions:
      rules:
        - ask: WebFetch
      quorum: 1
      notAsker: true
`);
  const config = load();
  const at = (adapter: string, channelName: string) =>
    profileOf(
      {
        ...config,
        sourceOf: (index) => `channels[${index}], line ${config.lineOf(['channels', index])}`,
      },
      { adapter, space: 'T1', channel: 'C1', channelName },
    ).permissions;

  it('are those of the top where no entry matches, the rest by default', () => {
    expect(at('web', 'general')).toEqual({
      rules: [{ rule: { deny: ['Bash(rm *)', 'mcp__*__delete*'] }, source: 'configuration' }],
      approvers: ['asker', 'slack:U1'],
      quorum: 1,
      notAsker: false,
      expiresMs: 600_000,
      grantMs: 8 * 3600 * 1000,
    });
  });

  it('add their rules up, outermost first, and take the nearest of each other setting', () => {
    const { rules, ...rest } = at('slack', 'ops-night');
    expect(rules).toEqual([
      { rule: { deny: ['Bash(rm *)', 'mcp__*__delete*'] }, source: 'configuration' },
      { rule: { ask: ['WebFetch'] }, source: 'channels[1], line 14' },
      {
        rule: { allow: ['FileWrite(reports/**)'], for: ['slack:S1', 'slack:U1'] },
        source: 'channels[0], line 8',
      },
    ]);
    expect(rest).toMatchObject({ quorum: 2, notAsker: true, expiresMs: 600_000 });
  });
});

describe('what people see of a run', () => {
  const { load } = setUp(`reply:
  notify: always
  seen: both
channels:
  - match: { platform: slack }
    reply: { seen: reaction, feedback: on }
  - match: { channel: "ops-*" }
    reply: { activity: all }
`);
  const config = load();
  const at = (adapter: string, channelName: string) =>
    profileOf(
      {
        ...config,
        sourceOf: (index) => `channels[${index}], line ${config.lineOf(['channels', index])}`,
      },
      { adapter, space: 'T1', channel: 'C1', channelName },
    ).reply;

  it('is by field what the nearest says, with its source', () => {
    expect(at('slack', 'ops-night')).toEqual({
      activity: { value: 'all', source: 'channels[1], line 7' },
      thinking: { value: 'off', source: 'default' },
      notify: { value: 'always', source: 'configuration' },
      feedback: { value: 'on', source: 'channels[0], line 5' },
      seen: { value: 'reaction', source: 'channels[0], line 5' },
    });
    expect(at('web', 'general').seen).toEqual({ value: 'both', source: 'configuration' });
  });

  it('has no other fields and values', () => {
    const { load: other, file } = setUp('reply: { notify: sometimes, colour: red }\n');
    expect(problemsOf(other, file)).toHaveLength(2);
  });
});
