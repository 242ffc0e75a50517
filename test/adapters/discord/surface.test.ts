/** A Discord thread as a surface: idempotent posts, refusals, limits, history, private lines. */

import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { discordErrorOf } from '../../../adapters/discord/errors.ts';
import { nonceOf } from '../../../adapters/discord/surface.ts';
import { isBotError } from '../../../src/base/errors.ts';
import type { Surface } from '../../../src/surface/surface.ts';
import { readCase } from '../../support/cases.ts';
import { anna, bo, type DiscordSetUp, forum, key, markdown, ops, setUpDiscord } from './set-up.ts';

const open: DiscordSetUp[] = [];
const setUp = async (...options: Parameters<typeof setUpDiscord>): Promise<DiscordSetUp> => {
  const discord = await setUpDiscord(...options);
  open.push(discord);
  return discord;
};
afterEach(async () => {
  for (const discord of open.splice(0)) await discord.close();
});

async function asked(
  discord: DiscordSetUp,
  title?: string,
): Promise<{ readonly root: string; readonly surface: Surface }> {
  const root = discord.guild.say(anna, ops, `${discord.guild.mention} hello`);
  await discord.heard(root);
  return { root, surface: discord.adapter.surfaceOf(discord.conversation(ops, root), title) };
}
const count = (discord: DiscordSetUp, route: string): number =>
  discord.guild.calls.filter((call) => call.route === route).length;
const posts = 'POST /channels/:id/messages';
const threads = 'POST /channels/:id/messages/:id/threads';
const editRoute = 'PATCH /channels/:id/messages/:id';

describe('a post', () => {
  it('carries its key as nonce, and is found by it after the nonce is forgotten (trap 15)', async () => {
    const discord = await setUp();
    const { root, surface } = await asked(discord);
    const first = await surface.post(markdown('once'), key('k1'));
    const posted = discord.guild.ofBot(root)[0];
    expect(posted?.nonce).toBe('k1');
    for (let index = 0; index < 48; index += 1) discord.guild.say(anna, root, `m${index}`);
    const before = count(discord, posts);
    expect(await surface.post(markdown('once'), { key: 'k1', maybePosted: true })).toEqual(first);
    expect(count(discord, posts)).toBe(before);
  });

  it('is not doubled by a repeat that looked too early (trap 15)', async () => {
    const discord = await setUp();
    const { root, surface } = await asked(discord);
    const first = await surface.post(markdown('once'), key('k1'));
    expect(await surface.post(markdown('once'), key('k1'))).toEqual(first);
    expect(discord.guild.ofBot(root)).toHaveLength(1);
  });

  it('has a nonce of 25 characters at most, another for each key', () => {
    expect(nonceOf('k'.repeat(25))).toBe('k'.repeat(25));
    const long = [nonceOf('k'.repeat(26)), nonceOf(`${'k'.repeat(25)}l`)];
    for (const nonce of long) expect(nonce).toHaveLength(25);
    expect(long[0]).not.toBe(long[1]);
  });

  it('suppresses previews and sends its mention policy, as every call does (B033)', async () => {
    const { input, expected } = readCase(
      'B033',
      z.object({ text: z.string() }),
      z.object({ parseMustNotInclude: z.array(z.string()) }),
    );
    const discord = await setUp();
    const { root, surface } = await asked(discord);
    const text = markdown(input.text);
    const { messageId } = await surface.post(text, key('k1'));
    await surface.edit(messageId, text);
    await surface.whisper(`discord:${anna}`, input.text);
    discord.guild.slash(anna, ops, 'help');
    const { interactionId } = await discord.first('command');
    await surface.whisper(`discord:${anna}`, input.text, interactionId);
    await surface.whisper(`discord:${anna}`, input.text, interactionId);
    discord.guild.deny(ops, 'threads');
    const second = await asked(discord);
    await second.surface.post(text, key('k2'));
    const post = discord.guild.startPost(anna, forum, 'Post', 'text');
    await discord.adapter.surfaceOf(discord.conversation(forum, post)).post(text, key('k3'));
    const paths = [posts, editRoute, 'POST /webhooks/:id/:token'];
    const original = 'PATCH /webhooks/:id/:token/messages/@original';
    const sent = discord.guild.calls.filter(({ route }) => [...paths, original].includes(route));
    expect(new Set(sent.map(({ route }) => route)).size).toBe(4);
    for (const { body } of sent) {
      const { allowed_mentions, flags } = z
        .object({
          allowed_mentions: z.object({
            parse: z.array(z.string()),
            replied_user: z.literal(false),
          }),
          flags: z.number(),
        })
        .parse(body);
      for (const word of expected.parseMustNotInclude) {
        expect(allowed_mentions.parse).not.toContain(word);
      }
      expect(flags & 4).toBe(4);
    }
    for (const message of [...discord.guild.ofBot(root), ...discord.guild.ofBot(ops)]) {
      expect(discord.guild.notified(message.id)).toEqual([]);
    }
  });

  it('takes controls away with an edit, and always sends them along', async () => {
    const discord = await setUp();
    const { surface } = await asked(discord);
    const { messageId } = await surface.post(markdown('a'), key('k1'));
    await surface.edit(messageId, markdown('b'));
    const [edit] = discord.guild.calls.filter(({ route }) => route === editRoute);
    expect(edit?.body['components']).toEqual([]);
  });
});

describe('refusals', () => {
  it('stops editing what is too old (B017), once', async () => {
    const discord = await setUp();
    const { surface } = await asked(discord);
    const { messageId } = await surface.post(markdown('a'), key('k1'));
    discord.guild.rules.mostEditAgeMs = -1;
    await expect(surface.edit(messageId, markdown('b'))).rejects.toMatchObject({
      code: 'message_uneditable',
    });
    expect(count(discord, editRoute)).toBe(1);
    expect(discord.adapter.capabilities.mostEditAgeMs).toBeLessThan(60 * 60_000);
  });

  it('says that a text was blocked', async () => {
    const discord = await setUp();
    discord.guild.rules.blocked = /darn/u;
    const { surface } = await asked(discord);
    await expect(surface.post(markdown('darn'), key('k1'))).rejects.toMatchObject({
      code: 'message_refused',
      facts: { discordCode: 200000 },
    });
  });

  it('names the field that Discord found wrong', async () => {
    const discord = await setUp();
    const { surface } = await asked(discord);
    const twice = { controlId: 'same', label: 'A', style: 'plain' as const };
    const message = {
      blocks: [{ kind: 'buttons' as const, buttons: [twice, twice] }],
      mentionable: [],
    };
    await expect(surface.post(message, key('k1'))).rejects.toMatchObject({
      code: 'message_refused',
      facts: { discordCode: 50035, field: 'components.0.components.1.custom_id' },
    });
  });

  it.each([
    ['may not see the channel', 'view' as const],
    ['may not write there', 'send' as const],
  ])('says that the place is lost where the bot %s', async (_why, denied) => {
    const discord = await setUp();
    const { surface } = await asked(discord);
    discord.guild.deny(ops, 'threads', denied);
    await expect(surface.post(markdown('a'), key('k1'))).rejects.toMatchObject({
      code: 'surface_gone',
    });
  });

  it.each([
    [10003, 404, 'surface_gone'],
    [10008, 404, 'message_gone'],
    [30046, 400, 'message_uneditable'],
    [40005, 413, 'message_too_long'],
    [50001, 403, 'surface_gone'],
    [50006, 400, 'message_refused'],
    [50013, 403, 'surface_gone'],
    [50035, 400, 'message_refused'],
    [160005, 400, 'surface_gone'],
    [200000, 400, 'message_refused'],
    [240000, 400, 'message_refused'],
    [0, 403, 'surface_gone'],
    [0, 400, 'message_refused'],
    [0, 401, 'surface_gone'],
  ])('calls Discord’s %i (%i) %s', (code, status, expected) => {
    const thrown = Object.assign(new Error('x'), { code, status, rawError: { code } });
    expect(discordErrorOf(thrown, 'POST messages').code).toBe(expected);
  });

  it('calls content over the length too long', () => {
    const errors = { content: { _errors: [{ code: 'BASE_TYPE_MAX_LENGTH', message: 'x' }] } };
    const thrown = Object.assign(new Error('x'), {
      code: 50035,
      status: 400,
      rawError: { errors },
    });
    expect(discordErrorOf(thrown, 'POST messages').code).toBe('message_too_long');
  });

  it('asks for nothing more once the token is refused', async () => {
    const discord = await setUp();
    const { surface } = await asked(discord);
    discord.guild.fault(threads, { kind: 'refused', code: 0, status: 401 });
    const refused = { code: 'surface_gone', message: expect.stringContaining('DISCORD_TOKEN') };
    await expect(surface.post(markdown('a'), key('k1'))).rejects.toMatchObject(refused);
    const before = discord.guild.calls.length;
    await expect(surface.post(markdown('a'), key('k1'))).rejects.toMatchObject(refused);
    expect(discord.guild.calls).toHaveLength(before);
  });
});

describe('rate limits', () => {
  it('are told, not waited for: five edits in five seconds (trap 17)', async () => {
    const discord = await setUp();
    discord.guild.limit(editRoute, 5, 5_000);
    const { surface } = await asked(discord);
    const { messageId } = await surface.post(markdown('a'), key('k1'));
    for (let index = 0; index < 5; index += 1) await surface.edit(messageId, markdown(`${index}`));
    const started = Date.now();
    const [refused] = await Promise.allSettled([surface.edit(messageId, markdown('too much'))]);
    const reason: unknown = refused.status === 'rejected' ? refused.reason : null;
    expect(isBotError(reason, 'rate_limited') && reason.retryAfterMs).toSatisfy(
      (ms: number) => ms > 3_000 && ms <= 5_000,
    );
    expect(Date.now() - started).toBeLessThan(1_000);
    expect(surface.budgetOf?.('edit')).toMatchObject({ limit: 5, remaining: 0 });
    expect(surface.budgetOf?.('edit')?.resetAfterMs).toSatisfy((ms: number) => ms > 3_000);
    // Other calls go on.
    await surface.post(markdown('b'), key('k2'));
  });

  it('of a channel with a fraction of a second are kept exactly', async () => {
    const discord = await setUp();
    const { surface } = await asked(discord);
    await surface.post(markdown('a'), key('k1'));
    discord.guild.fault(posts, { kind: 'rate_limited', retryAfterSeconds: 0.25 });
    await expect(surface.post(markdown('b'), key('k2'))).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 250,
    });
  });

  it('that are global hold for all calls', async () => {
    const discord = await setUp();
    const { surface } = await asked(discord);
    const { messageId } = await surface.post(markdown('a'), key('k1'));
    discord.guild.fault(posts, { kind: 'rate_limited', retryAfterSeconds: 30, global: true });
    await expect(surface.post(markdown('b'), key('k2'))).rejects.toMatchObject({
      code: 'rate_limited',
    });
    const before = discord.guild.calls.length;
    await expect(surface.edit(messageId, markdown('c'))).rejects.toMatchObject({
      code: 'rate_limited',
    });
    expect(discord.guild.calls).toHaveLength(before);
  });
});

describe('a private line', () => {
  it('is a direct message where there is no interaction', async () => {
    const discord = await setUp();
    const { surface } = await asked(discord);
    await surface.whisper(`discord:${anna}`, 'only you');
    expect(discord.guild.privateLines(anna)).toEqual(['only you']);
    expect(discord.guild.privateLines(bo)).toEqual([]);
  });

  it('that cannot be delivered leaves a public line without its content (50007)', async () => {
    const discord = await setUp({
      prepare: (guild) => guild.addUser({ id: bo, name: 'Bo Li', isClosed: true }),
    });
    const { root, surface } = await asked(discord);
    await surface.post(markdown('answer'), key('k1'));
    await surface.whisper(`discord:${bo}`, 'the secret is 42');
    const line = discord.guild.ofBot(root).at(-1);
    expect(line?.content).toContain('allow');
    expect(discord.guild.notified(line?.id ?? '')).toEqual([bo]);
    expect(
      discord.guild
        .messages(root)
        .map(({ text }) => text)
        .join(),
    ).not.toContain('42');
  });
});

describe('signs', () => {
  it('go on and off the message that waits, and never fail', async () => {
    const discord = await setUp();
    const { root, surface } = await asked(discord);
    const stored = discord.guild.model.messages.find((message) => message.id === root);
    await surface.react(root, 'waiting', true);
    expect(stored?.reactions.get('⏳')?.size).toBe(1);
    await surface.react(root, 'waiting', false);
    expect(stored?.reactions.has('⏳')).toBe(false);
    discord.guild.deny(ops, 'view');
    await surface.react(root, 'waiting', true);
    await surface.status('working');
    const before = discord.guild.calls.length;
    await surface.status('idle');
    expect(discord.guild.calls).toHaveLength(before);
  });
});

describe('a file', () => {
  const file = async (discord: DiscordSetUp) => {
    const stored = discord.guild.addFile({ name: 'a.txt', content: '0123456789' });
    const message = await discord.heard(
      discord.guild.say(anna, ops, `${discord.guild.mention} see`, { files: [stored] }),
    );
    const [found] = message.files;
    if (found === undefined) throw new Error('The file did not come.');
    const surface = discord.adapter.surfaceOf(message.conversation);
    return { stored, found, surface };
  };

  it('is read by a fresh address when its own has run out', async () => {
    const discord = await setUp();
    const { stored, found, surface } = await file(discord);
    discord.guild.expireFile(stored.id);
    const bytes = await surface.download(found, 10);
    expect(Buffer.from(bytes).toString()).toBe('0123456789');
    expect(found.mediaType).toBe('application/octet-stream');
  });

  it('is gone when there is no fresh address', async () => {
    const discord = await setUp();
    const { stored, found, surface } = await file(discord);
    discord.guild.model.files.delete(stored.id);
    await expect(surface.download(found, 10)).rejects.toMatchObject({ code: 'message_gone' });
  });

  it.each([
    'https://example.com/a.txt',
    'http://cdn.discordapp.com/a.txt',
    'https://cdn.discordapp.com.evil.example/a.txt',
    'http://127.0.0.1:1/a.txt',
    'file:///etc/passwd',
    'nonsense',
  ])('is never fetched from %s', async (url) => {
    const discord = await setUp();
    const { found, surface } = await file(discord);
    await expect(surface.download({ ...found, url }, 10)).rejects.toMatchObject({
      code: 'message_refused',
    });
  });
});
