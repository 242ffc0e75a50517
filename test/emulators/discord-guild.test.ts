/** The emulated Discord refuses what Discord refuses, so that adapters are tested against it. */

import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { createDiscordGuild, type DiscordGuild } from './discord/guild.ts';

const channel = '600000000000000001';
const anna = '500000000000000001';
const open: DiscordGuild[] = [];
const setUp = async (): Promise<DiscordGuild> => {
  const guild = await createDiscordGuild();
  open.push(guild);
  guild.addUser({ id: anna, name: 'Anna' });
  guild.addChannel({ id: channel, name: 'ops' });
  return guild;
};
afterEach(async () => {
  for (const guild of open.splice(0)) await guild.close();
});

const answerSchema = z.looseObject({ code: z.number().optional(), id: z.string().optional() });

async function call(
  guild: DiscordGuild,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly answer: z.infer<typeof answerSchema> }> {
  const response = await fetch(`${guild.apiUrl}/v10${path}`, {
    method,
    headers: { Authorization: `Bot ${guild.token}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, answer: answerSchema.parse(JSON.parse(text || '{}')) };
}
const messages = `/channels/${channel}/messages`;
const button = (id: string, label = 'x') => ({ type: 2, custom_id: id, label, style: 1 });
const row = (...components: unknown[]) => ({ type: 1, components });

describe('messages', () => {
  it.each([
    ['2,000 units', { content: 'x'.repeat(2_000) }, 200, undefined],
    ['2,001 units', { content: 'x'.repeat(2_001) }, 400, 50035],
    ['nothing', { content: ' \n' }, 400, 50006],
    ['buttons alone', { components: [row(button('a'))] }, 200, undefined],
    [
      '5 buttons',
      { components: [row(...'abcde'.split('').map((id) => button(id)))] },
      200,
      undefined,
    ],
    ['6 buttons', { components: [row(...'abcdef'.split('').map((id) => button(id)))] }, 400, 50035],
    ['6 rows', { components: 'abcdef'.split('').map((id) => row(button(id))) }, 400, 50035],
    ['an id of 100', { components: [row(button('i'.repeat(100)))] }, 200, undefined],
    ['an id of 101', { components: [row(button('i'.repeat(101)))] }, 400, 50035],
    ['an id twice', { components: [row(button('a'), button('a'))] }, 400, 50035],
    ['a label of 81', { components: [row(button('a', 'l'.repeat(81)))] }, 400, 50035],
    ['a nonce of 26', { content: 'x', nonce: 'n'.repeat(26) }, 400, 50035],
    ['components v2', { content: 'x', flags: 32_768 }, 400, 50035],
  ])('takes or refuses %s', async (_what, body, status, code) => {
    const guild = await setUp();
    const result = await call(guild, 'POST', messages, body);
    expect([result.status, result.answer.code]).toEqual([status, code]);
  });

  it('names the bad field', async () => {
    const guild = await setUp();
    const { answer } = await call(guild, 'POST', messages, { content: 'x'.repeat(2_001) });
    expect(answer['errors']).toMatchObject({
      content: { _errors: [{ code: 'BASE_TYPE_MAX_LENGTH' }] },
    });
  });

  it('posts a nonce once where it is enforced', async () => {
    const guild = await setUp();
    const body = { content: 'x', nonce: 'n', enforce_nonce: true };
    const first = await call(guild, 'POST', messages, body);
    const again = await call(guild, 'POST', messages, body);
    const free = await call(guild, 'POST', messages, { ...body, enforce_nonce: false });
    expect(again.answer.id).toBe(first.answer.id);
    expect(free.answer.id).not.toBe(first.answer.id);
  });

  it('notifies by Discord’s rules', async () => {
    const guild = await setUp();
    const content = `@everyone <@${anna}> <@&7> \`<@${guild.botId}>\``;
    const post = async (allowed?: unknown): Promise<readonly string[]> => {
      const body = { content, ...(allowed === undefined ? {} : { allowed_mentions: allowed }) };
      const { answer } = await call(guild, 'POST', messages, body);
      return guild.notified(answer.id ?? '');
    };
    expect(await post()).toEqual([anna, '&7', 'everyone']);
    expect(await post({ parse: [] })).toEqual([]);
    expect(await post({ parse: [], users: [anna] })).toEqual([anna]);
    expect(await post({ parse: ['everyone'] })).toEqual(['everyone']);
  });

  it('takes no edit of a message that is too old, of somebody else, or in an archived thread', async () => {
    const guild = await setUp();
    const root = guild.say(anna, channel, 'root');
    expect((await call(guild, 'PATCH', `${messages}/${root}`, { content: 'y' })).answer.code).toBe(
      50005,
    );
    const { answer } = await call(guild, 'POST', messages, { content: 'x' });
    guild.rules.mostEditAgeMs = -1;
    const old = await call(guild, 'PATCH', `${messages}/${answer.id ?? ''}`, { content: 'y' });
    expect(old.answer.code).toBe(30046);
  });
});

describe('limits and rights', () => {
  it('counts calls of a route and says when it is free again', async () => {
    const guild = await setUp();
    guild.limit('POST /channels/:id/messages', 2, 10_000);
    const headers = { Authorization: `Bot ${guild.token}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ content: 'x' });
    const post = () => fetch(`${guild.apiUrl}/v10${messages}`, { method: 'POST', headers, body });
    expect((await post()).headers.get('x-ratelimit-remaining')).toBe('1');
    expect((await post()).headers.get('x-ratelimit-remaining')).toBe('0');
    const refused = await post();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(9);
  });

  it('refuses a wrong token', async () => {
    const guild = await setUp();
    const response = await fetch(`${guild.apiUrl}/v10/users/@me`, {
      headers: { Authorization: 'Bot wrong' },
    });
    expect(response.status).toBe(401);
  });

  it('makes one thread of a message', async () => {
    const guild = await setUp();
    const root = guild.say(anna, channel, 'root');
    const make = (name: string) => call(guild, 'POST', `${messages}/${root}/threads`, { name });
    expect((await make('n'.repeat(101))).answer.code).toBe(50035);
    expect((await make('n'.repeat(100))).status).toBe(201);
    expect((await make('again')).answer.code).toBe(160004);
  });
});

describe('interactions', () => {
  it('take one answer, in time', async () => {
    const guild = await setUp();
    guild.slash(anna, channel, 'help');
    const [interaction] = guild.interactions();
    const path = `/interactions/${interaction?.id ?? ''}/${interaction?.token ?? ''}/callback`;
    const body = { type: 5, data: { flags: 64 } };
    expect((await call(guild, 'POST', path, body)).status).toBe(204);
    expect((await call(guild, 'POST', path, body)).answer.code).toBe(40060);
    guild.rules.mostInteractionAgeMs = -1;
    expect((await call(guild, 'POST', path, body)).answer.code).toBe(10062);
  });

  it('have the first further answer fill the deferral', async () => {
    const guild = await setUp();
    guild.slash(anna, channel, 'help');
    const [interaction] = guild.interactions();
    const token = interaction?.token ?? '';
    const path = `/interactions/${interaction?.id ?? ''}/${token}/callback`;
    await call(guild, 'POST', path, { type: 5, data: { flags: 64 } });
    expect(guild.privateLines(anna)).toEqual([]);
    const further = `/webhooks/${guild.model.bot.applicationId}/${token}`;
    await call(guild, 'POST', further, { content: 'one' });
    await call(guild, 'POST', further, { content: 'two', flags: 64 });
    expect(guild.privateLines(anna)).toEqual(['one', 'two']);
  });
});

describe('the gateway', () => {
  it('replays to a resumed session what came after its number', async () => {
    const guild = await setUp();
    const packetSchema = z.looseObject({
      op: z.number(),
      t: z.string().nullish(),
      s: z.number().nullish(),
      d: z.unknown(),
    });
    type Packet = z.infer<typeof packetSchema>;
    const connect = async (first: unknown) => {
      const packets: Packet[] = [];
      const socket = new WebSocket(guild.apiUrl.replace('http', 'ws').replace('/api', '/gateway'));
      socket.on('message', (bytes: Buffer) => {
        const packet = packetSchema.parse(JSON.parse(bytes.toString('utf8')));
        packets.push(packet);
        if (packet.op === 10) socket.send(JSON.stringify(first));
      });
      return { packets, socket };
    };
    const { token } = guild;
    const one = await connect({ op: 2, d: { token, intents: 1 << 15 } });
    await guild.until(() => one.packets.some((packet) => packet.t === 'GUILD_CREATE'));
    const ready = one.packets.find((packet) => packet.t === 'READY');
    const { session_id } = z.object({ session_id: z.string() }).parse(ready?.d);
    const seq = one.packets.at(-1)?.s ?? 0;
    one.socket.terminate();
    await guild.until(() => guild.sockets.open === 0);
    guild.say(anna, channel, 'meanwhile');
    const two = await connect({ op: 6, d: { token, session_id, seq } });
    await guild.until(() => two.packets.some((packet) => packet.t === 'RESUMED'));
    expect(two.packets.map((packet) => packet.t ?? packet.op)).toEqual([
      10,
      'MESSAGE_CREATE',
      'RESUMED',
    ]);
    const three = await connect({ op: 6, d: { token, session_id: 'unknown', seq: 1 } });
    await guild.until(() => three.packets.some((packet) => packet.op === 9));
    for (const { socket } of [two, three]) socket.terminate();
  });

  it('hides texts from who lacks the intent, but not mentions', async () => {
    const guild = await setUp();
    const texts: unknown[] = [];
    const socket = new WebSocket(guild.apiUrl.replace('http', 'ws').replace('/api', '/gateway'));
    let isReady = false;
    socket.on('message', (bytes: Buffer) => {
      const packet = z
        .looseObject({ op: z.number(), t: z.string().nullish(), d: z.unknown() })
        .parse(JSON.parse(bytes.toString('utf8')));
      if (packet.op === 10) {
        socket.send(JSON.stringify({ op: 2, d: { token: guild.token, intents: 1 } }));
      }
      if (packet.t === 'READY') isReady = true;
      if (packet.t === 'MESSAGE_CREATE') {
        texts.push(z.object({ content: z.string() }).parse(packet.d).content);
      }
    });
    await guild.until(() => isReady);
    guild.say(anna, channel, 'hidden');
    guild.say(anna, channel, `${guild.mention} shown`);
    await guild.until(() => texts.length === 2);
    expect(texts).toEqual(['', `${guild.mention} shown`]);
    socket.terminate();
  });
});
