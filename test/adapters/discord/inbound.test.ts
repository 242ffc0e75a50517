/** What people say on Discord, as it is told. */

import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readCase } from '../../support/cases.ts';
import { anna, bo, type DiscordSetUp, forum, ops, secret, setUpDiscord } from './set-up.ts';

const open: DiscordSetUp[] = [];
const setUp = async (...options: Parameters<typeof setUpDiscord>): Promise<DiscordSetUp> => {
  const discord = await setUpDiscord(...options);
  open.push(discord);
  return discord;
};
afterEach(async () => {
  for (const discord of open.splice(0)) await discord.close();
});
/** A last message: what came before it and was not told never will be. */
const nothingBefore = async (discord: DiscordSetUp): Promise<void> => {
  await discord.heard(discord.guild.say(bo, ops, 'end'));
};

describe('places', () => {
  it('names a top-level message by itself, before and after it has a thread', async () => {
    const discord = await setUp();
    const { guild } = discord;
    const root = guild.say(anna, ops, `${guild.mention} hello`);
    const message = await discord.heard(root);
    expect(message.conversation).toEqual(discord.conversation(ops, root));
    expect(message).toMatchObject({ place: 'channel', channelName: 'ops', channelKind: 'public' });
    guild.startThread(root, 'hello');
    const reply = await discord.heard(guild.say(bo, root, 'me too'));
    expect(reply.conversation).toEqual(message.conversation);
    expect(reply).toMatchObject({ place: 'thread', channelName: 'ops', channelKind: 'public' });
  });

  it('takes a private channel and a private thread as private', async () => {
    const discord = await setUp();
    const { guild } = discord;
    const message = await discord.heard(guild.say(anna, secret, 'psst'));
    expect(message.channelKind).toBe('private');
    const thread = guild.startThread(message.messageId, 'inside');
    expect((await discord.heard(guild.say(anna, thread, 'more'))).channelKind).toBe('private');
  });

  it('takes a forum post as a thread of the forum', async () => {
    const discord = await setUp();
    const { guild } = discord;
    const post = guild.startPost(anna, forum, 'Broken build', 'Since noon.');
    const first = await discord.heard(post);
    expect(first.conversation).toEqual(discord.conversation(forum, post));
    expect(first).toMatchObject({ place: 'thread', channelName: 'help' });
  });

  it('knows an archived thread that the gateway does not tell about', async () => {
    let root = '';
    const discord = await setUp({
      prepare: (guild) => {
        root = guild.say(anna, ops, 'old');
        guild.startThread(root, 'old');
        guild.archive(root);
      },
    });
    const message = await discord.heard(discord.guild.say(bo, root, 'still there?'));
    expect(message.conversation).toEqual(discord.conversation(ops, root));
    expect(message).toMatchObject({ place: 'thread', channelKind: 'public' });
  });

  it('hears direct messages (trap 13) and says which guilds the person shares', async () => {
    const discord = await setUp({
      prepare: (guild) => {
        guild.addGuild('800000000000000002', 'Other', [anna]);
        guild.addGuild('800000000000000003', 'Third', []);
      },
    });
    const { guild } = discord;
    const said = guild.sayDirect(anna, 'just us');
    const message = await discord.heard(said.messageId);
    expect(message.conversation).toEqual({
      ...{ adapter: 'discord', space: 'direct', channel: said.channelId, thread: 'main' },
    });
    expect(message).toMatchObject({ place: 'direct', channelKind: 'direct', text: 'just us' });
    expect(message.sharedSpaces).toEqual([guild.guildId, '800000000000000002']);
    const asked = guild.calls.filter((call) => call.route.includes('/members/')).length;
    await discord.heard(guild.sayDirect(anna, 'again').messageId);
    expect(guild.calls.filter((call) => call.route.includes('/members/'))).toHaveLength(asked);
  });

  it('sees a guild that is joined later', async () => {
    const discord = await setUp();
    discord.guild.addGuild('800000000000000002', 'Later');
    await discord.guild.until(() => discord.adapter.spaces().length === 2);
    expect(discord.adapter.spaces().map((space) => space.name)).toEqual(['Acme', 'Later']);
  });
});

describe('mentions', () => {
  it.each([
    ['by name', (bot: string) => `<@${bot}> hi`, true],
    ['by the old form', (bot: string) => `<@!${bot}> hi`, true],
    ['in the middle', (bot: string) => `hi <@${bot}>`, true],
    ['by everyone', () => '@everyone hi', false],
    ['by a look-alike name', () => '@deckhand hi', false],
  ])('tells a mention %s: %#', async (_how, textOf, mentions) => {
    const discord = await setUp();
    const id = discord.guild.say(anna, ops, textOf(discord.guild.botId));
    expect((await discord.heard(id)).mentionsBot).toBe(mentions);
  });

  it('takes the bot’s own role as the bot, and takes it off at the front', async () => {
    const discord = await setUp();
    const id = discord.guild.say(anna, ops, `<@&${discord.guild.botRoleId}> hi`);
    expect(await discord.heard(id)).toMatchObject({
      ...{ mentionsBot: true, addressesOther: false, text: 'hi' },
    });
  });

  it('takes a reply to the bot as said to the bot', async () => {
    const discord = await setUp();
    const { guild, adapter } = discord;
    const surface = adapter.surfaceOf(discord.conversation(ops, 'none'));
    const message = { blocks: [{ kind: 'markdown' as const, text: 'news' }], mentionable: [] };
    const { messageId } = await surface.post(message, { key: 'k1', maybePosted: false });
    const id = guild.say(anna, ops, 'thanks', { replyTo: messageId });
    expect(await discord.heard(id)).toMatchObject({ mentionsBot: true, addressesOther: false });
  });

  it('takes a reply to a person as said to that person', async () => {
    const discord = await setUp();
    const { guild } = discord;
    const first = guild.say(anna, ops, 'a question');
    const answer = await discord.heard(guild.say(bo, ops, 'an answer', { replyTo: first }));
    expect(answer).toMatchObject({ mentionsBot: false, addressesOther: true });
    const own = await discord.heard(guild.say(anna, ops, 'and more', { replyTo: first }));
    expect(own.addressesOther).toBe(false);
  });

  it.each([
    ['a person', `<@${bo}> look`, true],
    ['a role', '<@&700000000000000001> look', true],
    ['a person later', `look <@${bo}>`, false],
  ])('sees that a message begins by mentioning %s', async (_whom, text, other) => {
    const discord = await setUp();
    expect((await discord.heard(discord.guild.say(anna, ops, text))).addressesOther).toBe(other);
  });
});

describe('texts', () => {
  it('gives tokens their names, code as it is', async () => {
    const discord = await setUp();
    const { guild } = discord;
    const text =
      `${guild.mention}: ask <@${bo}> or <@&700000000000000001> in <#${secret}> ` +
      `<:tada:123> <a:dance:124> at <t:1700000000:R>, </stop:1>, \`<@${bo}>\``;
    expect((await discord.heard(guild.say(anna, ops, text))).text).toBe(
      `ask @Bo Li or @admins in #secret :tada: :dance: at 2023-11-14T22:13:20Z, /stop, \`<@${bo}>\``,
    );
  });

  it('names the bot where it is not in front', async () => {
    const discord = await setUp();
    const id = discord.guild.say(anna, ops, `is ${discord.guild.mention} here?`);
    expect((await discord.heard(id)).text).toBe('is @deckhand here?');
  });

  it('uses nicknames, and the roles of the author', async () => {
    const discord = await setUp({
      prepare: (guild) => guild.addUser({ id: bo, name: 'Bo Li', nick: 'Captain' }),
    });
    const id = discord.guild.say(anna, ops, `hi <@${bo}>`);
    const message = await discord.heard(id);
    expect(message.text).toBe('hi @Captain');
    expect(message.author).toEqual({
      id: `discord:${anna}`,
      name: 'Anna',
      isBot: false,
      standing: 'member',
      roles: ['discord:700000000000000001'],
    });
  });

  it('tells the same when it is read back, nickname and roles included', async () => {
    const discord = await setUp({
      prepare: (guild) =>
        guild.addUser({ id: bo, name: 'Bo Li', nick: 'Captain', roles: ['700000000000000001'] }),
    });
    const { guild } = discord;
    const first = guild.say(anna, ops, 'first');
    const live = await discord.heard(guild.say(bo, ops, `${guild.mention} second <@${anna}>`));
    const second = await setUp({ start: false });
    const place = { space: guild.guildId, channel: ops, thread: null };
    expect(await discord.adapter.messagesAfter(place, first, 10)).toEqual([live]);
    expect(second.adapter.state().connected).toBe(false);
  });

  it('reads nothing back in a thread that was never made', async () => {
    const discord = await setUp();
    const root = discord.guild.say(anna, ops, 'alone');
    const place = { space: discord.guild.guildId, channel: ops, thread: root };
    expect(await discord.adapter.messagesAfter(place, root, 10)).toEqual([]);
  });

  it('reads back over several pages, in order', async () => {
    const discord = await setUp();
    const { guild } = discord;
    const first = guild.say(anna, ops, 'start');
    const ids = Array.from({ length: 150 }, (_, index) => guild.say(anna, ops, `m${index}`));
    const place = { space: guild.guildId, channel: ops, thread: null };
    const found = await discord.adapter.messagesAfter(place, first, 120);
    expect(found.map((message) => message.messageId)).toEqual(ids.slice(0, 120));
    const all = await discord.adapter.messagesAfter(place, first, 500);
    expect(all.map((message) => message.messageId)).toEqual(ids);
  });
});

describe('what is no news', () => {
  it('ignores own and system messages, and empty ones', async () => {
    const discord = await setUp();
    const { guild } = discord;
    guild.say(guild.botId, ops, 'from myself');
    guild.say(anna, ops, 'pinned', { type: 6 });
    guild.say(anna, ops, 'made a thread', { type: 18 });
    guild.say(anna, ops, '');
    await nothingBefore(discord);
    expect(discord.events).toHaveLength(1);
  });

  it('hears a file without a word (B043), and a mention without a word', async () => {
    const discord = await setUp();
    const { guild } = discord;
    const file = guild.addFile({ name: 'a.png', mediaType: 'image/png', content: 'png' });
    const withFile = await discord.heard(guild.say(anna, ops, '', { files: [file] }));
    expect(withFile.files).toMatchObject([{ name: 'a.png', mediaType: 'image/png', bytes: 3 }]);
    const mention = await discord.heard(guild.say(anna, ops, guild.mention));
    expect(mention).toMatchObject({ text: '', mentionsBot: true });
  });

  it('marks bots and webhooks as bots (B048)', async () => {
    const discord = await setUp({
      prepare: (guild) => guild.addUser({ id: '901', name: 'Other bot', isBot: true }),
    });
    const { input } = readCase(
      'B048',
      z.object({
        selfId: z.string(),
        messages: z.array(
          z.object({ author: z.object({ id: z.string(), bot: z.boolean() }), content: z.string() }),
        ),
      }),
      z.unknown(),
    );
    const { guild } = discord;
    for (const { author, content } of input.messages) {
      const id = author.id === input.selfId ? guild.botId : author.bot ? '901' : anna;
      guild.say(id, ops, content.replace(`<@${input.selfId}>`, guild.mention));
    }
    const hook = await discord.heard(guild.sayByWebhook(ops, 'CI', 'build failed'));
    expect(hook.author).toMatchObject({ isBot: true, name: 'CI' });
    const told = discord.events.flatMap((event) => (event.kind === 'message' ? [event] : []));
    expect(told.map((one) => [one.author.isBot, one.mentionsBot, one.text])).toEqual([
      [true, false, 'Thanks!'],
      [true, true, 'please check'],
      [false, false, 'and now?'],
      [true, false, 'build failed'],
    ]);
  });
});

describe('edits and deletions', () => {
  it('takes a found preview as no edit', async () => {
    const discord = await setUp();
    const { guild } = discord;
    const id = guild.say(anna, ops, 'https://example.com');
    guild.resolvePreview(id);
    guild.editMessage(id, 'https://example.org');
    guild.resolvePreview(id);
    await nothingBefore(discord);
    const edits = discord.events.flatMap((event) =>
      event.kind === 'message_edited' ? [event] : [],
    );
    expect(edits.map((edit) => edit.text)).toEqual(['https://example.org']);
    expect(edits[0]?.eventKey).toMatch(new RegExp(`^discord:${id}:edit:`, 'u'));
  });

  it('tells two edits by two keys', async () => {
    const discord = await setUp();
    const id = discord.guild.say(anna, ops, 'one');
    discord.guild.editMessage(id, 'two');
    discord.guild.editMessage(id, 'three');
    await nothingBefore(discord);
    const keys = discord.events.flatMap((event) =>
      event.kind === 'message_edited' ? [event.eventKey] : [],
    );
    expect(new Set(keys).size).toBe(2);
  });

  it('ignores the bot’s own edits (B049)', async () => {
    const discord = await setUp();
    const surface = discord.adapter.surfaceOf(discord.conversation(ops, 'none'));
    const text = (words: string) => ({
      blocks: [{ kind: 'markdown' as const, text: words }],
      mentionable: [],
    });
    const { messageId } = await surface.post(text('a'), { key: 'k1', maybePosted: false });
    for (let count = 0; count < 10; count += 1) await surface.edit(messageId, text(`a${count}`));
    await nothingBefore(discord);
    expect(discord.events).toHaveLength(1);
  });

  it('tells each message that a moderator removes at once', async () => {
    const discord = await setUp();
    const { guild } = discord;
    const root = guild.say(anna, ops, 'root');
    guild.startThread(root, 'root');
    const inside = [guild.say(anna, root, 'a'), guild.say(bo, root, 'b')];
    guild.deleteMessages(inside);
    guild.deleteMessage(root);
    await nothingBefore(discord);
    await guild.until(
      () => discord.events.filter((event) => event.kind === 'message_deleted').length === 3,
    );
    const deletions = discord.events.flatMap((event) =>
      event.kind === 'message_deleted' ? [event] : [],
    );
    expect(deletions.map((one) => one.messageId).sort()).toEqual([root, ...inside].sort());
    for (const one of deletions) {
      expect(one.conversation).toEqual(discord.conversation(ops, root));
      expect(one.eventKey).toBe(`discord:${one.messageId}:deleted`);
    }
  });
});

describe('storing', () => {
  it('tells the messages of a channel in order, whatever has to be looked up', async () => {
    const discord = await setUp();
    const { guild } = discord;
    guild.fault('GET /guilds/:id/members/:id', { kind: 'slow', ms: 150 });
    guild.addUser({ id: '503', name: 'Slow' });
    const first = guild.sayDirect('503', 'first').messageId;
    const second = guild.sayDirect('503', 'second').messageId;
    await discord.heard(second);
    const ids = discord.events.flatMap((event) =>
      event.kind === 'message' ? [event.messageId] : [],
    );
    expect(ids).toEqual([first, second]);
  });

  it('asks for a reading back when an event cannot be stored in the end', async () => {
    const waits: number[] = [];
    const discord = await setUp({
      deps: {
        clock: {
          now: () => Date.now(),
          setTimer: (delayMs, run) => {
            waits.push(delayMs);
            const timer = setTimeout(run, delayMs > 20_000 ? delayMs : 5);
            return () => clearTimeout(timer);
          },
        },
      },
    });
    discord.failStoring(true);
    waits.length = 0;
    const saidAt = Date.now();
    discord.guild.say(anna, ops, 'lost');
    await discord.guild.until(() => discord.log.lines.some((line) => line.event === 'discord_gap'));
    expect(waits.slice(0, 4)).toEqual([500, 2_000, 5_000, 15_000]);
    discord.failStoring(false);
    const gap = await discord.first('gap');
    const toldAt = Date.now();
    expect(gap.since).toBeGreaterThanOrEqual(saidAt);
    expect(gap.since).toBeLessThan(toldAt);
  });
});
