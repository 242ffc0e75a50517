/** The emulator refuses what Slack refuses, on both sides of each limit. */

import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { z } from 'zod';
import { createSlackWorkspace, type SlackWorkspace, type WorkspaceOptions } from './workspace.ts';

const answerSchema = z.looseObject({ ok: z.boolean(), error: z.string().optional() });
type ApiAnswer = z.infer<typeof answerSchema>;

async function setUp(options: WorkspaceOptions = {}): Promise<{
  readonly workspace: SlackWorkspace;
  readonly api: (
    method: string,
    args?: Record<string, unknown>,
    token?: string,
  ) => Promise<ApiAnswer>;
}> {
  const workspace = await createSlackWorkspace(options);
  workspace.addUser({ id: 'U_ANNA', name: 'Anna' });
  workspace.addChannel({ id: 'C1', name: 'ops', members: ['U_ANNA'] });
  return {
    workspace,
    api: async (method, args = {}, token = workspace.botToken) => {
      const response = await fetch(`${workspace.apiUrl}${method}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(args),
      });
      return answerSchema.parse(await response.json());
    },
  };
}

const posted = z.object({
  ts: z.string(),
  message: z.object({ thread_ts: z.string().optional() }),
});
const button = (label: string, actionId = 'a'): unknown => ({
  type: 'button',
  action_id: actionId,
  text: { type: 'plain_text', text: label },
});
const actions = (...elements: unknown[]): unknown => ({ type: 'actions', elements });

describe('the emulated Web API', () => {
  it.each<[string, unknown[], string | undefined]>([
    ['a label of 75', [actions(button('x'.repeat(75)))], undefined],
    ['a label of 76', [actions(button('x'.repeat(76)))], 'invalid_blocks'],
    ['half an emoji', [actions(button('x\uD83D'))], 'invalid_blocks'],
    [
      '25 buttons',
      [actions(...Array.from({ length: 25 }, (_, i) => button('x', `a${i}`)))],
      undefined,
    ],
    [
      '26 buttons',
      [actions(...Array.from({ length: 26 }, (_, i) => button('x', `a${i}`)))],
      'invalid_blocks',
    ],
    ['an action id of 255', [actions(button('x', 'a'.repeat(255)))], undefined],
    ['an action id of 256', [actions(button('x', 'a'.repeat(256)))], 'invalid_blocks'],
    ['the same action id twice', [actions(button('x'), button('y'))], 'invalid_blocks'],
    ['12,000 of Markdown', [{ type: 'markdown', text: 'x'.repeat(12_000) }], undefined],
    [
      'more in two blocks',
      [
        { type: 'markdown', text: 'x'.repeat(6_000) },
        { type: 'markdown', text: 'x'.repeat(6_001) },
      ],
      'msg_blocks_too_long',
    ],
    ['50 blocks', Array.from({ length: 50 }, () => ({ type: 'divider' })), undefined],
    ['51 blocks', Array.from({ length: 51 }, () => ({ type: 'divider' })), 'invalid_blocks'],
    ['an unknown block', [{ type: 'marquee' }], 'invalid_blocks'],
    ['no blocks and no text', [], 'no_text'],
  ])('judges %s', async (_what, blocks, error) => {
    const { workspace, api } = await setUp();
    expect((await api('chat.postMessage', { channel: 'C1', blocks })).error).toBe(error);
    await workspace.close();
  });

  it('refuses a text over 4,000 bytes on an update only', async () => {
    const { workspace, api } = await setUp();
    const long = 'x'.repeat(4_001);
    const { ts } = posted.parse(await api('chat.postMessage', { channel: 'C1', text: long }));
    expect((await api('chat.update', { channel: 'C1', ts, text: long })).error).toBe(
      'msg_too_long',
    );
    expect((await api('chat.update', { channel: 'C1', ts, text: 'x'.repeat(4_000) })).ok).toBe(
      true,
    );
    await workspace.close();
  });

  it('keeps old blocks on an update without blocks', async () => {
    const { workspace, api } = await setUp();
    const blocks = [{ type: 'markdown', text: 'old' }];
    const { ts } = posted.parse(await api('chat.postMessage', { channel: 'C1', blocks }));
    await api('chat.update', { channel: 'C1', ts, text: 'new' });
    expect(workspace.drawn(ts)).toBe('old');
    await api('chat.update', { channel: 'C1', ts, text: 'new', blocks: [] });
    expect(workspace.drawn(ts)).toBe('new');
    await workspace.close();
  });

  it('puts a reply to a deleted message into the channel', async () => {
    const { workspace, api } = await setUp();
    const root = workspace.say('U_ANNA', 'C1', 'root');
    const args = { channel: 'C1', text: 'x', thread_ts: root };
    expect(posted.parse(await api('chat.postMessage', args)).message.thread_ts).toBe(root);
    workspace.deleteMessage(root);
    expect(posted.parse(await api('chat.postMessage', args)).message.thread_ts).toBeUndefined();
    await workspace.close();
  });

  it('knows tokens, places and own messages', async () => {
    const { workspace, api } = await setUp();
    workspace.addChannel({ id: 'C2', name: 'far', withBot: false });
    workspace.addChannel({ id: 'C3', name: 'hidden', kind: 'group', withBot: false });
    const theirs = workspace.say('U_ANNA', 'C1', 'mine');
    const errors = await Promise.all([
      api('auth.test', {}, 'xoxb-wrong'),
      api('auth.test', {}, workspace.appToken),
      api('apps.connections.open'),
      api('no.such.method'),
      api('chat.postMessage', { channel: 'C2', text: 'x' }),
      api('chat.postMessage', { channel: 'C3', text: 'x' }),
      api('chat.update', { channel: 'C1', ts: theirs, text: 'x' }),
      api('chat.update', { channel: 'C1', ts: '1.1', text: 'x' }),
      api('chat.postEphemeral', { channel: 'C1', user: 'U_ZED', text: 'x' }),
      api('views.open', { trigger_id: 'none', view: {} }),
    ]);
    expect(errors.map((answer) => answer.error)).toEqual([
      'invalid_auth',
      'not_allowed_token_type',
      'not_allowed_token_type',
      'unknown_method',
      'not_in_channel',
      'channel_not_found',
      'cant_update_message',
      'message_not_found',
      'user_not_in_channel',
      'invalid_trigger_id',
    ]);
    await workspace.close();
  });

  it('limits a method over a window and says how long to wait', async () => {
    const { workspace } = await setUp();
    workspace.limit('auth.test', 2, 60_000);
    const ask = (): Promise<Response> =>
      fetch(`${workspace.apiUrl}auth.test`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${workspace.botToken}` },
      });
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
    const third = await ask();
    expect(third.status).toBe(429);
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(50);
    await workspace.close();
  });

  it('breaks the nth call as asked, with or without effect', async () => {
    const { workspace, api } = await setUp();
    const post = (text: string): Promise<ApiAnswer> =>
      api('chat.postMessage', { channel: 'C1', text });
    workspace.fault('chat.postMessage', { kind: 'refused', word: 'is_archived' }, { nth: 2 });
    expect([(await post('1')).ok, (await post('2')).ok, (await post('3')).ok]).toEqual([
      true,
      false,
      true,
    ]);
    workspace.fault('chat.postMessage', { kind: 'answer_lost' });
    await expect(post('4')).rejects.toThrow('fetch failed');
    workspace.fault('chat.postMessage', { kind: 'cut' });
    await expect(post('5')).rejects.toThrow('fetch failed');
    expect(workspace.ofBot('C1').map((message) => message.text)).toEqual(['1', '3', '4']);
    await workspace.close();
  });
});

describe('the emulated Socket Mode', () => {
  async function connect(
    workspace: SlackWorkspace,
    acknowledges: boolean,
  ): Promise<{
    readonly received: Record<string, unknown>[];
    readonly socket: WebSocket;
  }> {
    const response = await fetch(`${workspace.apiUrl}apps.connections.open`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${workspace.appToken}` },
    });
    const { url } = z.object({ url: z.string() }).parse(await response.json());
    const received: Record<string, unknown>[] = [];
    const socket = new WebSocket(url);
    socket.on('message', (data: Buffer) => {
      const raw: unknown = JSON.parse(data.toString());
      const envelope = z.record(z.string(), z.unknown()).parse(raw);
      received.push(envelope);
      if (acknowledges && envelope['envelope_id'] !== undefined) {
        socket.send(JSON.stringify({ envelope_id: envelope['envelope_id'] }));
      }
    });
    await workspace.until(() => received.length === 1);
    expect(received[0]).toMatchObject({ type: 'hello' });
    return { received, socket };
  }

  it('delivers a mention as two events, and each once when it is acknowledged', async () => {
    const { workspace } = await setUp({ ackTimeoutMs: 100, retryDelaysMs: [10] });
    const { received } = await connect(workspace, true);
    workspace.say('U_ANNA', 'C1', `${workspace.mention} hi`);
    await workspace.settled();
    expect(received.slice(1).map((envelope) => envelope['retry_attempt'])).toEqual([
      undefined,
      undefined,
    ]);
    await workspace.close();
  });

  it('delivers again what is not acknowledged, with its attempt, and then gives up', async () => {
    const { workspace } = await setUp({ ackTimeoutMs: 50, retryDelaysMs: [10, 10] });
    const { received } = await connect(workspace, false);
    workspace.say('U_ANNA', 'C1', 'hi');
    await workspace.settled();
    expect(received.slice(1).map((envelope) => envelope['retry_attempt'])).toEqual([
      undefined,
      1,
      2,
    ]);
    expect(workspace.deliveries[0]?.isAcknowledged).toBe(false);
    await workspace.close();
  });

  it('lets nobody in without a fresh ticket', async () => {
    const { workspace } = await setUp();
    const { socket } = await connect(workspace, true);
    const again = new WebSocket(socket.url);
    const failed = new Promise((resolve) => again.once('error', resolve));
    expect(await failed).toBeInstanceOf(Error);
    await workspace.close();
  });

  it('says nothing of channels the bot is not in', async () => {
    const { workspace } = await setUp();
    workspace.addChannel({ id: 'C2', name: 'far', members: ['U_ANNA'], withBot: false });
    workspace.say('U_ANNA', 'C2', `${workspace.mention} hi`);
    expect(workspace.deliveries).toEqual([]);
    await workspace.close();
  });

  it('sees every way to notify', async () => {
    const { workspace, api } = await setUp();
    const { ts } = posted.parse(
      await api('chat.postMessage', {
        channel: 'C1',
        text: '<!here> <@U_ANNA> `@channel`',
        blocks: [{ type: 'markdown', text: '@everyone <!subteam^S1> x@here.com' }],
      }),
    );
    expect([...workspace.notified(ts)].sort((a, b) => (a < b ? -1 : 1))).toEqual([
      '!everyone',
      '!here',
      '!subteam',
      'U_ANNA',
    ]);
    await workspace.close();
  });
});
