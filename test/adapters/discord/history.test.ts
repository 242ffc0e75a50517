/** What is read of a conversation that began before the bot came to it. */

import { afterEach, describe, expect, it } from 'vitest';
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

describe('the history', () => {
  it('begins with the message the thread was made from (B055)', async () => {
    const discord = await setUp();
    const { guild } = discord;
    const root = guild.say(bo, ops, 'Nightly build fails on step 3');
    guild.startThread(root, 'build');
    const asking = guild.say(anna, root, `${guild.mention} can you help here?`);
    await discord.heard(asking);
    const surface = discord.adapter.surfaceOf(discord.conversation(ops, root));
    const history = await surface.history(50);
    expect(history.map((message) => message.messageId)).toEqual([root, asking]);
    expect(history[0]).toMatchObject({ author: 'Bo Li', text: 'Nightly build fails on step 3' });
    expect((await surface.history(1)).map((message) => message.messageId)).toEqual([root]);
    guild.deleteMessage(root);
    expect((await surface.history(50)).map((message) => message.messageId)).toEqual([asking]);
  });

  it('does without a starter that the bot may not read (B055)', async () => {
    const discord = await setUp();
    const { guild } = discord;
    const root = guild.say(bo, ops, 'hidden');
    guild.startThread(root, 'x');
    const asking = guild.say(anna, root, 'help');
    await discord.heard(asking);
    guild.fault('GET /channels/:id/messages/:id', { kind: 'refused', code: 50001, status: 403 });
    const history = await discord.adapter.surfaceOf(discord.conversation(ops, root)).history(50);
    expect(history.map((message) => message.messageId)).toEqual([asking]);
  });

  it('of a forum post has all earlier messages, the first one once (B055, B057)', async () => {
    const discord = await setUp();
    const { guild } = discord;
    const post = guild.startPost(bo, forum, 'Build', 'Nightly build fails');
    const replies = [guild.say(anna, post, 'same here'), guild.say(bo, post, 'step 3')];
    const asking = guild.say(anna, post, `${guild.mention} help`);
    await discord.heard(asking);
    const surface = discord.adapter.surfaceOf(discord.conversation(forum, post));
    expect((await surface.history(50)).map((message) => message.messageId)).toEqual([
      post,
      ...replies,
      asking,
    ]);
    expect((await surface.history(2)).map((message) => message.messageId)).toEqual([
      replies[1],
      asking,
    ]);
  });

  it('is read over pages, the newest most', async () => {
    const discord = await setUp();
    const { guild } = discord;
    const root = guild.say(anna, ops, 'root');
    guild.startThread(root, 'long');
    const ids = Array.from({ length: 230 }, (_, index) => guild.say(anna, root, `m${index}`));
    const surface = discord.adapter.surfaceOf(discord.conversation(ops, root));
    const history = await surface.history(211);
    expect(history.map((message) => message.messageId)).toEqual([root, ...ids.slice(20)]);
  });

  it('of a direct conversation is the channel', async () => {
    const discord = await setUp();
    const said = discord.guild.sayDirect(anna, 'hi');
    const { conversation } = await discord.heard(said.messageId);
    const surface = discord.adapter.surfaceOf(conversation);
    await surface.post(markdown('hello @everyone'), key('k1'));
    expect(await surface.history(10)).toMatchObject([
      { text: 'hi', authorIsSelf: false, author: 'Anna' },
      { text: 'hello @everyone', authorIsSelf: true, author: 'deckhand' },
    ]);
  });
});
