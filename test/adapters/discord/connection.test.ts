/** Connecting to Discord, losing it and finding it again. */

import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { goesDirectly } from '../../../adapters/discord/proxy.ts';
import { openConnectProxy } from '../../support/connect-proxy.ts';
import { anna, type DiscordSetUp, key, markdown, ops, setUpDiscord } from './set-up.ts';

const open: DiscordSetUp[] = [];
const setUp = async (...options: Parameters<typeof setUpDiscord>): Promise<DiscordSetUp> => {
  const discord = await setUpDiscord(...options);
  open.push(discord);
  return discord;
};
afterEach(async () => {
  for (const discord of open.splice(0)) await discord.close();
});
const nobody = () => Promise.resolve();

describe('the start', () => {
  it('says who and where it is', async () => {
    const discord = await setUp();
    expect(discord.adapter.state()).toEqual({
      connected: true,
      detail: 'connected as deckhand to Acme',
    });
    expect(discord.adapter.spaces()).toEqual([{ id: discord.guild.guildId, name: 'Acme' }]);
    await discord.adapter.stop();
    expect(discord.adapter.state()).toEqual({ connected: false, detail: 'not connected' });
    expect(discord.guild.sockets.open).toBe(0);
  });

  it('is refused without a token', async () => {
    const discord = await setUp({ start: false });
    const { createDiscordAdapter } = await import('../../../adapters/discord/adapter.ts');
    const { systemClock } = await import('../../../src/base/clock.ts');
    const adapter = createDiscordAdapter(
      { clock: systemClock, log: discord.log, newId: (prefix) => prefix, commands: () => [] },
      {},
    );
    await expect(adapter.start(nobody)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('DISCORD_TOKEN'),
    });
  });

  it('is refused with a bad token, after one request', async () => {
    const discord = await setUp({ settings: { token: 'wrong' }, start: false });
    await expect(discord.adapter.start(nobody)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('DISCORD_TOKEN'),
    });
    expect(discord.guild.calls).toHaveLength(1);
    expect(discord.guild.sockets.open).toBe(0);
  });

  it('says which switch is off when an intent is refused (4014), without a loop', async () => {
    const discord = await setUp({ guild: { hasMessageContent: false }, start: false });
    await expect(discord.adapter.start(nobody)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('Message Content Intent'),
    });
    expect(discord.guild.sockets.starts).toEqual([]);
  });

  it('fails when nobody answers, and can be tried again', async () => {
    const discord = await setUp({ start: false });
    discord.guild.fault('GET /gateway/bot', { kind: 'cut' });
    await expect(discord.adapter.start(nobody)).rejects.toMatchObject({
      code: 'surface_unavailable',
    });
    await discord.adapter.start(discord.onEvent);
    expect(discord.adapter.state().connected).toBe(true);
  });

  it('cannot be done twice', async () => {
    const discord = await setUp();
    await expect(discord.adapter.start(nobody)).rejects.toMatchObject({ code: 'internal' });
  });

  it('works after another undici became the global dispatcher (trap 14)', async () => {
    const undici = await import('undici');
    const before = undici.getGlobalDispatcher();
    undici.setGlobalDispatcher(new undici.Agent());
    const discord = await setUp();
    const surface = discord.adapter.surfaceOf(discord.conversation(ops, 'none'));
    await surface.post(markdown('hi'), key('k1'));
    expect(discord.guild.ofBot(ops)).toHaveLength(1);
    undici.setGlobalDispatcher(before);
  });
});

describe('a lost socket', () => {
  it('is resumed, and what was said meanwhile comes once', async () => {
    const discord = await setUp();
    const { guild } = discord;
    guild.sockets.drop();
    const id = guild.say(anna, ops, 'meanwhile');
    const message = await discord.heard(id);
    expect(message.text).toBe('meanwhile');
    expect(guild.sockets.starts).toEqual(['identify', 'resume']);
    await guild.until(() => discord.adapter.state().connected);
    expect(discord.events).toEqual([message]);
  });

  it.each([
    [
      'asks for a new connection',
      (discord: DiscordSetUp) => discord.guild.sockets.askToReconnect(),
    ],
    ['closes with 4000', (discord: DiscordSetUp) => discord.guild.sockets.close(4000)],
  ])('is resumed when Discord %s', async (_how, lose) => {
    const discord = await setUp();
    lose(discord);
    await discord.guild.until(() => discord.guild.sockets.starts.length === 2);
    await discord.heard(discord.guild.say(anna, ops, 'after'));
    expect(discord.guild.sockets.starts).toEqual(['identify', 'resume']);
    expect(discord.events.map((event) => event.kind)).toEqual(['message']);
  });

  it('whose reconnect is answered with 503 is resumed, and ends no process (B179)', async () => {
    const discord = await setUp();
    const { guild } = discord;
    guild.sockets.refuse('busy');
    guild.sockets.drop();
    const id = guild.say(anna, ops, 'meanwhile');
    await guild.until(() =>
      discord.log.lines.some((line) => line.event === 'discord_socket_failed'),
    );
    guild.sockets.refuse(false);
    await discord.heard(id);
    expect(guild.sockets.starts).toEqual(['identify', 'resume']);
    expect(discord.events.map((event) => event.kind)).toEqual(['message']);
  });

  it('whose reconnect is reset is a gap: what was said meanwhile is not replayed (trap 16)', async () => {
    const discord = await setUp();
    const { guild } = discord;
    guild.sockets.refuse(true);
    guild.sockets.drop();
    const lost = guild.say(anna, ops, 'meanwhile');
    await guild.until(() => !discord.adapter.state().connected);
    const knownAt = Date.now();
    expect(discord.adapter.state().detail).toMatch(/^reconnecting since \d+ s$/u);
    // The library drops its session with the first refused attempt.
    await guild.until(
      () => discord.log.lines.filter((line) => line.event === 'discord_connection_lost').length > 1,
    );
    guild.sockets.refuse(false);
    expect((await discord.first('gap', 15_000)).since).toBeLessThanOrEqual(knownAt);
    expect(guild.sockets.starts).toEqual(['identify', 'identify']);
    expect(discord.adapter.state().connected).toBe(true);
    const place = { space: guild.guildId, channel: ops, thread: null };
    const found = await discord.adapter.messagesAfter(place, '1', 100);
    expect(found.map((message) => message.messageId)).toContain(lost);
  });

  it.each([
    [4004, 'DISCORD_TOKEN'],
    [4014, 'Message Content Intent'],
  ])('that is closed for good (%i) stays closed and says why (B179)', async (code, words) => {
    const discord = await setUp();
    discord.guild.sockets.close(code);
    await discord.guild.until(() => discord.adapter.state().detail.includes(words));
    expect(discord.adapter.state().connected).toBe(false);
    expect(discord.guild.sockets.starts).toEqual(['identify']);
  });

  it('survives dispatches that make no sense', async () => {
    const discord = await setUp();
    const { guild } = discord;
    for (const type of ['MESSAGE_CREATE', 'MESSAGE_DELETE', 'INTERACTION_CREATE', 'NEW_THING']) {
      guild.dispatchRaw(type, { id: 'x', channel_id: ops });
    }
    expect((await discord.heard(guild.say(anna, ops, 'still here'))).text).toBe('still here');
  });
});

describe('the stop', () => {
  it('is final while the connection is being opened again', async () => {
    const discord = await setUp();
    const { guild } = discord;
    guild.sockets.refuse(true);
    guild.sockets.drop();
    await guild.until(() => !discord.adapter.state().connected);
    const started = Date.now();
    await discord.adapter.stop();
    expect(Date.now() - started).toBeLessThan(5_000);
    guild.sockets.refuse(false);
    // A second adapter that connects later shows that the first one had its time.
    const other = await setUp();
    other.guild.sockets.drop();
    await other.guild.until(() => other.guild.sockets.starts.length === 2);
    expect(guild.sockets.open).toBe(0);
    expect(guild.sockets.starts).toEqual(['identify']);
  });
});

describe('a proxy (B180)', () => {
  it('carries requests and the socket', async () => {
    const proxy = await openConnectProxy();
    const discord = await setUp({ deps: { proxy: { httpsProxy: proxy.url, noProxy: '' } } });
    await discord.heard(discord.guild.say(anna, ops, 'through the proxy'));
    const { host } = new URL(discord.guild.apiUrl);
    expect(proxy.targets.length).toBeGreaterThanOrEqual(2);
    expect(new Set(proxy.targets)).toEqual(new Set([host]));
    // The resumed connection goes the same way.
    const before = proxy.targets.length;
    discord.guild.sockets.drop();
    await discord.guild.until(() => discord.guild.sockets.starts.length === 2);
    expect(proxy.targets.length).toBeGreaterThan(before);
    await discord.heard(discord.guild.say(anna, ops, 'again'));
    await discord.adapter.stop();
    await proxy.close();
  });

  it('is left out for hosts in NO_PROXY', async () => {
    const proxy = await openConnectProxy();
    const discord = await setUp({
      deps: { proxy: { httpsProxy: proxy.url, noProxy: 'localhost,127.0.0.1' } },
    });
    await discord.heard(discord.guild.say(anna, ops, 'directly'));
    expect(proxy.targets).toEqual([]);
    await discord.adapter.stop();
    await proxy.close();
  });

  it('that refuses makes the start fail', async () => {
    const server = createServer((_request, response) => response.writeHead(403).end());
    server.on('connect', (_request, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const discord = await setUp({
      start: false,
      deps: { proxy: { httpsProxy: `http://127.0.0.1:${port}`, noProxy: '' } },
    });
    await expect(discord.adapter.start(nobody)).rejects.toMatchObject({
      code: 'surface_unavailable',
    });
    expect(discord.guild.calls).toEqual([]);
    await new Promise((resolve) => server.close(resolve));
  });

  it.each([
    ['wss://gateway.discord.gg/', '', false],
    ['wss://gateway.discord.gg/', '*', true],
    ['wss://gateway.discord.gg/', 'discord.gg', true],
    ['wss://gateway.discord.gg/', '.discord.gg', true],
    ['wss://gateway.discord.gg/', '*.discord.gg, other', true],
    ['wss://gateway.discord.gg/', 'ateway.discord.gg', false],
    ['wss://gateway.discord.gg/', 'discord.gg:443', true],
    ['wss://gateway.discord.gg/', 'discord.gg:8443', false],
  ])('for %s with NO_PROXY=%j is left out: %s', (url, noProxy, expected) => {
    expect(goesDirectly(new URL(url), noProxy)).toBe(expected);
  });
});
