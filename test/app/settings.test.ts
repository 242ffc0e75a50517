/** What the process makes of its settings: the proxy, the secrets, the folders. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { loadSettings, proxyOf, secretsOf, takeOver } from '../../src/app/settings.ts';
import { folderNameOf } from '../../src/app/workspace.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

describe('the proxy', () => {
  it.each<[Record<string, string>, ReturnType<typeof proxyOf>]>([
    [{}, undefined],
    [{ NO_PROXY: 'a' }, undefined],
    [{ HTTPS_PROXY: 'http://p:1' }, { httpsProxy: 'http://p:1', noProxy: '' }],
    [
      { https_proxy: 'http://p:2', no_proxy: 'slack.com' },
      { httpsProxy: 'http://p:2', noProxy: 'slack.com' },
    ],
    [
      { HTTPS_PROXY: 'http://p:1', https_proxy: 'http://p:2', NO_PROXY: 'a', no_proxy: 'b' },
      { httpsProxy: 'http://p:1', noProxy: 'a' },
    ],
  ])('of %j is %j', (environment, proxy) => {
    expect(proxyOf(environment)).toEqual(proxy);
  });
});

describe('secrets', () => {
  it('are all keys and tokens, and the passwords in addresses', () => {
    const settings = loadSettings(
      {
        ANTHROPIC_API_KEY: 'key-of-anthropic',
        SLACK_BOT_TOKEN: 'token-of-slack',
        SLACK_APP_TOKEN: 'app-token-of-slack',
        DECKHAND_STORE: 'redis://deck:pass%20word@127.0.0.1:6379/1',
      },
      os.tmpdir(),
    );
    expect(
      secretsOf(settings)
        .map(({ value }) => value)
        .sort(),
    ).toEqual(['app-token-of-slack', 'key-of-anthropic', 'pass word', 'token-of-slack']);
  });
});

describe('secrets of model servers', () => {
  it('are the keys of named ones, and headers that look like keys', () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'deckhand-settings-'));
    mkdirSync(path.join(folder, 'config'));
    writeFileSync(
      path.join(folder, 'config/deckhand.yaml'),
      [
        'models:',
        '  model: acme/m',
        '  anthropic: { baseUrl: "https://gateway.example", headers: { x-api-key: key-in-header } }',
        '  providers:',
        '    acme:',
        '      baseUrl: https://acme.example/v1',
        '      apiKey: key-of-acme',
        '      headers: { Authorization: Bearer bare-token, x-team: ops }',
      ].join('\n'),
    );
    const settings = loadSettings({ XAI_API_KEY: 'key-of-xai' }, folder);
    expect(secretsOf(settings)).toEqual([
      { name: 'XAI_API_KEY', value: 'key-of-xai' },
      { name: 'models.anthropic.headers.x-api-key', value: 'key-in-header' },
      { name: 'models.providers.acme.apiKey', value: 'key-of-acme' },
      { name: 'models.providers.acme.headers.Authorization', value: 'Bearer bare-token' },
      { name: 'models.providers.acme.headers.Authorization', value: 'bare-token' },
    ]);
    rmSync(folder, { recursive: true, force: true });
  });

  it('are what shell commands are given', () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'deckhand-settings-'));
    folders.push(folder);
    mkdirSync(path.join(folder, 'config'));
    writeFileSync(
      path.join(folder, 'config/deckhand.yaml'),
      `tools: { bash: { environment: { DEPLOY_KEY: "\${DEPLOY}" } } }\n`,
    );
    expect(secretsOf(loadSettings({ DEPLOY: 'value-of-deploy' }, folder))).toEqual([
      { name: 'tools.bash.environment.DEPLOY_KEY', value: 'value-of-deploy' },
    ]);
  });

  it('that are missing are a problem of the configuration, told once', () => {
    const load = () =>
      loadSettings({ XAI_API_KEY: 'k', DECKHAND_MODEL: 'deepseek/m' }, os.tmpdir());
    expect(load).toThrow(/1 problem:\n.*deepseek\/m needs a key: set DEEPSEEK_API_KEY/u);
  });
});

describe('a workspace’s folder', () => {
  it('is safe as a name and unique by its conversation', () => {
    const names = [
      'slack:T1:C1:17.1',
      'slack:T1:C1:17_1',
      'web:local:../../etc:x',
      `slack:${'x'.repeat(500)}:y:z`,
    ].map(folderNameOf);
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9._-]{1,110}$/u);
  });
});

describe('an edited configuration', () => {
  const settingsWith = (yaml: string, environment: Record<string, string> = {}) => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'deckhand-'));
    folders.push(folder);
    mkdirSync(path.join(folder, 'config'));
    writeFileSync(path.join(folder, 'config/deckhand.yaml'), yaml);
    return loadSettings(environment, folder);
  };
  const askable = (name: string): string => {
    if (name.startsWith('acme/')) throw new Error('No provider is called "acme".');
    return name;
  };

  it('is taken over, but for the models, which need a restart', () => {
    const running = settingsWith('models: { choice: everybody }\n');
    const next = settingsWith(
      'models: { choice: admins, fallback: [rehearsal/rehearsal] }\nlimits: { stepsPerRun: 3 }\n',
    );
    const { settings, needsRestart } = takeOver(running, next, askable);
    expect(settings.config.models).toEqual({ choice: 'admins' });
    expect(settings.config.limits.stepsPerRun).toBe(3);
    expect(needsRestart).toBe(true);
    expect(takeOver(running, running, askable).needsRestart).toBe(false);
  });

  it('changes the shell at a restart only', () => {
    const running = settingsWith('');
    const next = settingsWith('tools: { bash: { environment: { DEPLOY_KEY: new-secret } } }\n');
    const { settings, needsRestart } = takeOver(running, next, askable);
    expect(settings.config.tools.bash.environment).toEqual({});
    expect(needsRestart).toBe(true);
  });

  it('is refused where a channel names a model that only a restart could bring', () => {
    const running = settingsWith('');
    const next = settingsWith(
      [
        'models: { model: rehearsal/rehearsal, providers: { acme: { baseUrl: "http://127.0.0.1:1" } } }',
        'channels:',
        '  - match: { platform: slack }',
        '    model: acme/x',
      ].join('\n'),
    );
    expect(() => takeOver(running, next, askable)).toThrow(
      /deckhand\.yaml:4: channels\.0\.model: .+New models need a restart\./u,
    );
  });

  it.each([
    [
      'agent: { mostSteps: 9 }',
      /deckhand\.yaml:1: agent\.mostSteps: .+it is limits\.stepsPerRun now/u,
    ],
    ['models: { fallback: openai/gpt }', /models\.fallback: must be off, or a list of models/u],
    ['models:\n  fallback: [gemini/x]', /deckhand\.yaml:2: models\.fallback\.0: .+GEMINI_API_KEY/u],
    ['channels:\n  - match: {}\n    model: openai/x', /deckhand\.yaml:3: channels\.0\.model/u],
    [
      'tools:\n  bash:\n    executor: host',
      /deckhand\.yaml:3: tools\.bash\.executor: host runs .+acceptHostRisk: true/u,
    ],
    [
      'tools:\n  bash:\n    executor: bubblewrap\n    network: [a.example]',
      /deckhand\.yaml:4: tools\.bash\.network: bubblewrap cannot tell hosts apart/u,
    ],
    ['tools: { bash: { executor: docker } }', /must be virtual, bubblewrap or host/u],
    ['tools: { bash: { network: ["http://x"] } }', /tools\.bash\.network/u],
    [
      'permissions:\n  rules:\n    - allow: Bash\n    - deny: Bash(\n',
      /1 problem:\n.+deckhand\.yaml:4: permissions\.rules\.1\.deny: must be a tool's name.+not "Bash\("/u,
    ],
    [
      'permissions:\n  rules:\n    - allow: Bash\n      ask: Bash\n',
      /deckhand\.yaml:3: permissions\.rules\.0: must have exactly one of allow, ask and deny/u,
    ],
    [
      'permissions:\n  rules:\n    - allow: Bash\n      for: [anna]\n',
      /deckhand\.yaml:4: permissions\.rules\.0\.for\.0: must be like slack:U024BE7LH/u,
    ],
    [
      'permissions:\n  quorum: 2\n',
      /deckhand\.yaml:1: permissions: quorum is 2, but approvers names only the asker/u,
    ],
    [
      'permissions: { approvers: [asker, "slack:U1"] }\nchannels:\n  - match: {}\n  - match: { channel: ops }\n    permissions: { quorum: 2, notAsker: true }\n',
      /1 problem:\n.+deckhand\.yaml:5: channels\.1\.permissions: quorum is 2, but approvers names only 1 person/u,
    ],
    [
      'channels:\n  - match: {}\n    permissions:\n      approvers: [everybody]\n',
      /deckhand\.yaml:4: channels\.0\.permissions\.approvers\.0: must be asker, participants, or an id/u,
    ],
  ])('that is faulty (%j) is refused with its place and what to do', (yaml, told) => {
    expect(() => settingsWith(yaml)).toThrow(told);
  });
});
