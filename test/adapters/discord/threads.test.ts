/** Where a conversation's messages go on Discord: threads, forum posts, replies. */

import { afterEach, describe, expect, it } from 'vitest';
import type { Surface } from '../../../src/surface/surface.ts';
import { openThread } from '../../emulators/discord/routes-messages.ts';
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
const threads = 'POST /channels/:id/messages/:id/threads';

describe('the thread', () => {
  it('is made with the first post and named after the title, cut to 100', async () => {
    const discord = await setUp();
    const { root, surface } = await asked(discord, 'why is\ncheckout slow? '.repeat(10));
    await surface.status('working');
    expect(discord.guild.model.typing.map((sign) => sign.channelId)).toEqual([ops]);
    await surface.post(markdown('one'), key('k1'));
    await surface.post(markdown('two'), key('k2'));
    await surface.status('working');
    expect(discord.guild.model.typing.at(-1)?.channelId).toBe(root);
    const name = discord.guild.model.channels.get(root)?.name ?? '';
    expect(name.length).toBeLessThanOrEqual(100);
    expect(name.startsWith('why is checkout slow? why is')).toBe(true);
    expect(count(discord, threads)).toBe(1);
    expect(discord.guild.messages(root).map((message) => message.text)).toEqual(['one', 'two']);
    // Nobody has to be asked whether a thread is there.
    expect(count(discord, 'GET /channels/:id')).toBe(0);
  });

  it('has some name without a title', async () => {
    const discord = await setUp();
    const { root, surface } = await asked(discord);
    await surface.post(markdown('one'), key('k1'));
    expect(discord.guild.model.channels.get(root)?.name).toBe('Conversation');
  });

  it('is made once by two posts at the same time', async () => {
    const discord = await setUp();
    const { root, surface } = await asked(discord);
    await Promise.all([
      surface.post(markdown('one'), key('k1')),
      surface.post(markdown('two'), key('k2')),
    ]);
    expect(count(discord, threads)).toBe(1);
    expect(discord.guild.ofBot(root)).toHaveLength(2);
  });

  it('is used when somebody made it a moment ago (160004)', async () => {
    const discord = await setUp();
    const { root, surface } = await asked(discord);
    const { model } = discord.guild;
    const channel = model.channels.get(ops);
    const starter = model.messages.find((message) => message.id === root);
    if (channel === undefined || starter === undefined) throw new Error('Nothing was said.');
    // The gateway has not told of it yet.
    const silent = { model, dispatch: () => undefined, announce: () => undefined };
    openThread(silent, channel, starter, 'first');
    await surface.post(markdown('one'), key('k1'));
    expect(discord.guild.calls.map((call) => call.outcome)).toContain('160004');
    expect(discord.guild.ofBot(root)).toHaveLength(1);
  });

  it('is used when the answer to its making was lost', async () => {
    const discord = await setUp();
    const { root, surface } = await asked(discord);
    discord.guild.fault(threads, { kind: 'answer_lost' });
    await expect(surface.post(markdown('one'), key('k1'))).rejects.toMatchObject({
      code: 'surface_unavailable',
    });
    await surface.post(markdown('one'), { key: 'k1', maybePosted: true });
    expect(discord.guild.ofBot(root)).toHaveLength(1);
  });

  it('is found again by another process, archived or not', async () => {
    const discord = await setUp();
    const { root, surface } = await asked(discord);
    const { messageId } = await surface.post(markdown('one'), key('k1'));
    discord.guild.archive(root);
    await discord.adapter.stop();
    await discord.adapter.start(discord.onEvent);
    const again = discord.adapter.surfaceOf(discord.conversation(ops, root));
    // An edit in an archived thread is refused: it is opened first.
    await again.edit(messageId, markdown('changed'));
    await again.post(markdown('two'), key('k2'));
    expect(discord.guild.messages(root).map((message) => message.text)).toEqual(['changed', 'two']);
    expect(count(discord, threads)).toBe(1);
  });

  it('is gone when a moderator locked it', async () => {
    const discord = await setUp();
    const { root, surface } = await asked(discord);
    const { messageId } = await surface.post(markdown('one'), key('k1'));
    discord.guild.lock(root);
    const gone = { code: 'surface_gone', message: expect.stringContaining('locked') };
    await expect(surface.post(markdown('two'), key('k2'))).rejects.toMatchObject(gone);
    await expect(surface.edit(messageId, markdown('two'))).rejects.toMatchObject(gone);
  });

  it('is gone when it was removed', async () => {
    const discord = await setUp();
    const { root, surface } = await asked(discord);
    await surface.post(markdown('one'), key('k1'));
    discord.guild.removeThread(root);
    await expect(surface.post(markdown('two'), key('k2'))).rejects.toMatchObject({
      code: 'surface_gone',
    });
  });

  it('cannot be made from a message that was deleted', async () => {
    const discord = await setUp();
    const { root, surface } = await asked(discord);
    discord.guild.deleteMessage(root);
    await expect(surface.post(markdown('one'), key('k1'))).rejects.toMatchObject({
      code: 'surface_gone',
    });
    expect(discord.guild.ofBot(ops)).toEqual([]);
  });

  it.each([
    ['the bot may not', (discord: DiscordSetUp) => discord.guild.deny(ops, 'threads')],
    [
      'the server has too many',
      (discord: DiscordSetUp) => {
        discord.guild.rules.mostThreads = 0;
      },
    ],
  ])('is replaced by replies in the channel where %s', async (_why, forbid) => {
    const discord = await setUp();
    forbid(discord);
    const { root, surface } = await asked(discord);
    const { messageId } = await surface.post(markdown('one'), key('k1'));
    await surface.edit(messageId, markdown('one, edited'));
    await surface.post(markdown('two'), { key: 'k2', maybePosted: true });
    await surface.react(root, 'waiting', true);
    await surface.status('working');
    discord.guild.say(bo, ops, 'something else');
    expect(count(discord, threads)).toBe(1);
    const shown = discord.guild.ofBot(ops);
    expect(shown.map((message) => [message.content, message.replyTo])).toEqual([
      ['one, edited', root],
      ['two', root],
    ]);
    expect(shown.map((message) => discord.guild.notified(message.id))).toEqual([[], []]);
    const history = await surface.history(10);
    expect(history.map((message) => message.text)).toEqual([
      '@deckhand hello',
      'one, edited',
      'two',
    ]);
    await surface.remove(messageId);
    expect(discord.guild.ofBot(ops)).toHaveLength(1);
  });

  it('is not made in a channel that has none (voice)', async () => {
    const voice = '600000000000000009';
    const discord = await setUp({
      prepare: (guild) => guild.addChannel({ id: voice, name: 'talk', kind: 'voice' }),
    });
    const root = discord.guild.say(anna, voice, `${discord.guild.mention} hello`);
    await discord.heard(root);
    const surface = discord.adapter.surfaceOf(discord.conversation(voice, root));
    await surface.post(markdown('one'), key('k1'));
    expect(discord.guild.ofBot(voice)).toHaveLength(1);
  });

  it('is the post itself in a forum', async () => {
    const discord = await setUp();
    const { guild } = discord;
    const post = guild.startPost(anna, forum, 'Broken', 'Since noon.');
    await discord.heard(post);
    const surface = discord.adapter.surfaceOf(discord.conversation(forum, post));
    await surface.post(markdown('one'), key('k1'));
    await surface.react(post, 'waiting', true);
    expect(count(discord, threads)).toBe(0);
    expect(guild.messages(post).map((message) => message.text)).toEqual(['Since noon.', 'one']);
    expect([
      ...(guild.model.messages.find(({ id }) => id === post)?.reactions.keys() ?? []),
    ]).toEqual(['⏳']);
  });
});
