/** The check-up of Slack. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { checkSlack } from '../../../adapters/slack/doctor.ts';
import { botScopes } from '../../../adapters/slack/scopes.ts';
import { createSlackWorkspace, type SlackWorkspace } from '../../emulators/slack/workspace.ts';

const open: SlackWorkspace[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((workspace) => workspace.close()));
});

async function setUp(scopes: readonly string[] = botScopes): Promise<SlackWorkspace> {
  const workspace = await createSlackWorkspace({ scopes });
  open.push(workspace);
  return workspace;
}

describe('checkSlack', () => {
  it('says whose tokens they are when all is well', async () => {
    const { botToken, appToken, apiUrl } = await setUp();
    const findings = await checkSlack({}, { botToken, appToken, apiUrl, signingSecret: 's' });
    expect(findings.map(({ state }) => state)).toEqual(['ok', 'ok', 'ok']);
    expect(findings[0]?.text).toMatch(/It is \S+ of .+, with all scopes/u);
  });

  it('names the scopes that are missing and how to add them', async () => {
    const { botToken, apiUrl } = await setUp(botScopes.filter((scope) => scope !== 'files:read'));
    const [finding] = await checkSlack({}, { botToken, apiUrl });
    expect(finding).toMatchObject({ state: 'problem' });
    expect(finding?.text).toContain('lacks the scopes files:read');
    expect(finding?.text).toContain('install the app again');
  });

  it('says which setting holds a token that Slack refuses, without repeating it', async () => {
    const { appToken, botToken, apiUrl } = await setUp();
    const findings = await checkSlack({}, { botToken: appToken, appToken: botToken, apiUrl });
    expect(findings.map(({ state }) => state)).toEqual(['problem', 'problem']);
    expect(findings[0]?.text).toContain('SLACK_BOT_TOKEN');
    expect(findings[1]?.text).toContain('SLACK_APP_TOKEN');
    expect(JSON.stringify(findings)).not.toContain(appToken);
  });

  it('says so when Slack cannot be reached', async () => {
    const [finding] = await checkSlack(
      {},
      { botToken: 'xoxb-1', apiUrl: 'http://127.0.0.1:1/api/' },
    );
    expect(finding?.state).toBe('problem');
    expect(finding?.text).toContain('could not be reached');
  });

  it('asks for the scopes of the manifest, all and no more', () => {
    const file = path.resolve(import.meta.dirname, '../../../config/slack-manifest.yaml');
    const manifest = z
      .object({ oauth_config: z.object({ scopes: z.object({ bot: z.array(z.string()) }) }) })
      .parse(parse(readFileSync(file, 'utf8')));
    expect([...botScopes]).toEqual(manifest.oauth_config.scopes.bot);
  });
});
