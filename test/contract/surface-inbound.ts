/** Contract of adapters: what people say, as it is told. */

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

export const inboundCases: readonly SurfaceCase[] = [
  {
    name: 'is connected and names its spaces',
    run: async ({ adapter }) => {
      expect(adapter.state().connected).toBe(true);
      expect(adapter.state().detail).not.toBe('');
      expect(adapter.spaces().length).toBeGreaterThan(0);
    },
  },
  {
    name: 'tells a mention once, its leading mention off, as a valid event',
    run: async (harness) => {
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
      expect(new Set(harness.events.map(keyOf))).toEqual(new Set([message.eventKey]));
    },
  },
  {
    name: 'keeps one conversation for a message and what is said under it',
    run: async (harness) => {
      const root = await mentioned(harness);
      const { conversation } = root;
      await harness.adapter.surfaceOf(conversation, 'hello').post(markdown('answer'), key('k1'));
      const reply = await harness.say('and then?', { in: conversation });
      const followUp = await heard(harness, reply.messageId);
      expect(followUp.conversation).toEqual(conversation);
      expect(followUp).toMatchObject({ place: 'thread', mentionsBot: false, text: 'and then?' });
    },
  },
  {
    name: 'sees that a message speaks to somebody else',
    needs: 'others',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      await harness.adapter.surfaceOf(conversation).post(markdown('answer'), key('k1'));
      const said = await harness.sayToPerson('can you look?', conversation);
      const message = await heard(harness, said.messageId);
      expect(message).toMatchObject({ addressesOther: true, mentionsBot: false });
      expect(message.text).toContain(`@${harness.person.name}`);
    },
  },
  {
    name: 'gives the same key to every delivery of a message',
    needs: 'repeats',
    run: async (harness) => {
      const message = await mentioned(harness);
      const before = harness.events.length;
      await harness.redeliver(message.messageId);
      await until(() => harness.events.length > before);
      for (const event of harness.events) expect(keyOf(event)).toBe(message.eventKey);
    },
  },
  {
    name: 'tells an edit and a deletion of the message',
    run: async (harness) => {
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
    },
  },
  {
    name: 'reads back what was said after a message, with the same keys',
    run: async (harness) => {
      const first = await mentioned(harness);
      const second = await harness.say('second', { mention: true });
      const third = await harness.say('third');
      const live = await heard(harness, second.messageId);
      const { space, channel } = first.conversation;
      const place = { space, channel, thread: null };
      const both = await harness.adapter.messagesAfter(place, first.messageId, 10);
      expect(both.map((message) => message.messageId)).toEqual([second.messageId, third.messageId]);
      expect(both[0]).toEqual(live);
      const one = await harness.adapter.messagesAfter(place, first.messageId, 1);
      expect(one.map((message) => message.messageId)).toEqual([second.messageId]);
      expect(await harness.adapter.messagesAfter(place, third.messageId, 10)).toEqual([]);
    },
  },
  {
    name: 'reads a file that came with a message, up to a limit',
    needs: 'files',
    run: async (harness) => {
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
      await expect(surface.download(file, 9)).rejects.toMatchObject({ code: 'message_too_long' });
    },
  },
  {
    name: 'hears a direct message and answers in its conversation',
    needs: 'direct',
    run: async (harness) => {
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
    },
  },
  {
    name: 'gets a message again that could not be stored',
    needs: 'redelivery',
    run: async (harness) => {
      harness.failStoring(true);
      const said = await harness.say('hello', { mention: true });
      harness.failStoring(false);
      expect((await heard(harness, said.messageId)).text).toBe('hello');
    },
  },
];
