/** Files that the bot posts on Discord, emoji on messages, and what is read of a channel. */

import { afterEach, describe, expect, it } from 'vitest';
import { discordInviteUrl } from '../../../adapters/discord/invite.ts';
import type { OutboundFile } from '../../../src/surface/outbound.ts';
import { reactionEmojis } from '../../../src/surface/reactions.ts';
import type { Surface } from '../../../src/surface/surface.ts';
import { openConnectProxy } from '../../support/connect-proxy.ts';
import {
  anna,
  type DiscordSetUp,
  forum,
  key,
  ops,
  type SetUpOptions,
  setUpDiscord,
} from './set-up.ts';

const open: DiscordSetUp[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((discord) => discord.close()));
});

interface Asked extends DiscordSetUp {
  readonly root: string;
  readonly surface: Surface;
}

/** A mention in #ops, before anybody answered. */
async function setUp(options: SetUpOptions = {}): Promise<Asked> {
  const discord = await setUpDiscord(options);
  open.push(discord);
  const root = discord.guild.say(anna, ops, `${discord.guild.mention} hello`);
  await discord.heard(root);
  const surface = discord.adapter.surfaceOf(discord.conversation(ops, root));
  return { ...discord, root, surface };
}

const csv: OutboundFile = { name: 'may.csv', content: Buffer.from('day,load\n1,40\n') };
const posts = 'POST /channels/:id/messages';
const filesIn = (discord: Asked): readonly string[] =>
  discord.guild.ofBot(discord.root).flatMap(({ files }) => files.map(({ name }) => name));

describe('a file on Discord', () => {
  it('comes in a form with the message’s JSON, its nonce and nobody to notify', async () => {
    const discord = await setUp();
    await discord.surface.upload({ ...csv, comment: '# *Load*\n<@&1>' }, key('run_1.f1'));
    const [sent] = discord.guild.calls.filter(({ route }) => route === posts);
    expect(sent?.body).toEqual({
      content: '\\# \\*Load\\* <\u200B@&1>',
      allowed_mentions: { parse: [], users: [], replied_user: false },
      attachments: [{ id: 0, filename: 'may.csv' }],
      flags: 4,
      nonce: 'run_1.f1',
      enforce_nonce: true,
    });
    expect(filesIn(discord)).toEqual(['may.csv']);
  });

  it('goes through the proxy, byte for byte', async () => {
    const proxy = await openConnectProxy();
    const discord = await setUp({ deps: { proxy: { httpsProxy: proxy.url, noProxy: '' } } });
    const content = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256);
    await discord.surface.upload({ name: 'x.bin', content }, key('f1'));
    const [message] = discord.guild.ofBot(discord.root);
    expect(Buffer.from(message?.files[0]?.content ?? []).equals(content)).toBe(true);
    expect(proxy.targets.length).toBeGreaterThan(0);
    await discord.adapter.stop();
    await proxy.close();
  });

  it('answers the message where no thread can be made', async () => {
    const discord = await setUp({ prepare: (guild) => guild.deny(ops, 'threads') });
    await discord.surface.upload(csv, key('f1'));
    const [message] = discord.guild.ofBot(ops);
    expect(message?.replyTo).toBe(discord.root);
    expect(message?.files).toHaveLength(1);
  });

  it('comes once when its answer was lost, whether anybody looks or not', async () => {
    const discord = await setUp();
    discord.guild.fault(posts, { kind: 'answer_lost' });
    await expect(discord.surface.upload(csv, key('f1'))).rejects.toMatchObject({
      code: 'surface_unavailable',
    });
    const looked = await discord.surface.upload(csv, { key: 'f1', maybePosted: true });
    const blind = await discord.surface.upload(csv, key('f1'));
    expect(blind).toEqual(looked);
    expect(filesIn(discord)).toEqual(['may.csv']);
  });

  it('opens an archived thread', async () => {
    const discord = await setUp();
    await discord.surface.upload(csv, key('f1'));
    discord.guild.archive(discord.root);
    await discord.surface.upload(csv, key('f2'));
    expect(filesIn(discord)).toHaveLength(2);
  });

  it('says which permission is missing', async () => {
    const discord = await setUp();
    await discord.surface.upload(csv, key('f1'));
    discord.guild.deny(discord.root, 'files');
    const attempt = discord.surface.upload(csv, key('f2'));
    await expect(attempt).rejects.toMatchObject({ code: 'surface_gone' });
    await expect(attempt).rejects.toThrow('Attach Files');
  });

  it('is too long where the server takes less than it says', async () => {
    const discord = await setUp();
    discord.guild.rules.mostFileBytes = 10;
    await expect(discord.surface.upload(csv, key('f1'))).rejects.toMatchObject({
      code: 'message_too_long',
    });
    expect(filesIn(discord)).toEqual([]);
  });

  it('is not sent at all above 10 MiB, with a sentence that says so', async () => {
    const discord = await setUp();
    const content = new Uint8Array(10 * 1024 * 1024 + 1);
    await expect(discord.surface.upload({ name: 'big.bin', content }, key('f1'))).rejects.toThrow(
      'big.bin is larger than the 10 MiB',
    );
    expect(discord.guild.calls.filter(({ route }) => route === posts)).toEqual([]);
  });

  it('may be attached by a bot that was invited by our address', () => {
    const permissions = new URL(discordInviteUrl('1')).searchParams.get('permissions') ?? '0';
    expect(BigInt(permissions) & (1n << 15n)).not.toBe(0n);
  });
});

describe('emoji on Discord', () => {
  it('are put on as characters, up to 20 on a message', async () => {
    const discord = await setUp();
    const put = (emoji: string): Promise<boolean> =>
      discord.surface.react(discord.root, { emoji }, true);
    const answers: boolean[] = [];
    for (const emoji of reactionEmojis) answers.push(await put(emoji));
    expect(answers.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => true));
    expect(answers.slice(20)).not.toContain(true);
    const message = discord.guild.model.messages.find(({ id }) => id === discord.root);
    expect([...(message?.reactions.keys() ?? [])]).toEqual(reactionEmojis.slice(0, 20));
  });

  it('are not put on while Discord is not connected', async () => {
    const discord = await setUp();
    await discord.adapter.stop();
    expect(await discord.surface.react(discord.root, { emoji: '👍' }, true)).toBe(false);
  });
});

describe('the history of a channel on Discord', () => {
  it('leaves out system messages and what stands in threads', async () => {
    const discord = await setUp();
    const { guild, surface } = discord;
    await surface.upload(csv, key('f1'));
    guild.say(anna, discord.root, 'in the thread');
    const last = guild.say(anna, ops, 'last');
    const read = await surface.channelHistory(10);
    expect(read.map(({ messageId }) => messageId)).toEqual([discord.root, last]);
    expect(await surface.channelHistory(0)).toEqual([]);
  });

  it('is empty for a forum, which has posts only', async () => {
    const discord = await setUp();
    const surface = discord.adapter.surfaceOf(discord.conversation(forum, '1'));
    expect(await surface.channelHistory(10)).toEqual([]);
  });
});
