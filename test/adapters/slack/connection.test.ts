/** Connecting to Slack, losing it and finding it again. */

import { describe, expect, it } from 'vitest';
import { openConnectProxy } from '../../support/connect-proxy.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { markdown, type SlackSetUp, setUpSlack } from './set-up.ts';

const lostCount = (slack: SlackSetUp): number =>
  slack.log.lines.filter((line) => line.event === 'slack_socket_lost').length;

describe('the start', () => {
  it('says who and where it is', async () => {
    const slack = await setUpSlack();
    expect(slack.adapter.state()).toEqual({
      connected: true,
      detail: 'connected as deckhand to Acme',
    });
    expect(slack.adapter.spaces()).toEqual([{ id: 'T_ACME', name: 'Acme' }]);
    await slack.close();
    expect(slack.adapter.state()).toEqual({ connected: false, detail: 'not connected' });
    expect(slack.adapter.spaces()).toEqual([]);
  });

  it('sends the bot token and the app token where each belongs, once', async () => {
    const slack = await setUpSlack();
    expect(slack.workspace.calls.map((call) => [call.method, call.outcome])).toEqual([
      ['auth.test', 'ok'],
      ['apps.connections.open', 'ok'],
    ]);
    await slack.close();
  });

  it.each([
    ['no bot token', { without: ['botToken'] as const }, 'config_invalid', 'SLACK_BOT_TOKEN'],
    ['no way for events', { without: ['appToken'] as const }, 'config_invalid', 'SLACK_APP_TOKEN'],
    [
      'a bad bot token',
      { settings: { botToken: 'xoxb-wrong' } },
      'config_invalid',
      'SLACK_BOT_TOKEN',
    ],
    [
      'a bad app token',
      { settings: { appToken: 'xapp-wrong' } },
      'config_invalid',
      'SLACK_APP_TOKEN',
    ],
    [
      'tokens in each other’s place',
      { settings: { appToken: 'xoxb-emulated-bot' } },
      'config_invalid',
      'SLACK_APP_TOKEN',
    ],
    [
      'an address where nobody answers',
      { settings: { apiUrl: 'http://127.0.0.1:9/api/' } },
      'surface_unavailable',
      'SLACK_API_URL',
    ],
  ])('is refused with the setting to look at: %s', async (_what, options, code, variable) => {
    const slack = await setUpSlack({ ...options, start: false });
    const [started] = await Promise.allSettled([slack.adapter.start(() => Promise.resolve())]);
    expect(started).toMatchObject({ status: 'rejected', reason: { code } });
    expect(String(started?.status === 'rejected' && started.reason)).toContain(variable);
    expect(slack.adapter.state().connected).toBe(false);
    await slack.close();
  });

  it.each([
    ['lacks', ['chat:write'], 1],
    ['has', ['chat:write', 'users:read'], 0],
  ])('says what to do when the token %s the scope to know people', async (_, scopes, lines) => {
    const slack = await setUpSlack({ workspace: { scopes } });
    const told = slack.log.lines.filter((line) => line.event === 'slack_scope_missing');
    expect(told).toHaveLength(lines);
    for (const line of told) {
      expect(line).toMatchObject({ level: 'error', facts: { scope: 'users:read' } });
      expect(line.facts['cure']).toContain('install it again');
    }
    await slack.close();
  });

  it('fails when the socket is refused, and can be tried again', async () => {
    const slack = await setUpSlack({ start: false });
    slack.workspace.sockets.refuse(true);
    await expect(slack.adapter.start(() => Promise.resolve())).rejects.toMatchObject({
      code: 'surface_unavailable',
    });
    slack.workspace.sockets.refuse(false);
    await slack.adapter.start(() => Promise.resolve());
    expect(slack.adapter.state().connected).toBe(true);
    await slack.close();
  });
});

describe('a lost socket', () => {
  it('is opened again, and the gap is told', async () => {
    const slack = await setUpSlack();
    slack.workspace.sockets.drop();
    await slack.workspace.until(() => !slack.adapter.state().connected);
    expect(slack.adapter.state().detail).toMatch(/^reconnecting to Acme since \d+ s$/u);
    await slack.workspace.until(() => slack.adapter.state().connected);
    await slack.first('gap');
    expect(slack.events).toEqual([{ kind: 'gap', adapter: 'slack', since: expect.any(Number) }]);
    slack.workspace.say('U_ANNA', 'C1', 'after');
    expect((await slack.first('message')).text).toBe('after');
    await slack.close();
  });

  it('brings what was said meanwhile as a retry, and it is taken', async () => {
    const slack = await setUpSlack();
    slack.workspace.sockets.drop();
    await slack.workspace.until(() => slack.workspace.sockets.open === 0);
    const ts = slack.workspace.say('U_ANNA', 'C1', 'meanwhile');
    expect((await slack.first('message')).messageId).toBe(ts);
    await slack.workspace.settled();
    expect(slack.workspace.deliveries).toMatchObject([{ isAcknowledged: true, attempts: 2 }]);
    await slack.close();
  });

  it('that Slack announced is opened again without any wait, and without a gap', async () => {
    const clock = createFakeClock();
    const slack = await setUpSlack({ deps: { clock } });
    await clock.advance(10_000);
    slack.workspace.sockets.announceRefresh();
    await slack.workspace.until(() =>
      slack.log.lines.some((line) => line.event === 'slack_socket_reopened'),
    );
    expect(slack.adapter.state().connected).toBe(true);
    slack.workspace.say('U_ANNA', 'C1', 'after');
    await slack.first('message');
    expect(slack.events.map((event) => event.kind)).toEqual(['message']);
    await slack.close();
  });

  it('that was greeted and turned away at once climbs the same ladder, until one stands', async () => {
    const clock = createFakeClock();
    const slack = await setUpSlack({ deps: { clock } });
    const { workspace } = slack;
    const { sockets, calls } = workspace;
    const opened = (): number =>
      calls.filter((call) => call.method === 'apps.connections.open').length;
    await clock.advance(10_000);
    sockets.turnAway('too_many_websockets');
    sockets.announceRefresh('too_many_websockets');
    // The one that stood is replaced at once; from then on each waits longer than the one before.
    await workspace.until(() => opened() === 2);
    for (const [index, waitMs] of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries()) {
      await workspace.until(() => lostCount(slack) === index + 2);
      await clock.advance(waitMs - 1);
      expect(opened()).toBe(index + 2);
      await clock.advance(1);
      await workspace.until(() => opened() === index + 3);
    }
    await workspace.until(() => lostCount(slack) === 9);
    sockets.turnAway(null);
    await clock.advance(30_000);
    await workspace.until(() => slack.adapter.state().connected);
    // It must have stood for 10 s before it counts.
    await clock.advance(9_999);
    sockets.announceRefresh();
    await workspace.until(() => lostCount(slack) === 10);
    const before = opened();
    await clock.advance(29_999);
    expect(opened()).toBe(before);
    await clock.advance(1);
    await workspace.until(() => opened() === before + 1 && slack.adapter.state().connected);
    await clock.advance(10_000);
    sockets.announceRefresh();
    await workspace.until(() => opened() === before + 2 && slack.adapter.state().connected);
    await slack.close();
  });

  it('says that Socket Mode is switched off, and is back when it is on again', async () => {
    const clock = createFakeClock();
    const slack = await setUpSlack({ deps: { clock } });
    const { workspace } = slack;
    const { sockets } = workspace;
    await clock.advance(10_000);
    sockets.turnAway('link_disabled');
    sockets.announceRefresh('link_disabled');
    const detail = /^Socket Mode is switched off: switch on Socket Mode/u;
    for (const [index, waitMs] of [1_000, 2_000, 4_000].entries()) {
      await workspace.until(() => lostCount(slack) === index + 1);
      expect(slack.adapter.state()).toEqual({
        connected: false,
        detail: expect.stringMatching(detail),
      });
      await clock.advance(waitMs);
    }
    await workspace.until(() => lostCount(slack) === 4);
    sockets.turnAway(null);
    await clock.advance(8_000);
    await workspace.until(() => sockets.open === 1);
    // A greeting alone does not show that it is on.
    expect(slack.adapter.state().connected).toBe(false);
    await clock.advance(10_000);
    expect(slack.adapter.state().connected).toBe(true);
    const told = slack.log.lines.filter((line) => line.event === 'slack_socket_mode_off');
    expect(told.length).toBeGreaterThan(0);
    await slack.close();
  });

  it('is tried again after 1, 2, 4 … s while Slack is out, and nothing ends the process', async () => {
    const clock = createFakeClock();
    const slack = await setUpSlack({ deps: { clock } });
    const failures = (): number =>
      slack.log.lines.filter((line) => line.event === 'slack_socket_failed').length;
    slack.workspace.sockets.refuse(true);
    slack.workspace.sockets.drop();
    await slack.workspace.until(() => !slack.adapter.state().connected);
    for (const [attempt, waitMs] of [
      1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
    ].entries()) {
      await clock.advance(waitMs - 1);
      expect(failures()).toBe(attempt);
      await clock.advance(1);
      await slack.workspace.until(() => failures() === attempt + 1);
    }
    expect(slack.adapter.state().detail).toBe('reconnecting to Acme since 91 s');
    const since = clock.now() - 91_000;
    slack.workspace.sockets.refuse(false);
    await clock.advance(30_000);
    await slack.workspace.until(() => slack.adapter.state().connected);
    expect(slack.events).toEqual([{ kind: 'gap', adapter: 'slack', since }]);
    await slack.close();
  });

  it('waits as long as Slack asks', async () => {
    const clock = createFakeClock();
    const slack = await setUpSlack({ deps: { clock } });
    slack.workspace.fault('apps.connections.open', { kind: 'rate_limited', retryAfterSeconds: 60 });
    slack.workspace.sockets.drop();
    await slack.workspace.until(() => !slack.adapter.state().connected);
    await clock.advance(1_000);
    await slack.workspace.until(() =>
      slack.log.lines.some((line) => line.event === 'slack_socket_failed'),
    );
    const opened = (): number =>
      slack.workspace.calls.filter((call) => call.method === 'apps.connections.open').length;
    await clock.advance(59_999);
    expect(opened()).toBe(2);
    await clock.advance(1);
    await slack.workspace.until(() => slack.adapter.state().connected);
    expect(opened()).toBe(3);
    await slack.close();
  });

  it('survives envelopes that make no sense', async () => {
    const slack = await setUpSlack();
    for (const text of [
      'no json',
      'null',
      '[]',
      '{}',
      '{"type":"events_api"}',
      '{"type":"events_api","payload":null}',
      '{"type":"interactive","envelope_id":"x"}',
    ]) {
      slack.workspace.sockets.sendRaw(text);
    }
    slack.workspace.say('U_ANNA', 'C1', 'still here');
    expect((await slack.first('message')).text).toBe('still here');
    await slack.close();
  });
});

describe('the stop', () => {
  it('ends within 5 s during an outage', async () => {
    const slack = await setUpSlack();
    slack.workspace.sockets.refuse(true);
    slack.workspace.sockets.drop();
    await slack.workspace.until(() =>
      slack.log.lines.some((line) => line.event === 'slack_socket_failed'),
    );
    const started = Date.now();
    await slack.adapter.stop();
    expect(Date.now() - started).toBeLessThan(5_000);
    slack.workspace.sockets.refuse(false);
    await slack.close();
    expect(slack.workspace.sockets.open).toBe(0);
  });

  it('lets an event that is being stored end, and acknowledges it', async () => {
    const slack = await setUpSlack();
    const release = slack.holdStoring();
    slack.workspace.say('U_ANNA', 'C1', 'last');
    await slack.workspace.until(() => slack.workspace.deliveries[0]?.attempts === 1);
    await slack.workspace.until(() =>
      slack.workspace.calls.some((call) => call.method === 'conversations.info'),
    );
    const stopping = slack.adapter.stop();
    release();
    await stopping;
    await slack.workspace.until(() => slack.workspace.deliveries[0]?.isAcknowledged === true);
    expect(slack.events).toHaveLength(1);
    await slack.close();
  });
});

describe('a proxy', () => {
  it('carries calls and the socket', async () => {
    const proxy = await openConnectProxy();
    const slack = await setUpSlack({ deps: { proxy: { httpsProxy: proxy.url, noProxy: '' } } });
    slack.workspace.say('U_ANNA', 'C1', 'hello');
    const { conversation } = await slack.first('message');
    await slack.adapter
      .surfaceOf(conversation)
      .post(markdown('hi'), { key: 'k1', maybePosted: false });
    const host = new URL(slack.workspace.apiUrl).host;
    expect(new Set(proxy.targets)).toEqual(new Set([host]));
    expect(proxy.targets.length).toBeGreaterThanOrEqual(2);
    await slack.close();
    await proxy.close();
  });

  it('is not used for hosts of NO_PROXY', async () => {
    const proxy = await openConnectProxy();
    const slack = await setUpSlack({
      deps: { proxy: { httpsProxy: proxy.url, noProxy: 'example.com,127.0.0.1' } },
    });
    expect(slack.adapter.state().connected).toBe(true);
    expect(proxy.targets).toEqual([]);
    await slack.close();
    await proxy.close();
  });

  it('that is out is named in the refusal', async () => {
    const slack = await setUpSlack({
      deps: { proxy: { httpsProxy: 'http://127.0.0.1:9', noProxy: '' } },
      start: false,
    });
    await expect(slack.adapter.start(() => Promise.resolve())).rejects.toThrow('HTTPS_PROXY');
    await slack.close();
  });
});
