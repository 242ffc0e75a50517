/** Public bug reports about events: one message, one key, one conversation. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { conversationKeyOf } from '../../../src/messages/conversation.ts';
import type { InboundEvent, InboundMessage } from '../../../src/surface/inbound.ts';
import { readCase } from './cases.ts';
import { markdown, type SetUpOptions, usingSlack as using } from './set-up.ts';

/** The channels and people that the public cases speak of. */
const caseOptions: SetUpOptions = {
  prepare: (workspace) => {
    workspace.addUser({ id: 'U_ALICE', name: 'Alice' });
    workspace.addUser({ id: 'U_BOB', name: 'Bob' });
    workspace.model.channels.set('D1', {
      id: 'D1',
      name: 'U_ALICE',
      kind: 'im',
      members: new Set(['U_ALICE', workspace.model.bot.userId]),
      isArchived: false,
    });
  },
};
const eventSchema = z.record(z.string(), z.unknown());

const messagesOf = (events: readonly InboundEvent[]): InboundMessage[] =>
  events.filter((event): event is InboundMessage => event.kind === 'message');

describe('public bug reports about events', () => {
  const sequences = z.object({
    input: z.object({
      sequences: z.array(
        z.array(z.object({ event: eventSchema, retry_num: z.number().optional() })),
      ),
    }),
    expected: z.object({ runsPerSequence: z.array(z.number()) }),
  });

  it.each(['B039', 'B040', 'B043'])('%s: one key for what is one message', async (id) => {
    await using(async (slack) => {
      const { input, expected } = readCase(id, sequences);
      const counts: number[] = [];
      for (const sequence of input.sequences) {
        slack.events.length = 0;
        for (const { event } of sequence) slack.workspace.sendEvent(event);
        await slack.workspace.settled();
        counts.push(new Set(messagesOf(slack.events).map((event) => event.eventKey)).size);
      }
      expect(counts).toEqual(expected.runsPerSequence);
      expect(slack.workspace.deliveries.every((delivery) => delivery.isAcknowledged)).toBe(true);
    }, caseOptions);
  });

  it('B040: takes a delivery whatever its retry number', async () => {
    await using(async (slack) => {
      const ts = slack.workspace.say('U_ANNA', 'C1', 'hello');
      await slack.workspace.settled();
      slack.workspace.redeliver(ts, 3);
      await slack.workspace.settled();
      expect(new Set(messagesOf(slack.events).map((event) => event.eventKey)).size).toBe(1);
      expect(slack.events).toHaveLength(4);
    });
  });

  it('B043: a file without words is a message with a file', async () => {
    await using(async (slack) => {
      const { input } = readCase('B043', sequences);
      slack.workspace.sendEvent(input.sequences[0]?.[0]?.event ?? {});
      const message = await slack.first('message');
      expect(message).toMatchObject({
        text: '',
        place: 'direct',
        files: [{ id: 'F1', name: 'a.csv', mediaType: 'text/csv' }],
      });
    }, caseOptions);
  });

  it('B045: a reply belongs to the conversation of its root', async () => {
    await using(async (slack) => {
      const { input, expected } = readCase(
        'B045',
        z.object({
          input: z.object({ sequence: z.array(z.object({ event: eventSchema })) }),
          expected: z.object({ replyThreadTs: z.string() }),
        }),
      );
      for (const { event } of input.sequence) {
        slack.workspace.sendEvent(event);
        await slack.workspace.settled();
      }
      const threads = messagesOf(slack.events).map((event) => event.conversation.thread);
      expect(threads).toEqual([1, 2, 3].map(() => expected.replyThreadTs));
    }, caseOptions);
  });

  it('B048: other bots are told as bots, own words are not told', async () => {
    await using(async (slack) => {
      const { workspace } = slack;
      workspace.addUser({ id: 'U_OTHERBOT', name: 'otherbot', isBot: true });
      const root = workspace.say('U_ANNA', 'C1', `${workspace.mention} hello`);
      const surface = slack.adapter.surfaceOf(slack.conversation('C1', root));
      workspace.say('U_OTHERBOT', 'C1', 'Thanks!', { thread: root });
      await surface.post(markdown('You are welcome'), { key: 'k1', maybePosted: false });
      workspace.say('U_OTHERBOT', 'C1', `${workspace.mention} please check`, { thread: root });
      await workspace.settled();
      const byText = new Map(messagesOf(slack.events).map((event) => [event.text, event]));
      expect([...byText.keys()].sort()).toEqual(['Thanks!', 'hello', 'please check']);
      expect(byText.get('Thanks!')).toMatchObject({ author: { isBot: true }, mentionsBot: false });
      expect(byText.get('please check')).toMatchObject({
        author: { isBot: true },
        mentionsBot: true,
      });
    });
  });

  it('B049: edits of the own messages are not told', async () => {
    await using(async (slack) => {
      const { input, expected } = readCase(
        'B049',
        z.object({
          input: z.object({ sequence: z.array(z.object({ event: eventSchema })) }),
          expected: z.object({ runs: z.number() }),
        }),
      );
      for (const { event } of input.sequence) slack.workspace.sendEvent(event);
      await slack.workspace.settled();
      expect(slack.events).toHaveLength(expected.runs);
    }, caseOptions);
  });

  it.each(['B052', 'B054'])('%s: one conversation key', async (id) => {
    await using(async (slack) => {
      const { input, expected } = readCase(
        id,
        z.object({
          input: z.object({ events: z.array(eventSchema) }),
          expected: z.object({
            keysEqual: z.array(z.tuple([z.number(), z.number()])),
            mustNotContain: z.array(z.string()).default([]),
          }),
        }),
      );
      const keys: string[] = [];
      for (const event of input.events) {
        slack.events.length = 0;
        slack.workspace.sendEvent(event);
        keys.push(conversationKeyOf((await slack.first('message')).conversation));
      }
      for (const [a, b] of expected.keysEqual) expect(keys[a]).toBe(keys[b]);
      for (const word of expected.mustNotContain) expect(keys.join()).not.toContain(word);
    }, caseOptions);
  });

  it('B052: thread_ts equal to ts is top level', async () => {
    await using(async (slack) => {
      const event = { type: 'message', channel: 'C1', channel_type: 'channel', user: 'U_ANNA' };
      slack.workspace.sendEvent({ ...event, text: 'one', ts: '1.1', thread_ts: '1.1' });
      expect((await slack.first('message')).place).toBe('channel');
    });
  });

  it('B053: the answer to a direct message goes under that message', async () => {
    await using(async (slack) => {
      const { workspace } = slack;
      const direct = workspace.directWith('U_ANNA');
      const first = workspace.say('U_ANNA', direct, 'first');
      const second = workspace.say('U_ANNA', direct, 'second');
      await workspace.until(() => slack.events.length === 2);
      for (const event of messagesOf(slack.events)) {
        await slack.adapter
          .surfaceOf(event.conversation)
          .post(markdown(`to ${event.text}`), { key: `k.${event.text}`, maybePosted: false });
      }
      const answers = workspace.ofBot(direct).map((message) => [message.text, message.threadTs]);
      expect(answers).toEqual(
        expect.arrayContaining([
          ['to first', first],
          ['to second', second],
        ]),
      );
    });
  });
});
