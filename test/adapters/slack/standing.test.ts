/** Who somebody is has to be known before anything is done in their name. */

import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/fake-clock.ts';
import { type SetUpOptions, setUpSlack } from './set-up.ts';

const guest = { id: 'U_GUEST', name: 'Gus', isGuest: true };
const dayMs = 24 * 60 * 60_000;

async function setUp(options: SetUpOptions = {}) {
  const clock = createFakeClock();
  const slack = await setUpSlack({
    ...options,
    deps: { clock },
    workspace: { ackTimeoutMs: 400, ...options.workspace },
    prepare: (workspace) => {
      workspace.addUser(guest);
      workspace.addChannel({ id: 'C2', name: 'guests', members: ['U_GUEST', 'U_ANNA'] });
    },
  });
  const { workspace, log, events } = slack;
  const count = (event: string): number => log.lines.filter((line) => line.event === event).length;
  const asked = (): number => workspace.calls.filter((call) => call.method === 'users.info').length;
  const messages = () => events.flatMap((event) => (event.kind === 'message' ? [event] : []));
  return { ...slack, clock, count, asked, messages };
}

describe('the standing of who wrote', () => {
  it.each([
    ['is out', { kind: 'status', status: 500 }],
    ['breaks off', { kind: 'cut' }],
    ['asks us to wait', { kind: 'rate_limited', retryAfterSeconds: 5 }],
  ] as const)('is asked again by the next delivery when Slack %s', async (_, fault) => {
    const slack = await setUp();
    slack.workspace.fault('users.info', fault);
    slack.workspace.say('U_GUEST', 'C2', 'hello');
    await slack.workspace.until(() => slack.count('slack_event_unacknowledged') === 1);
    expect(slack.events).toEqual([]);
    expect(slack.workspace.deliveries[0]?.isAcknowledged).toBe(false);
    await slack.clock.advance(5_000);
    await slack.workspace.settled();
    expect(slack.workspace.deliveries[0]?.isAcknowledged).toBe(true);
    expect(slack.messages().map(({ author }) => author.standing)).toEqual(['guest']);
    await slack.close();
  });

  it('is waited for as long as an acknowledgement can wait, and no longer', async () => {
    const slack = await setUp();
    slack.workspace.fault('users.info', { kind: 'slow', ms: 700 });
    slack.workspace.say('U_GUEST', 'C2', 'hello');
    await slack.workspace.until(() => slack.asked() === 1);
    await slack.clock.advance(1_199);
    expect(slack.count('slack_event_unacknowledged')).toBe(0);
    await slack.clock.advance(1);
    await slack.workspace.until(() => slack.count('slack_event_unacknowledged') === 1);
    await slack.workspace.settled();
    expect(slack.messages().map(({ author }) => author.standing)).toEqual(['guest']);
    expect(slack.asked()).toBe(1);
    await slack.close();
  });

  it('is left to Slack to bring again so often as it does, and then told nobody as a member', async () => {
    const slack = await setUp();
    slack.workspace.fault('users.info', { kind: 'status', status: 500 }, { times: 50 });
    slack.workspace.say('U_GUEST', 'C2', 'hello');
    await slack.workspace.settled();
    expect(slack.workspace.deliveries[0]).toMatchObject({ attempts: 4, isAcknowledged: false });
    expect(slack.events).toEqual([]);
    await slack.close();
  });

  it('is asked of nobody while Slack has asked us to wait', async () => {
    const slack = await setUp();
    slack.workspace.fault('users.info', { kind: 'rate_limited', retryAfterSeconds: 60 });
    slack.workspace.say('U_GUEST', 'C2', 'hello');
    await slack.workspace.until(() => slack.count('slack_event_unacknowledged') === 1);
    await slack.clock.advance(59_999);
    slack.workspace.say('U_ANNA', 'C2', 'hello');
    await slack.workspace.until(() => slack.count('slack_event_unacknowledged') >= 2);
    expect(slack.asked()).toBe(1);
    await slack.clock.advance(1);
    slack.workspace.say('U_ANNA', 'C2', 'again');
    await slack.workspace.until(() => slack.messages().length > 0);
    await slack.close();
  });

  it('is taken from what was known for a day, and not longer', async () => {
    const slack = await setUp();
    slack.workspace.say('U_GUEST', 'C2', 'first');
    await slack.workspace.until(() => slack.messages().length === 1);
    slack.workspace.fault('users.info', { kind: 'status', status: 500 }, { times: 50 });
    await slack.clock.advance(dayMs - 1);
    slack.workspace.say('U_GUEST', 'C2', 'second');
    await slack.workspace.until(() => slack.messages().length === 2);
    expect(slack.messages()[1]?.author.standing).toBe('guest');
    await slack.clock.advance(5_000);
    slack.workspace.say('U_GUEST', 'C2', 'third');
    await slack.workspace.until(() => slack.count('slack_event_unacknowledged') >= 1);
    expect(slack.messages()).toHaveLength(2);
    await slack.close();
  });

  it('is external when Slack refuses to tell, and the missing scope is named once', async () => {
    const slack = await setUp();
    slack.workspace.withhold('users.info', 'missing_scope');
    slack.workspace.say('U_ANNA', 'C2', 'one');
    slack.workspace.say('U_GUEST', 'C2', 'two');
    await slack.workspace.until(() => slack.messages().length === 2);
    expect(slack.messages().map(({ author }) => author.standing)).toEqual(['external', 'external']);
    const told = slack.log.lines.filter((line) => line.event === 'slack_scope_missing');
    expect(told).toMatchObject([{ level: 'error', facts: { scope: 'users:read' } }]);
    await slack.close();
  });

  it('does not matter for the history of a thread', async () => {
    const slack = await setUp();
    slack.workspace.fault('users.info', { kind: 'status', status: 500 }, { times: 50 });
    const root = slack.workspace.say('U_GUEST', 'C2', 'hello');
    const surface = slack.adapter.surfaceOf(slack.conversation('C2', root));
    expect(await surface.history(5)).toMatchObject([{ author: 'U_GUEST', text: 'hello' }]);
    await slack.close();
  });

  it('is not made up for what is read back', async () => {
    const slack = await setUp();
    const root = slack.workspace.say('U_ANNA', 'C2', 'root');
    await slack.workspace.until(() => slack.messages().length === 1);
    const { model } = slack.workspace;
    const like = model.messages.find((one) => one.ts === root);
    if (like === undefined) throw new Error('The root is missing.');
    model.messages.push({ ...like, ts: model.nextTs(), user: 'U_GUEST', text: 'missed' });
    slack.workspace.fault('users.info', { kind: 'status', status: 500 });
    const place = { space: 'T_ACME', channel: 'C2', thread: null };
    await expect(slack.adapter.messagesAfter(place, root, 10)).rejects.toMatchObject({
      code: 'surface_unavailable',
    });
    await slack.clock.advance(5_000);
    const missed = await slack.adapter.messagesAfter(place, root, 10);
    expect(missed.map(({ author }) => author.standing)).toEqual(['guest']);
    await slack.close();
  });
});

describe('the standing of who clicked or commanded', () => {
  const line = 'I could not check who you are, please try again.';

  it('is asked for in private when Slack does not tell', async () => {
    const slack = await setUp();
    const { messageId } = await slack.adapter.surfaceOf(slack.conversation('C2', 'none')).post(
      {
        blocks: [
          { kind: 'buttons', buttons: [{ controlId: 'a', label: 'Yes', style: 'plain' }] },
          { kind: 'buttons', buttons: [{ controlId: 'form.a', label: 'Other…', style: 'plain' }] },
        ],
        mentionable: [],
      },
      { key: 'card', maybePosted: false },
    );
    slack.workspace.fault('users.info', { kind: 'status', status: 500 }, { times: 50 });
    slack.workspace.click('U_GUEST', messageId, 'Yes');
    slack.workspace.slash('U_GUEST', 'C2', 'config');
    slack.workspace.click('U_GUEST', messageId, 'Other…');
    await slack.workspace.until(() => slack.workspace.model.views.length === 1);
    slack.workspace.submitForm('U_GUEST', 'words');
    await slack.workspace.until(() => slack.workspace.privateLines('U_GUEST').length === 3);
    expect(slack.workspace.privateLines('U_GUEST')).toEqual([line, line, line]);
    await slack.workspace.settled();
    expect(slack.workspace.deliveries.every((one) => one.isAcknowledged)).toBe(true);
    expect(slack.events).toEqual([]);
    await slack.close();
  });

  it('may take longer than an event may, since it is acknowledged', async () => {
    const slack = await setUp();
    slack.workspace.fault('users.info', { kind: 'slow', ms: 300 });
    slack.workspace.slash('U_GUEST', 'C2', 'status');
    await slack.workspace.until(() => slack.asked() === 1);
    await slack.clock.advance(7_999);
    expect((await slack.first('command')).author.standing).toBe('guest');
    slack.workspace.fault('users.info', { kind: 'slow', ms: 300 });
    slack.workspace.slash('U_ANNA', 'C2', 'status');
    await slack.workspace.until(() => slack.asked() === 2);
    await slack.clock.advance(8_000);
    await slack.workspace.until(() => slack.workspace.privateLines('U_ANNA').length === 1);
    expect(slack.workspace.privateLines('U_ANNA')).toEqual([line]);
    await slack.close();
  });
});
