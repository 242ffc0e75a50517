/** Messages are stored before they are acknowledged; interactions are acknowledged first. */

import { describe, expect, it } from 'vitest';
import type { InboundEvent } from '../../../src/surface/inbound.ts';
import { serveRoutes } from './http-server.ts';
import { markdown, type SlackSetUp, setUpSlack } from './set-up.ts';

const keysOf = (events: readonly InboundEvent[]): string[] =>
  events.flatMap((event) => (event.kind === 'gap' ? [] : [event.eventKey]));

/** Short enough to see a delivery come again. */
const quick = { ackTimeoutMs: 700 };

/** The adapter with HTTP events, with or without Socket Mode beside it. */
async function setUpHttp(withSocket: boolean): Promise<SlackSetUp> {
  const slack = await setUpSlack({
    workspace: quick,
    settings: { signingSecret: 'emulated-signing-secret' },
    ...(withSocket ? {} : { without: ['appToken'] as const }),
  });
  const server = await serveRoutes(slack.adapter);
  slack.workspace.eventsTo(`${server.url}/slack/events`);
  slack.workspace.sockets.use(withSocket);
  return {
    ...slack,
    close: async () => {
      await slack.close();
      await server.close();
    },
  };
}

describe.each([
  ['Socket Mode', () => setUpSlack({ workspace: quick })],
  ['HTTP', () => setUpHttp(false)],
])('acknowledging over %s', (_way, open) => {
  it('acknowledges a message only after it is stored', async () => {
    const slack = await open();
    const release = slack.holdStoring();
    slack.workspace.say('U_ANNA', 'C1', 'hello');
    await slack.workspace.until(() => slack.workspace.deliveries[0]?.attempts === 1);
    await slack.workspace.until(() =>
      slack.workspace.calls.some((call) => call.method === 'users.info'),
    );
    expect(slack.workspace.deliveries[0]?.isAcknowledged).toBe(false);
    release();
    await slack.workspace.settled();
    expect(slack.workspace.deliveries[0]?.isAcknowledged).toBe(true);
    expect(new Set(keysOf(slack.events)).size).toBe(1);
    await slack.close();
  });

  it('leaves a message unacknowledged that could not be stored, and takes it when it comes again', async () => {
    const slack = await open();
    slack.failStoring(true);
    slack.workspace.say('U_ANNA', 'C1', 'hello');
    await slack.workspace.until(() => (slack.workspace.deliveries[0]?.attempts ?? 0) >= 2);
    expect(slack.workspace.deliveries[0]?.isAcknowledged).toBe(false);
    slack.failStoring(false);
    await slack.workspace.settled();
    expect(slack.workspace.deliveries[0]?.isAcknowledged).toBe(true);
    expect(new Set(keysOf(slack.events)).size).toBe(1);
    await slack.close();
  });

  it('B041: acknowledges a click at once while storing takes long', async () => {
    const slack = await open();
    const surface = slack.adapter.surfaceOf(slack.conversation('C1', 'none'));
    const buttons = [{ controlId: 'a', label: 'Yes', style: 'plain' as const }];
    const card = await surface.post(
      { blocks: [{ kind: 'buttons', buttons }], mentionable: [] },
      { key: 'k1', maybePosted: false },
    );
    await slack.workspace.settled();
    const release = slack.holdStoring();
    slack.workspace.click('U_ANNA', card.messageId, 'Yes');
    await slack.workspace.settled();
    const delivery = slack.workspace.deliveries.at(-1);
    expect(delivery).toMatchObject({ kind: 'interactive', isAcknowledged: true });
    expect(slack.events).toEqual([]);
    release();
    expect(await slack.first('click')).toMatchObject({ controlId: 'a' });
    await slack.close();
  });

  it('takes kept back events for a gap, and acknowledges that they are', async () => {
    const slack = await open();
    const minute = Date.now() - 60_000;
    slack.workspace.limitEvents(minute);
    await slack.workspace.settled();
    expect(slack.workspace.deliveries).toMatchObject([{ attempts: 1, isAcknowledged: true }]);
    const since = Math.floor(minute / 1000) * 1000;
    expect(slack.events).toEqual([{ kind: 'gap', adapter: 'slack', since }]);
    await slack.close();
  });

  it('gives a click that is delivered twice one key', async () => {
    const slack = await open();
    const surface = slack.adapter.surfaceOf(slack.conversation('C1', 'none'));
    const buttons = [{ controlId: 'a', label: 'Yes', style: 'plain' as const }];
    const card = await surface.post(
      { blocks: [{ kind: 'buttons', buttons }], mentionable: [] },
      { key: 'k1', maybePosted: false },
    );
    slack.workspace.click('U_ANNA', card.messageId, 'Yes');
    slack.workspace.repeatClick();
    await slack.workspace.until(() => slack.events.length === 2);
    expect(new Set(keysOf(slack.events)).size).toBe(1);
    await slack.close();
  });
});

describe('HTTP events', () => {
  it('refuses a request with a wrong signature', async () => {
    const slack = await setUpSlack({
      settings: { signingSecret: 'the-right-secret' },
      without: ['appToken'],
      workspace: { retryDelaysMs: [] },
    });
    const server = await serveRoutes(slack.adapter);
    slack.workspace.sockets.use(false);
    slack.workspace.eventsTo(`${server.url}/slack/events`, 'a-wrong-secret');
    slack.workspace.say('U_ANNA', 'C1', 'forged');
    await slack.workspace.settled();
    expect(slack.workspace.deliveries[0]?.isAcknowledged).toBe(false);
    expect(slack.events).toEqual([]);
    slack.workspace.eventsTo(`${server.url}/slack/events`, 'the-right-secret');
    slack.workspace.say('U_ANNA', 'C1', 'real');
    expect((await slack.first('message')).text).toBe('real');
    await slack.close();
    await server.close();
  });

  it('refuses a request whose time is old', async () => {
    const slack = await setUpHttp(false);
    const server = await serveRoutes(slack.adapter);
    const response = await fetch(`${server.url}/slack/events`, {
      method: 'POST',
      body: '{}',
      headers: {
        'X-Slack-Request-Timestamp': String(Math.floor(Date.now() / 1000) - 301),
        'X-Slack-Signature': 'v0=00',
      },
    });
    expect(response.status).toBe(401);
    await server.close();
    await slack.close();
  });

  it('answers 503 before the start and after the stop', async () => {
    const slack = await setUpSlack({
      settings: { signingSecret: 'emulated-signing-secret' },
      without: ['appToken'],
      start: false,
    });
    const server = await serveRoutes(slack.adapter);
    const ask = async (): Promise<number> =>
      (await fetch(`${server.url}/slack/events`, { method: 'POST', body: '{}' })).status;
    expect(await ask()).toBe(503);
    await slack.adapter.start(() => Promise.resolve());
    expect(await ask()).toBe(401);
    await slack.adapter.stop();
    expect(await ask()).toBe(503);
    await server.close();
    await slack.close();
  });

  it('has no route without a signing secret', async () => {
    const slack = await setUpSlack({ start: false });
    expect(slack.adapter.routes).toEqual([]);
    await slack.close();
  });

  it('serves Socket Mode and HTTP at once, with one key for what comes over both', async () => {
    const slack = await setUpHttp(true);
    slack.workspace.say('U_ANNA', 'C1', 'hello');
    await slack.workspace.until(() => slack.events.length === 2);
    await slack.workspace.settled();
    expect(slack.workspace.deliveries.map((one) => [one.way, one.isAcknowledged])).toEqual([
      ['socket', true],
      ['http', true],
    ]);
    expect(new Set(keysOf(slack.events)).size).toBe(1);
    await slack.close();
  });

  it('answers a slash command and a form over HTTP', async () => {
    const slack = await setUpHttp(false);
    slack.workspace.slash('U_ANNA', 'C1', 'status');
    expect(await slack.first('command')).toMatchObject({ text: 'status' });
    const surface = slack.adapter.surfaceOf(slack.conversation('C1', 'none'));
    const card = await surface.post(markdown('x'), { key: 'k1', maybePosted: false });
    const buttons = [{ controlId: 'form.a', label: 'Other…', style: 'plain' as const }];
    await surface.edit(card.messageId, { blocks: [{ kind: 'buttons', buttons }], mentionable: [] });
    slack.workspace.click('U_ANNA', card.messageId, 'Other…');
    await slack.workspace.until(() => slack.workspace.model.views.length === 1);
    slack.workspace.submitForm('U_ANNA', 'words');
    expect(await slack.first('form')).toMatchObject({ text: 'words', controlId: 'form.a' });
    await slack.close();
  });
});
