/** What the process makes of its settings: the proxy, the secrets, the folders. */

import os from 'node:os';
import { describe, expect, it } from 'vitest';
import { loadSettings, proxyOf, secretsOf } from '../../src/app/settings.ts';
import { folderNameOf } from '../../src/app/workspace.ts';

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
