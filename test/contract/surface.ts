/**
 * The contract of adapters and surfaces, as one suite. A platform gives a harness: its real adapter
 * connected to an emulator, and ways to act as people and to look at what they see.
 */

import { describe, expect, it } from 'vitest';
import { isBotError } from '../../src/base/errors.ts';
import type { Conversation } from '../../src/messages/conversation.ts';
import type { PersonId } from '../../src/messages/people.ts';
import type { Adapter } from '../../src/surface/adapter.ts';
import {
  type InboundEvent,
  type InboundMessage,
  storedEventSchema,
} from '../../src/surface/inbound.ts';
import type { Block, OutboundMessage } from '../../src/surface/outbound.ts';
import { until } from '../support/until.ts';

export interface ShownMessage {
  readonly messageId: string;
  /** What people read: texts, small lines and labels of controls. */
  readonly text: string;
  /** Who it notifies: person ids, or `everyone` for any broadcast. */
  readonly notified: readonly string[];
}

export interface Said {
  readonly messageId: string;
  readonly conversation: Conversation;
}

export interface SurfaceHarness {
  /** Started. */
  readonly adapter: Adapter;
  /** What was stored, in order. */
  readonly events: readonly InboundEvent[];
  /** Storing rejects from now on, or works again. */
  failStoring(on: boolean): void;
  /** Who speaks and clicks, and somebody else of the same place. */
  readonly person: { readonly id: PersonId; readonly name: string };
  readonly other: { readonly id: PersonId; readonly name: string };
  /** The person says something: at top level of the common channel, or in a conversation. */
  say(
    text: string,
    options?: {
      readonly mention?: boolean;
      readonly in?: Conversation;
      readonly file?: {
        readonly name: string;
        readonly mediaType: string;
        readonly content: string;
      };
    },
  ): Promise<Said>;
  /** The person writes to the bot alone. Never called where the gap `direct` is named. */
  sayDirect(text: string): Promise<Said>;
  /** The other person says something to the person, in a conversation. */
  sayToPerson(text: string, conversation: Conversation): Promise<Said>;
  edit(messageId: string, text: string): Promise<void>;
  remove(messageId: string): Promise<void>;
  /** The same message is delivered again. */
  redeliver(messageId: string): Promise<void>;
  click(messageId: string, label: string): Promise<void>;
  choose(messageId: string, labels: readonly string[], submitLabel: string): Promise<void>;
  /** Fills the form that is open for the person. */
  fillForm(text: string): Promise<void>;
  /** The bot's messages in a conversation, oldest first. */
  shown(conversation: Conversation): Promise<readonly ShownMessage[]>;
  /** Lines that only the person sees. */
  privateLines(): Promise<readonly string[]>;
  /** Breaks the next call of this kind. `answer_lost`: it takes effect, but nobody hears of it. */
  breakNext(
    call: 'post' | 'edit',
    how: 'rate_limited' | 'server_error' | 'answer_lost' | 'uneditable',
  ): void;
  close(): Promise<void>;
}

/** What a platform does not have; each names a part of the suite that is left out. */
export interface SurfaceGaps {
  /** Events that could not be stored are sent again by the platform. */
  readonly redelivery?: true;
  /** Calls can be refused or lost: not where the surface is in our own process. */
  readonly failures?: true;
  /** Direct messages. */
  readonly direct?: true;
  /** A message that is too long for the platform is refused. */
  readonly length?: true;
}

/** Seconds in the answers of `breakNext(…, 'rate_limited')`. */
export const contractRetryAfterSeconds = 7;

const markdown = (
  text: string,
  mentionable: OutboundMessage['mentionable'] = [],
): OutboundMessage => ({ blocks: [{ kind: 'markdown', text }], mentionable });

const key = (name: string): { readonly key: string; readonly maybePosted: boolean } => ({
  key: name,
  maybePosted: false,
});

export function surfaceContract(
  name: string,
  open: () => Promise<SurfaceHarness>,
  gaps: SurfaceGaps = {},
): void {
  const using = (test: (harness: SurfaceHarness) => Promise<void>) => async (): Promise<void> => {
    const harness = await open();
    try {
      await test(harness);
    } finally {
      await harness.close();
    }
  };

  const heard = async (harness: SurfaceHarness, messageId: string): Promise<InboundMessage> => {
    const find = (): InboundMessage | undefined =>
      harness.events.find(
        (event): event is InboundMessage =>
          event.kind === 'message' && event.messageId === messageId,
      );
    await until(() => find() !== undefined);
    const found = find();
    if (found === undefined) throw new Error('The message did not come.');
    return found;
  };

  const eventOf = async <Kind extends InboundEvent['kind']>(
    harness: SurfaceHarness,
    kind: Kind,
  ): Promise<Extract<InboundEvent, { kind: Kind }>> => {
    const isKind = (event: InboundEvent): event is Extract<InboundEvent, { kind: Kind }> =>
      event.kind === kind;
    await until(() => harness.events.some(isKind));
    const found = harness.events.find(isKind);
    if (found === undefined) throw new Error(`No ${kind} came.`);
    return found;
  };

  const mentioned = async (harness: SurfaceHarness): Promise<InboundMessage> => {
    const said = await harness.say('hello', { mention: true });
    return await heard(harness, said.messageId);
  };

  describe(`${name}: what people say`, () => {
    it(
      'is connected and names its spaces',
      using(async ({ adapter }) => {
        expect(adapter.state().connected).toBe(true);
        expect(adapter.state().detail).not.toBe('');
        expect(adapter.spaces().length).toBeGreaterThan(0);
      }),
    );

    it(
      'tells a mention once, its leading mention off, as a valid event',
      using(async (harness) => {
        const message = await mentioned(harness);
        expect(storedEventSchema.parse(message)).toEqual(message);
        expect(message).toMatchObject({
          text: 'hello',
          mentionsBot: true,
          addressesOther: false,
          place: 'channel',
        });
        expect(message.author).toMatchObject({
          id: harness.person.id,
          name: harness.person.name,
          isBot: false,
          standing: 'member',
        });
        expect(message.channelName).not.toBe('');
        expect(new Set(harness.events.map(keyOf)).size).toBe(
          new Set(harness.events.map(messageIdOf)).size,
        );
      }),
    );

    it(
      'keeps one conversation for a message and what is said under it',
      using(async (harness) => {
        const root = await mentioned(harness);
        const { conversation } = root;
        await harness.adapter.surfaceOf(conversation, 'hello').post(markdown('answer'), key('k1'));
        const reply = await harness.say('and then?', { in: conversation });
        const followUp = await heard(harness, reply.messageId);
        expect(followUp.conversation).toEqual(conversation);
        expect(followUp).toMatchObject({ place: 'thread', mentionsBot: false, text: 'and then?' });
      }),
    );

    it(
      'sees that a message speaks to somebody else',
      using(async (harness) => {
        const { conversation } = await mentioned(harness);
        await harness.adapter.surfaceOf(conversation).post(markdown('answer'), key('k1'));
        const said = await harness.sayToPerson('can you look?', conversation);
        const message = await heard(harness, said.messageId);
        expect(message).toMatchObject({ addressesOther: true, mentionsBot: false });
        expect(message.text).toContain(`@${harness.person.name}`);
      }),
    );

    it(
      'gives the same key to every delivery of a message',
      using(async (harness) => {
        const message = await mentioned(harness);
        const before = harness.events.length;
        await harness.redeliver(message.messageId);
        await until(() => harness.events.length > before);
        for (const event of harness.events) expect(keyOf(event)).toBe(message.eventKey);
      }),
    );

    it(
      'tells an edit and a deletion of the message',
      using(async (harness) => {
        const message = await mentioned(harness);
        await harness.edit(message.messageId, 'goodbye');
        const edited = await eventOf(harness, 'message_edited');
        expect(edited).toMatchObject({
          messageId: message.messageId,
          conversation: message.conversation,
          text: 'goodbye',
        });
        await harness.remove(message.messageId);
        const deleted = await eventOf(harness, 'message_deleted');
        expect(deleted).toMatchObject({
          messageId: message.messageId,
          conversation: message.conversation,
        });
        expect(new Set([message.eventKey, edited.eventKey, deleted.eventKey]).size).toBe(3);
      }),
    );

    it(
      'reads back what was said after a message, with the same keys',
      using(async (harness) => {
        const first = await mentioned(harness);
        const second = await harness.say('second', { mention: true });
        const third = await harness.say('third');
        const live = await heard(harness, second.messageId);
        const { space, channel } = first.conversation;
        const place = { space, channel, thread: null };
        const both = await harness.adapter.messagesAfter(place, first.messageId, 10);
        expect(both.map((message) => message.messageId)).toEqual([
          second.messageId,
          third.messageId,
        ]);
        expect(both[0]).toEqual(live);
        const one = await harness.adapter.messagesAfter(place, first.messageId, 1);
        expect(one.map((message) => message.messageId)).toEqual([second.messageId]);
        expect(await harness.adapter.messagesAfter(place, third.messageId, 10)).toEqual([]);
      }),
    );

    it(
      'reads a file that came with a message, up to a limit',
      using(async (harness) => {
        const said = await harness.say('see file', {
          mention: true,
          file: { name: 'a.csv', mediaType: 'text/csv', content: '0123456789' },
        });
        const { files, conversation } = await heard(harness, said.messageId);
        const [file] = files;
        expect(file).toMatchObject({ name: 'a.csv', bytes: 10 });
        if (file === undefined) return;
        const surface = harness.adapter.surfaceOf(conversation);
        expect(Buffer.from(await surface.download(file, 10)).toString()).toBe('0123456789');
        await expect(surface.download(file, 9)).rejects.toSatisfy((error: unknown) =>
          isBotError(error, 'message_too_long'),
        );
      }),
    );

    if (gaps.direct !== true) {
      it(
        'hears a direct message and answers in its conversation',
        using(async (harness) => {
          const said = await harness.sayDirect('just us');
          const message = await heard(harness, said.messageId);
          expect(message).toMatchObject({
            place: 'direct',
            channelKind: 'direct',
            text: 'just us',
            conversation: said.conversation,
          });
          const surface = harness.adapter.surfaceOf(said.conversation);
          const { messageId } = await surface.post(markdown('yes'), key('k1'));
          const shown = await harness.shown(said.conversation);
          expect(shown.map((one) => one.messageId)).toEqual([messageId]);
        }),
      );
    }

    if (gaps.redelivery !== true) {
      it(
        'gets a message again that could not be stored',
        using(async (harness) => {
          harness.failStoring(true);
          const said = await harness.say('hello', { mention: true });
          harness.failStoring(false);
          expect((await heard(harness, said.messageId)).text).toBe('hello');
        }),
      );
    }
  });

  describe(`${name}: what the bot shows`, () => {
    it(
      'posts, edits and removes a message',
      using(async (harness) => {
        const { conversation } = await mentioned(harness);
        const surface = harness.adapter.surfaceOf(conversation);
        const { messageId } = await surface.post(markdown('one **bold**'), key('k1'));
        expect((await harness.shown(conversation)).map((shown) => shown.messageId)).toEqual([
          messageId,
        ]);
        expect((await harness.shown(conversation))[0]?.text).toContain('bold');
        await surface.edit(messageId, markdown('two'));
        expect((await harness.shown(conversation))[0]?.text).toContain('two');
        expect((await harness.shown(conversation))[0]?.text).not.toContain('one');
        await surface.remove(messageId);
        expect(await harness.shown(conversation)).toEqual([]);
        await surface.remove(messageId);
        await expect(surface.edit(messageId, markdown('three'))).rejects.toSatisfy(
          (error: unknown) => isBotError(error, 'message_gone'),
        );
      }),
    );

    it(
      'posts one key once',
      using(async (harness) => {
        const { conversation } = await mentioned(harness);
        const surface = harness.adapter.surfaceOf(conversation);
        const first = await surface.post(markdown('once'), { key: 'k.1', maybePosted: true });
        const again = await surface.post(markdown('once'), { key: 'k.1', maybePosted: true });
        const other = await surface.post(markdown('other'), { key: 'k.2', maybePosted: true });
        expect(again).toEqual(first);
        expect(other).not.toEqual(first);
        expect(await harness.shown(conversation)).toHaveLength(2);
      }),
    );

    it(
      'shows every kind of block and takes controls away again',
      using(async (harness) => {
        const { conversation } = await mentioned(harness);
        const surface = harness.adapter.surfaceOf(conversation);
        const blocks: readonly Block[] = [
          { kind: 'markdown', text: 'The **answer**.' },
          { kind: 'activity', text: 'Grep `timeout` in logs/*' },
          { kind: 'notice', text: 'Stopped by Anna.' },
          { kind: 'buttons', buttons: [{ controlId: 'a.1', label: 'Go on', style: 'primary' }] },
        ];
        const { messageId } = await surface.post({ blocks, mentionable: [] }, key('k1'));
        const text = (await harness.shown(conversation))[0]?.text ?? '';
        for (const words of ['answer', 'timeout', 'Stopped by Anna.', 'Go on']) {
          expect(text).toContain(words);
        }
        await surface.edit(messageId, markdown('done'));
        const after = (await harness.shown(conversation))[0]?.text ?? '';
        expect(after).toContain('done');
        expect(after).not.toContain('Go on');
      }),
    );

    it(
      'notifies nobody but known people',
      using(async (harness) => {
        const { conversation } = await mentioned(harness);
        const surface = harness.adapter.surfaceOf(conversation);
        const id = harness.other.id.slice(harness.other.id.indexOf(':') + 1);
        const text =
          `@everyone @here <!channel> <!here> <!subteam^S1> <@${id}> <@&900> ` +
          `@${harness.other.name} \`<!here> @${harness.other.name}\``;
        const posted = await surface.post(markdown(text), key('k1'));
        const notifiedNow = async (): Promise<readonly string[]> =>
          (await harness.shown(conversation)).find((one) => one.messageId === posted.messageId)
            ?.notified ?? ['not shown'];
        expect(await notifiedNow()).toEqual([]);
        await surface.edit(posted.messageId, markdown(`${text} again`));
        expect(await notifiedNow()).toEqual([]);
        await surface.edit(
          posted.messageId,
          markdown(`hi @${harness.other.name}, @everyone`, [harness.other]),
        );
        expect(await notifiedNow()).toEqual([harness.other.id]);
      }),
    );

    it(
      'takes a message up to the length it names',
      using(async (harness) => {
        const { conversation } = await mentioned(harness);
        const { capabilities } = harness.adapter;
        const surface = harness.adapter.surfaceOf(conversation);
        const words = 'word '.repeat(capabilities.mostMessageLength).trim();
        const fitting = words.slice(0, capabilities.mostMessageLength);
        expect(capabilities.lengthOf(fitting)).toBe(capabilities.mostMessageLength);
        const { messageId } = await surface.post(markdown(fitting), key('k1'));
        await surface.edit(messageId, markdown(fitting));
        expect((await harness.shown(conversation))[0]?.text).toContain(fitting);
      }),
    );

    if (gaps.length !== true) {
      it(
        'says that a message is too long, and shows nothing of it',
        using(async (harness) => {
          const { conversation } = await mentioned(harness);
          const surface = harness.adapter.surfaceOf(conversation);
          const long = 'word '.repeat(harness.adapter.capabilities.mostMessageLength);
          await expect(surface.post(markdown(long), key('k1'))).rejects.toMatchObject({
            code: 'message_too_long',
          });
          expect(await harness.shown(conversation)).toEqual([]);
        }),
      );
    }

    it(
      'reads the thread, oldest first, the newest most, the root included',
      using(async (harness) => {
        const root = await mentioned(harness);
        const { conversation } = root;
        const surface = harness.adapter.surfaceOf(conversation);
        const { messageId } = await surface.post(markdown('the answer'), key('k1'));
        const reply = await harness.say('thanks', { in: conversation });
        const all = await surface.history(50);
        expect(all.map((message) => message.messageId)).toEqual([
          root.messageId,
          messageId,
          reply.messageId,
        ]);
        expect(all.map((message) => message.authorIsSelf)).toEqual([false, true, false]);
        expect(all[0]).toMatchObject({ author: harness.person.name });
        expect(all[0]?.text).toContain('hello');
        expect(all[1]?.text).toContain('the answer');
        expect(all[2]?.text).toBe('thanks');
        const newest = await surface.history(2);
        expect(newest).toHaveLength(2);
        expect(newest.at(-1)?.messageId).toBe(reply.messageId);
      }),
    );

    it(
      'shows signs without ever failing',
      using(async (harness) => {
        const { conversation, messageId } = await mentioned(harness);
        const surface = harness.adapter.surfaceOf(conversation);
        await surface.status('working');
        await surface.status('idle');
        await surface.react(messageId, 'waiting', true);
        await surface.react(messageId, 'waiting', true);
        await surface.react(messageId, 'waiting', false);
        await surface.react(messageId, 'waiting', false);
        await surface.react('1', 'waiting', true);
        expect(await harness.shown(conversation)).toEqual([]);
      }),
    );

    it(
      'whispers to one person without a word in the thread',
      using(async (harness) => {
        const { conversation } = await mentioned(harness);
        const surface = harness.adapter.surfaceOf(conversation);
        await surface.whisper(harness.person.id, 'Only for you.');
        expect(await harness.privateLines()).toEqual([expect.stringContaining('Only for you.')]);
        const texts = (await harness.shown(conversation)).map((shown) => shown.text);
        expect(texts.join('\n')).not.toContain('Only for you.');
      }),
    );
  });

  describe(`${name}: controls`, () => {
    it(
      'tells a click with its card, and answers it privately',
      using(async (harness) => {
        const { conversation } = await mentioned(harness);
        const surface = harness.adapter.surfaceOf(conversation);
        const card = await surface.post(
          {
            blocks: [
              { kind: 'markdown', text: 'Which?' },
              {
                kind: 'buttons',
                buttons: [
                  { controlId: 'q1.a', label: '1. Blue', style: 'primary' },
                  { controlId: 'q1.b', label: '2. Red', style: 'plain' },
                  { controlId: 'q1.c', label: '3. None', style: 'danger' },
                ],
              },
            ],
            mentionable: [],
          },
          key('k1'),
        );
        await harness.click(card.messageId, '2. Red');
        const click = await eventOf(harness, 'click');
        expect(storedEventSchema.parse(click)).toEqual(click);
        expect(click).toMatchObject({
          controlId: 'q1.b',
          values: [],
          cardId: card.messageId,
          conversation,
        });
        expect(click.author).toMatchObject({ id: harness.person.id, name: harness.person.name });
        await surface.whisper(harness.person.id, 'Noted: Red.', click.interactionId);
        expect(await harness.privateLines()).toEqual([expect.stringContaining('Noted: Red.')]);
      }),
    );

    it(
      'tells two clicks apart',
      using(async (harness) => {
        const { conversation } = await mentioned(harness);
        const buttons = [{ controlId: 'q1.a', label: 'Yes', style: 'plain' as const }];
        const card = await harness.adapter
          .surfaceOf(conversation)
          .post({ blocks: [{ kind: 'buttons', buttons }], mentionable: [] }, key('k1'));
        await harness.click(card.messageId, 'Yes');
        await harness.click(card.messageId, 'Yes');
        const keys = (): string[] =>
          harness.events.filter((event) => event.kind === 'click').map((event) => event.eventKey);
        await until(() => keys().length === 2);
        expect(new Set(keys()).size).toBe(2);
      }),
    );

    it(
      'tells a choice only when it is sent, with all its values',
      using(async (harness) => {
        const { conversation } = await mentioned(harness);
        const card = await harness.adapter.surfaceOf(conversation).post(
          {
            blocks: [
              { kind: 'markdown', text: 'Which ones?' },
              {
                kind: 'choice',
                controlId: 'q2',
                options: [
                  { value: 'v1', label: '1. Tea' },
                  { value: 'v2', label: '2. Milk' },
                  { value: 'v3', label: '3. Water' },
                ],
                submitLabel: 'Send',
              },
            ],
            mentionable: [],
          },
          key('k1'),
        );
        await harness.choose(card.messageId, ['1. Tea', '3. Water'], 'Send');
        const click = await eventOf(harness, 'click');
        expect(click).toMatchObject({ controlId: 'q2', cardId: card.messageId });
        expect(click.values).toEqual(['v1', 'v3']);
        expect(harness.events.filter((event) => event.kind === 'click')).toHaveLength(1);
      }),
    );

    it(
      'opens a form on a click and tells its text',
      using(async (harness) => {
        const { conversation } = await mentioned(harness);
        const buttons = [{ controlId: 'form.q3', label: 'Other…', style: 'plain' as const }];
        const card = await harness.adapter.surfaceOf(conversation).post(
          {
            blocks: [
              { kind: 'markdown', text: 'What colour?' },
              { kind: 'buttons', buttons },
            ],
            mentionable: [],
          },
          key('k1'),
        );
        await harness.click(card.messageId, 'Other…');
        await harness.fillForm('something green\nand more');
        const form = await eventOf(harness, 'form');
        expect(storedEventSchema.parse(form)).toEqual(form);
        expect(form).toMatchObject({
          controlId: 'form.q3',
          text: 'something green\nand more',
          cardId: card.messageId,
          conversation,
        });
        expect(form.author.id).toBe(harness.person.id);
        expect(harness.events.filter((event) => event.kind === 'click')).toEqual([]);
      }),
    );

    it(
      'tells the person when a click cannot be stored',
      using(async (harness) => {
        const { conversation } = await mentioned(harness);
        const buttons = [{ controlId: 'q1.a', label: 'Yes', style: 'plain' as const }];
        const card = await harness.adapter
          .surfaceOf(conversation)
          .post({ blocks: [{ kind: 'buttons', buttons }], mentionable: [] }, key('k1'));
        harness.failStoring(true);
        await harness.click(card.messageId, 'Yes');
        await until(async () => (await harness.privateLines()).length > 0);
        expect((await harness.privateLines())[0]).toContain('please try again');
        expect(harness.events.filter((event) => event.kind === 'click')).toEqual([]);
      }),
    );
  });

  if (gaps.failures !== true) {
    describe(`${name}: what goes wrong`, () => {
      it.each(['post', 'edit'] as const)(
        'says how long to wait when %s is limited, and does not try again',
        async (call) => {
          await using(async (harness) => {
            const { conversation } = await mentioned(harness);
            const surface = harness.adapter.surfaceOf(conversation);
            const { messageId } = await surface.post(markdown('one'), key('k1'));
            harness.breakNext(call, 'rate_limited');
            const attempt =
              call === 'post'
                ? surface.post(markdown('two'), key('k2'))
                : surface.edit(messageId, markdown('two'));
            await expect(attempt).rejects.toMatchObject({
              code: 'rate_limited',
              retryAfterMs: contractRetryAfterSeconds * 1000,
            });
            const texts = (await harness.shown(conversation)).map((shown) => shown.text);
            expect(texts.join()).not.toContain('two');
          })();
        },
      );

      it(
        'does not lose or double a post whose answer was lost',
        using(async (harness) => {
          const { conversation } = await mentioned(harness);
          const surface = harness.adapter.surfaceOf(conversation);
          harness.breakNext('post', 'answer_lost');
          await expect(surface.post(markdown('once'), key('k1'))).rejects.toMatchObject({
            code: 'surface_unavailable',
          });
          const again = await surface.post(markdown('once'), { key: 'k1', maybePosted: true });
          const shown = await harness.shown(conversation);
          expect(shown.map((one) => one.messageId)).toEqual([again.messageId]);
        }),
      );

      it(
        'says that the platform is out, and works again after it',
        using(async (harness) => {
          const { conversation } = await mentioned(harness);
          const surface = harness.adapter.surfaceOf(conversation);
          const { messageId } = await surface.post(markdown('one'), key('k1'));
          harness.breakNext('edit', 'server_error');
          await expect(surface.edit(messageId, markdown('two'))).rejects.toMatchObject({
            code: 'surface_unavailable',
          });
          await surface.edit(messageId, markdown('two'));
          expect((await harness.shown(conversation))[0]?.text).toContain('two');
        }),
      );

      it(
        'says that a message will never take an edit again',
        using(async (harness) => {
          const { conversation } = await mentioned(harness);
          const surface = harness.adapter.surfaceOf(conversation);
          const { messageId } = await surface.post(markdown('one'), key('k1'));
          harness.breakNext('edit', 'uneditable');
          await expect(surface.edit(messageId, markdown('two'))).rejects.toMatchObject({
            code: 'message_uneditable',
          });
        }),
      );
    });
  }

  describe(`${name}: the end`, () => {
    it(
      'stops within 5 s and takes nothing more',
      using(async (harness) => {
        await mentioned(harness);
        const before = harness.events.length;
        const started = Date.now();
        await harness.adapter.stop();
        expect(Date.now() - started).toBeLessThan(5_000);
        expect(harness.adapter.state().connected).toBe(false);
        await harness.say('too late', { mention: true });
        expect(harness.events).toHaveLength(before);
      }),
    );
  });
}

function keyOf(event: InboundEvent): string {
  return event.kind === 'gap' ? 'gap' : event.eventKey;
}

function messageIdOf(event: InboundEvent): string {
  return 'messageId' in event ? event.messageId : event.kind;
}
