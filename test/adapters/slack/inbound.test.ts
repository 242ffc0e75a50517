/** What people say on Slack, as the bot is told. */

import { describe, expect, it } from 'vitest';
import type { Author } from '../../../src/messages/people.ts';
import type { InboundEvent, InboundMessage } from '../../../src/surface/inbound.ts';
import { markdown, type SlackSetUp, usingSlack as using } from './set-up.ts';

const messagesOf = (events: readonly InboundEvent[]): InboundMessage[] =>
  events.filter((event): event is InboundMessage => event.kind === 'message');

describe('inbound messages', () => {
  it('tells a mention with names resolved and the leading mention off', async () => {
    await using(async (slack) => {
      const { workspace } = slack;
      const ts = workspace.say(
        'U_ANNA',
        'C1',
        `${workspace.mention} ask <@U_BO> in <#C1> &amp; *now*, ${workspace.mention}`,
      );
      expect(await slack.first('message')).toEqual({
        kind: 'message',
        eventKey: `slack:C1:${ts}`,
        conversation: { adapter: 'slack', space: 'T_ACME', channel: 'C1', thread: ts },
        author: { id: 'slack:U_ANNA', name: 'Anna', isBot: false, standing: 'member', roles: [] },
        at: Math.round(Number(ts) * 1000),
        channelName: 'ops',
        channelKind: 'public',
        messageId: ts,
        place: 'channel',
        text: 'ask @Bo Li in #ops & **now**, @deckhand',
        files: [],
        mentionsBot: true,
        addressesOther: false,
      });
    });
  });

  it.each([
    ['@deckhand hello', { mentionsBot: false, addressesOther: false, text: '@deckhand hello' }],
    ['deckhand: hello', { mentionsBot: false, addressesOther: false }],
    ['<@U_BO> please', { mentionsBot: false, addressesOther: true, text: '@Bo Li please' }],
    ['<@U_BO> and <@U_BOT>', { mentionsBot: true, addressesOther: true }],
    ['<!subteam^S1> who is on?', { addressesOther: true, text: '@oncall who is on?' }],
    ['<@U_BOT|deckhand>: !stop', { mentionsBot: true, addressesOther: false, text: '!stop' }],
    ['see <@U_BOT>', { mentionsBot: true, addressesOther: false, text: 'see @deckhand' }],
  ])('takes %j by its ids, not by its look', async (text, expected) => {
    await using(
      async (slack) => {
        slack.workspace.mentionsArriveAs(['message']);
        slack.workspace.say('U_ANNA', 'C1', text);
        expect(await slack.first('message')).toMatchObject(expected);
      },
      { prepare: (workspace) => workspace.addGroup('S1', 'oncall') },
    );
  });

  it('falls back to ids when Slack does not tell names, and still tells the message', async () => {
    await using(async (slack) => {
      const { workspace } = slack;
      workspace.say('U_ANNA', 'C1', 'now she is known');
      await workspace.until(() => slack.events.length === 1);
      for (const method of ['users.info', 'conversations.info', 'usergroups.list']) {
        workspace.fault(method, { kind: 'status', status: 500 }, { times: 50 });
      }
      workspace.addChannel({ id: 'C9', name: 'other', members: ['U_ANNA'] });
      workspace.say('U_ANNA', 'C9', 'hi <@U_BO> <#C9> <!subteam^S1>');
      await workspace.until(() => slack.events.length === 2);
      const message = messagesOf(slack.events)[1];
      expect(message?.text).toBe('hi @U_BO #C9 @S1');
      expect(message?.author).toMatchObject({ name: 'Anna', standing: 'member' });
      expect(message).toMatchObject({ channelName: 'C9', channelKind: 'public' });
    });
  });

  it('does not let a slow look-up of a name hold up the message', async () => {
    await using(async (slack) => {
      slack.workspace.say('U_ANNA', 'C1', 'now she is known');
      await slack.workspace.until(() => slack.events.length === 1);
      slack.workspace.fault('users.info', { kind: 'slow', ms: 2_500 }, { times: 50 });
      slack.workspace.say('U_ANNA', 'C1', 'hello <@U_BO>');
      await slack.workspace.until(() => slack.events.length === 2, 2_300);
      expect(messagesOf(slack.events)[1]?.text).toBe('hello @U_BO');
    });
  });

  it.each<[string, Parameters<SlackSetUp['workspace']['addUser']>[0], Author['standing']]>([
    ['a member', { id: 'U_X', name: 'Xu' }, 'member'],
    ['a guest', { id: 'U_X', name: 'Xu', isGuest: true }, 'guest'],
    ['somebody of another workspace', { id: 'U_X', name: 'Xu', teamId: 'T_OTHER' }, 'external'],
    ['a stranger', { id: 'U_X', name: 'Xu', isStranger: true }, 'external'],
  ])('knows %s', async (_who, user, standing) => {
    await using(async (slack) => {
      slack.workspace.addUser(user);
      slack.workspace.say('U_X', 'C1', 'hello');
      expect((await slack.first('message')).author).toMatchObject({ name: 'Xu', standing });
    });
  });

  it('takes somebody of another workspace as such when Slack does not tell', async () => {
    await using(async (slack) => {
      slack.workspace.addUser({ id: 'U_X', name: 'Xu', teamId: 'T_OTHER' });
      slack.workspace.fault('users.info', { kind: 'refused', word: 'user_not_visible' });
      slack.workspace.say('U_X', 'C1', 'hello');
      expect((await slack.first('message')).author.standing).toBe('external');
    });
  });

  it('knows public, private and direct places', async () => {
    await using(async (slack) => {
      const { workspace } = slack;
      workspace.addChannel({ id: 'C2', name: 'secret', kind: 'group', members: ['U_ANNA'] });
      workspace.addChannel({ id: 'C3', name: 'three', kind: 'mpim', members: ['U_ANNA'] });
      const direct = workspace.directWith('U_ANNA');
      for (const channel of ['C1', 'C2', 'C3', direct]) workspace.say('U_ANNA', channel, 'hello');
      await workspace.until(() => slack.events.length === 4);
      const kinds = messagesOf(slack.events).map((event) => `${event.channelKind} ${event.place}`);
      expect(kinds.sort()).toEqual([
        'direct direct',
        'private channel',
        'private channel',
        'public channel',
      ]);
    });
  });

  it('tells a mention in a private channel that comes as app_mention only as private', async () => {
    await using(async (slack) => {
      slack.workspace.addChannel({ id: 'C2', name: 'secret', kind: 'group', members: ['U_ANNA'] });
      slack.workspace.fault('conversations.info', { kind: 'status', status: 500 }, { times: 9 });
      slack.workspace.mentionsArriveAs(['app_mention']);
      slack.workspace.say('U_ANNA', 'C2', `${slack.workspace.mention} hello`);
      expect(await slack.first('message')).toMatchObject({ channelKind: 'private' });
    });
  });

  it('tells other bots as bots and never its own posts or their edits', async () => {
    await using(async (slack) => {
      const { workspace } = slack;
      workspace.addUser({ id: 'U_ALERT', name: 'alerts', isBot: true });
      const surface = slack.adapter.surfaceOf(slack.conversation('C1', 'none'));
      const own = await surface.post(markdown('hello <@U_BOT>'), { key: 'k1', maybePosted: false });
      await surface.edit(own.messageId, markdown('hello again'));
      await surface.remove(own.messageId);
      workspace.sendEvent({
        type: 'message',
        subtype: 'bot_message',
        channel: 'C1',
        channel_type: 'channel',
        bot_id: 'B_HOOK',
        username: 'Build',
        text: '',
        attachments: [{ fallback: 'Build failed' }],
        ts: '1700000000.000100',
      });
      workspace.sendEvent({
        ...{ type: 'message', channel: 'C1', channel_type: 'channel', ts: '1700000000.000200' },
        ...{ bot_id: 'B_ANOTHER_NAME_OF_US', app_id: 'A_BOT', text: 'posted by our own app' },
      });
      workspace.say('U_ALERT', 'C1', 'disk full');
      await workspace.until(() => slack.events.length === 2);
      await workspace.settled();
      expect(
        messagesOf(slack.events).map(({ author, text }) => [author.id, author.name, text]),
      ).toEqual(
        expect.arrayContaining([
          ['slack:B_HOOK', 'Build', 'Build failed'],
          ['slack:U_ALERT', 'alerts', 'disk full'],
        ]),
      );
      expect(messagesOf(slack.events).every(({ author }) => author.isBot)).toBe(true);
    });
  });

  it('stores what was said in one channel in its order, however long the look-ups take', async () => {
    await using(async (slack) => {
      const { workspace } = slack;
      workspace.fault('users.info', { kind: 'slow', ms: 150 });
      const first = workspace.say('U_ANNA', 'C1', 'first');
      workspace.say('U_ALERT', 'C1', 'second');
      workspace.deleteMessage(first);
      await workspace.until(() => slack.events.length === 3);
      expect(slack.events.map((event) => event.kind)).toEqual([
        'message',
        'message',
        'message_deleted',
      ]);
      expect(messagesOf(slack.events).map((event) => event.text)).toEqual(['first', 'second']);
    });
  });

  it('takes a preview for no edit, and an edit for one', async () => {
    await using(async (slack) => {
      const { workspace } = slack;
      const ts = workspace.say('U_ANNA', 'C1', 'see https://example.com');
      workspace.unfurl(ts);
      workspace.editMessage(ts, `${workspace.mention} see *this*`);
      const edit = await slack.first('message_edited');
      await workspace.settled();
      expect(slack.events.filter((event) => event.kind === 'message_edited')).toEqual([edit]);
      expect(edit.eventKey).toMatch(new RegExp(`^slack:C1:${ts}:edit:[0-9.]+$`, 'u'));
      expect(edit).toMatchObject({ text: 'see **this**', author: { id: 'slack:U_ANNA' } });
    });
  });

  it('takes the tombstone of a root with replies for a deletion', async () => {
    await using(async (slack) => {
      const { workspace } = slack;
      const root = workspace.say('U_ANNA', 'C1', 'root');
      const reply = workspace.say('U_ANNA', 'C1', 'reply', { thread: root });
      workspace.deleteMessage(root);
      workspace.deleteMessage(reply);
      await workspace.until(
        () => slack.events.filter((event) => event.kind === 'message_deleted').length === 2,
      );
      const deletions = slack.events.filter((event) => event.kind === 'message_deleted');
      expect(deletions.map((event) => [event.messageId, event.conversation.thread])).toEqual([
        [root, root],
        [reply, root],
      ]);
    });
  });

  it("takes Slack's stop button for the stop command", async () => {
    await using(async (slack) => {
      slack.workspace.pressStop('U_ANNA', 'C1', '1700.1');
      expect(await slack.first('command')).toMatchObject({
        text: 'stop',
        conversation: { channel: 'C1', thread: '1700.1' },
        author: { id: 'slack:U_ANNA' },
      });
    });
  });

  it('acknowledges and drops what it cannot read', async () => {
    await using(async (slack) => {
      slack.workspace.sendEvent({ type: 'message', channel: 'C1', text: 'no ts' });
      slack.workspace.sendEvent({ type: 'reaction_added', user: 'U_ANNA' });
      await slack.workspace.settled();
      expect(slack.workspace.deliveries.map((one) => [one.isAcknowledged, one.attempts])).toEqual([
        [true, 1],
        [true, 1],
      ]);
      expect(slack.events).toEqual([]);
    });
  });
});
