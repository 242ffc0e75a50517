/** The local page over real HTTP: what it takes, what it refuses, what it keeps. */

import { afterEach, describe, expect, it } from 'vitest';
import type { InboundMessage } from '../../../src/surface/inbound.ts';
import { until } from '../../support/until.ts';
import { closeAll, own, setUp } from './set-up.ts';

afterEach(closeAll);

describe('the page', () => {
  it('is served with its assets and no way to run anything foreign', async () => {
    const page = await setUp();
    const index = await page.call('/');
    expect(index.status).toBe(200);
    expect(index.headers['content-security-policy']).toContain("default-src 'self'");
    expect(index.text).not.toMatch(/https?:\/\//u);
    for (const asset of ['app.js', 'view.js', 'markdown.js', 'style.css', 'icon.svg']) {
      expect((await page.call(`/assets/${asset}`)).status).toBe(200);
    }
    expect((await page.call('/assets/../adapter.ts')).status).toBe(404);
    expect((await page.call('/assets/%2e%2e%2fadapter.ts')).status).toBe(404);
  });

  it.each<[string, string, Record<string, string>, number]>([
    ['a foreign Host', '/', { host: 'evil.example.com' }, 403],
    [
      'a foreign Host that names this address',
      '/api/state',
      { host: '127.0.0.1.evil.example.com' },
      403,
    ],
    ['a foreign Origin', '/api/state', { origin: 'https://evil.example.com' }, 403],
    ['no word on where it comes from', '/api/state', {}, 403],
    ['another site by Sec-Fetch-Site', '/api/events', { 'sec-fetch-site': 'cross-site' }, 403],
    ['another port of this machine', '/api/state', { origin: 'http://127.0.0.1:1' }, 403],
    ['the page itself', '/api/state', { 'sec-fetch-site': 'same-origin' }, 200],
    ['the page itself, its stream', '/api/events', { 'sec-fetch-site': 'same-origin' }, 200],
  ])('answers a GET with %s', async (_what, path, headers, status) => {
    const page = await setUp();
    expect((await page.call(path, { headers })).status).toBe(status);
  });

  it('refuses a form post of another site and one without JSON', async () => {
    const page = await setUp();
    const body = { channel: 'x', thread: null, text: 'hi' };
    const form = await page.call('/api/messages', {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: 'https://evil.example.com',
      },
      body,
    });
    expect(form.status).toBe(403);
    const text = await page.call('/api/messages', {
      method: 'POST',
      headers: { ...own(page.port), 'content-type': 'text/plain' },
      body,
    });
    expect(text.status).toBe(415);
    expect(page.events).toEqual([]);
  });

  it('opens under configured addresses, and with the token alone where one is set', async () => {
    const page = await setUp({
      origins: ['https://deckhand.example.org'],
      token: 'a long page token',
    });
    const host = 'deckhand.example.org';
    expect((await page.call('/', { headers: { host } })).status).toBe(401);
    expect((await page.call('/?token=wrong', { headers: { host } })).status).toBe(401);
    const opened = await page.call('/?token=a%20long%20page%20token', { headers: { host } });
    expect(opened.status).toBe(303);
    const cookie = opened.headers['set-cookie']?.[0] ?? '';
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/u);
    expect(cookie).not.toContain('page token');
    const headers = { host, cookie: cookie.split(';')[0] ?? '' };
    expect((await page.call('/', { headers })).status).toBe(200);
  });

  it('stores what is said, tells the bot, and keeps both over a restart', async () => {
    const page = await setUp();
    const { channels } = await page.state();
    const [general] = channels;
    expect(channels.map(({ name }) => name)).toEqual(['general', 'ops']);
    expect(
      await page.post('/api/messages', {
        channel: general?.id,
        thread: null,
        text: '@deckhand hello',
      }),
    ).toBe(200);
    const [event] = page.events;
    expect(event).toMatchObject({
      kind: 'message',
      text: 'hello',
      mentionsBot: true,
      place: 'channel',
      author: { id: 'web:local' },
    });
    const { messages } = await page.state();
    expect(
      await page.post('/api/messages', {
        channel: general?.id,
        thread: messages[0]?.id,
        text: 'more',
      }),
    ).toBe(200);
    expect(page.events[1]).toMatchObject({
      place: 'thread',
      mentionsBot: false,
      conversation: { thread: messages[0]?.id },
    });
    const again = await setUp({}, page.store);
    expect((await again.state()).messages).toHaveLength(2);
  });

  it('does not keep what the bot could not store, and says so', async () => {
    const page = await setUp();
    const [general] = (await page.state()).channels;
    page.failing = true;
    expect(
      await page.post('/api/messages', {
        channel: general?.id,
        thread: null,
        text: '@deckhand hi',
      }),
    ).toBe(503);
    expect((await page.state()).messages).toEqual([]);
  });

  it('reads back what was said after a message, however fast, and no command', async () => {
    const page = await setUp();
    const channel = (await page.state()).channels[0]?.id ?? '';
    const say = (text: string): Promise<number> =>
      page.post('/api/messages', { channel, thread: null, text });
    await say('first');
    await Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(say));
    await say('/deckhand status');
    const [first] = (await page.state()).messages;
    const readAfter = (id: string): Promise<readonly InboundMessage[]> =>
      page.adapter.messagesAfter({ space: 'local', channel, thread: null }, id, 100);
    const missed = await readAfter(first?.id ?? '');
    const texts = missed.map(({ text }) => text);
    expect(texts.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
    for (const [index, { messageId }] of missed.entries()) {
      const rest = await readAfter(messageId);
      expect(rest.map(({ text }) => text)).toEqual(texts.slice(index + 1));
    }
  });

  it('shows a mention of the bot’s name only where it is one', async () => {
    const page = await setUp();
    const [general] = (await page.state()).channels;
    for (const text of [
      'hey @Deckhand, look',
      'mail a@deckhand.org',
      '@deckhand-2 hi',
      '(@deckhand)',
    ]) {
      await page.post('/api/messages', { channel: general?.id, thread: null, text });
    }
    expect(page.events.map((event) => event.kind === 'message' && event.mentionsBot)).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });

  it('passes on edits, removals, presses, forms and slash commands', async () => {
    const page = await setUp();
    const [general] = (await page.state()).channels;
    const channel = general?.id ?? '';
    await page.post('/api/messages', { channel, thread: null, text: '@deckhand ask' });
    const [root] = (await page.state()).messages;
    const thread = root?.id ?? '';
    const surface = page.adapter.surfaceOf({ adapter: 'web', space: 'local', channel, thread });
    const card = await surface.post(
      {
        blocks: [
          { kind: 'buttons', buttons: [{ controlId: 'q_1.0.0', label: 'Yes', style: 'plain' }] },
        ],
        mentionable: [],
      },
      { key: 'k', maybePosted: false },
    );
    expect(
      await page.post('/api/presses', { messageId: card.messageId, controlId: 'q_1.0.0' }),
    ).toBe(200);
    expect(
      await page.post('/api/presses', {
        messageId: card.messageId,
        controlId: 'form.q_1.0',
        text: 'free',
      }),
    ).toBe(200);
    expect(await page.post('/api/presses', { messageId: 'nothing', controlId: 'q_1.0.0' })).toBe(
      404,
    );
    expect(await page.post('/api/edits', { id: thread, text: '@deckhand ask more' })).toBe(200);
    expect(await page.post('/api/messages', { channel, thread, text: '/deckhand status' })).toBe(
      200,
    );
    expect(await page.post('/api/removals', { id: thread })).toBe(200);
    await until(() => page.events.length === 6);
    expect(page.events.map(({ kind }) => kind).sort()).toEqual([
      'click',
      'command',
      'form',
      'message',
      'message_deleted',
      'message_edited',
    ]);
    expect(page.events).toContainEqual(
      expect.objectContaining({ kind: 'message_edited', text: 'ask more' }),
    );
    expect(page.events).toContainEqual(
      expect.objectContaining({ kind: 'command', text: 'status' }),
    );
  });

  it('tells in the thread when a click could not be stored', async () => {
    const page = await setUp();
    const [general] = (await page.state()).channels;
    const channel = general?.id ?? '';
    const surface = page.adapter.surfaceOf({
      adapter: 'web',
      space: 'local',
      channel,
      thread: 'main',
    });
    const { messageId } = await surface.post(
      { blocks: [], mentionable: [] },
      { key: 'k', maybePosted: false },
    );
    page.failing = true;
    expect(await page.post('/api/presses', { messageId, controlId: 'q_1.0.0' })).toBe(200);
    await until(async () =>
      (await page.call('/api/state', { headers: own(page.port) })).text.includes(
        'could not be saved',
      ),
    );
  });

  it('draws no HTML of a model: it sends a tree', async () => {
    const page = await setUp();
    const [general] = (await page.state()).channels;
    const surface = page.adapter.surfaceOf({
      adapter: 'web',
      space: 'local',
      channel: general?.id ?? '',
      thread: 'main',
    });
    await surface.post(
      { blocks: [{ kind: 'markdown', text: '<img src=x onerror=alert(1)>' }], mentionable: [] },
      { key: 'k', maybePosted: false },
    );
    const { messages } = await page.state();
    expect(JSON.stringify(messages[0])).toContain(
      '"type":"html","value":"<img src=x onerror=alert(1)>"',
    );
  });
});
