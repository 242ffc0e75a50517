/** The app manifest that operators paste is valid and gives the adapter what it needs. */

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { eventScopes, methodScopes } from '../../../adapters/slack/methods.ts';

/** Limits: https://docs.slack.dev/reference/app-manifest */
const manifestSchema = z.strictObject({
  _metadata: z.strictObject({ major_version: z.literal(2), minor_version: z.number() }),
  display_information: z.strictObject({
    name: z.string().min(1).max(35),
    description: z.string().max(140),
    long_description: z.string().min(175).max(4_000),
    background_color: z.string().regex(/^#[0-9A-F]{6}$/u),
  }),
  features: z.strictObject({
    agent_view: z.strictObject({
      agent_description: z.string().max(300),
      suggested_prompts: z
        .array(z.strictObject({ title: z.string().min(1), message: z.string().min(1) }))
        .max(4),
    }),
    app_home: z.strictObject({
      home_tab_enabled: z.boolean(),
      messages_tab_enabled: z.literal(true),
      messages_tab_read_only_enabled: z.literal(false),
    }),
    bot_user: z.strictObject({
      display_name: z.string().regex(/^[a-z0-9._-]{1,80}$/u),
      always_online: z.boolean(),
    }),
    slash_commands: z
      .array(
        z.strictObject({
          command: z.string().regex(/^\/[a-z]{1,31}$/u),
          description: z.string().max(2_000),
          usage_hint: z.string().max(1_000),
          should_escape: z.boolean(),
        }),
      )
      .max(50),
  }),
  oauth_config: z.strictObject({
    scopes: z.strictObject({ bot: z.array(z.string().regex(/^[a-z_]+(?:[:.][a-z.]+)*$/u)) }),
  }),
  settings: z.strictObject({
    event_subscriptions: z.strictObject({ bot_events: z.array(z.string()).max(100) }),
    interactivity: z.strictObject({ is_enabled: z.literal(true) }),
    org_deploy_enabled: z.boolean(),
    socket_mode_enabled: z.literal(true),
    token_rotation_enabled: z.literal(false),
  }),
});

const root = new URL('../../../', import.meta.url);
const readManifest = (): z.infer<typeof manifestSchema> =>
  manifestSchema.parse(parse(readFileSync(new URL('config/slack-manifest.yaml', root), 'utf8')));

describe('config/slack-manifest.yaml', () => {
  it('is valid', () => {
    expect(readManifest().features.slash_commands.map((one) => one.command)).toEqual(['/deckhand']);
  });

  it('names each scope and event once', () => {
    const { oauth_config: oauth, settings } = readManifest();
    for (const names of [oauth.scopes.bot, settings.event_subscriptions.bot_events]) {
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it('has the scope of every method the adapter calls', () => {
    const scopes = new Set(readManifest().oauth_config.scopes.bot);
    const needed = Object.values(methodScopes).flat();
    expect(needed.length).toBeGreaterThan(10);
    expect(needed.filter((scope) => !scopes.has(scope))).toEqual([]);
  });

  it('subscribes to exactly the events the adapter reads, with their scopes', () => {
    const { oauth_config: oauth, settings } = readManifest();
    expect([...settings.event_subscriptions.bot_events].sort()).toEqual(
      Object.keys(eventScopes).sort(),
    );
    const needed = Object.values(eventScopes).flat();
    expect(needed.filter((scope) => !oauth.scopes.bot.includes(scope))).toEqual([]);
  });

  it('lists every method that the code names, and no other', () => {
    const folder = new URL('adapters/slack/', root);
    const sources = readdirSync(folder)
      .filter((file) => file.endsWith('.ts') && file !== 'methods.ts')
      .map((file) => readFileSync(new URL(file, folder), 'utf8'));
    expect(sources.length).toBeGreaterThan(10);
    const code = sources.join('\n');
    const unused = Object.keys(methodScopes).filter((method) => !code.includes(`'${method}'`));
    expect(unused).toEqual([]);
    const known = new Set(Object.keys(methodScopes));
    const named = [
      ...code.matchAll(
        /'((?:agents|assistant|auth|chat|conversations|files|reactions|usergroups|users|views)\.[A-Za-z.]+)'/gu,
      ),
    ].map((match) => match[1] ?? '');
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((method) => !known.has(method))).toEqual([]);
  });
});
