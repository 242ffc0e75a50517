/** Contract of surfaces: buttons, choices and forms. */

import { expect } from 'vitest';
import { storedEventSchema } from '../../src/surface/inbound.ts';
import { until } from '../support/until.ts';
import {
  eventOf,
  heard,
  key,
  keyOf,
  markdown,
  mentioned,
  type SurfaceCase,
} from './surface-harness.ts';

export const controlCases: readonly SurfaceCase[] = [
  {
    name: 'tells a click with its card, and answers it privately',
    run: async (harness) => {
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
    },
  },
  {
    name: 'tells two clicks apart',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const buttons = [{ controlId: 'q1.a', label: 'Yes', style: 'plain' as const }];
      const card = await harness.adapter
        .surfaceOf(conversation)
        .post({ blocks: [{ kind: 'buttons', buttons }], mentionable: [] }, key('k1'));
      await harness.click(card.messageId, 'Yes');
      await harness.click(card.messageId, 'Yes');
      const keys = (): string[] =>
        harness.events.filter((event) => event.kind === 'click').map(keyOf);
      await until(() => keys().length === 2);
      expect(new Set(keys()).size).toBe(2);
    },
  },
  {
    name: 'tells a choice only when it is sent, with all its values',
    run: async (harness) => {
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
    },
  },
  {
    name: 'opens a form on a click and tells its text',
    run: async (harness) => {
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
    },
  },
  {
    name: 'tells which thumb was pressed',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const card = await harness.adapter.surfaceOf(conversation).post(
        {
          blocks: [
            { kind: 'markdown', text: 'An answer.' },
            { kind: 'feedback', controlId: 'run.feedback.run_1' },
          ],
          mentionable: [],
        },
        key('k1'),
      );
      const [shown] = await harness.shown(conversation);
      expect(shown?.text).toMatch(/An answer\.\n\[👍\] \[👎\]/u);
      await harness.click(card.messageId, '👎');
      const click = await eventOf(harness, 'click');
      expect(storedEventSchema.parse(click)).toEqual(click);
      const { messageId: cardId } = card;
      expect(click).toMatchObject({ controlId: 'run.feedback.run_1', values: ['bad'], cardId });
    },
  },
  {
    name: 'tells an X that somebody puts on a message: theirs, or the bot’s in a thread',
    run: async (harness) => {
      const { conversation, messageId } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      const posted = await surface.post(markdown('An answer.'), key('k1'));
      await surface.react(messageId, { emoji: '❌' }, true);
      await harness.react(posted.messageId, '❌');
      await harness.react(messageId, '❌');
      const reactions = () => harness.events.filter((event) => event.kind === 'reaction');
      await until(() => reactions().length === 2);
      const { adapter, space, channel } = conversation;
      for (const reaction of reactions()) {
        expect(storedEventSchema.parse(reaction)).toEqual(reaction);
        expect(reaction).toMatchObject({
          place: { adapter, space, channel },
          author: { id: harness.person.id, name: harness.person.name, isBot: false },
          emoji: '❌',
        });
      }
      // The channel and its thread may be told beside each other.
      const ids = reactions().map((reaction) => reaction.messageId);
      expect(new Set(ids)).toEqual(new Set([posted.messageId, messageId]));
      expect(new Set(reactions().map(keyOf)).size).toBe(2);
    },
  },
  {
    name: 'tells an X in a direct message',
    needs: 'direct',
    run: async (harness) => {
      const { messageId, conversation } = await harness.sayDirect('hello');
      await heard(harness, messageId);
      await harness.react(messageId, '❌');
      const reaction = await eventOf(harness, 'reaction');
      expect(reaction).toMatchObject({
        messageId,
        author: { id: harness.person.id, name: harness.person.name, isBot: false },
      });
      expect(reaction.place.adapter).toBe(conversation.adapter);
    },
  },
  {
    name: 'tells the person when a click cannot be stored',
    run: async (harness) => {
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
    },
  },
];
