/** Contract of surfaces: files that the bot posts, signs on messages, and reading the channel. */

import { expect } from 'vitest';
import type { OutboundFile } from '../../src/surface/outbound.ts';
import {
  contractRetryAfterSeconds,
  heard,
  key,
  markdown,
  mentioned,
  type SurfaceCase,
} from './surface-harness.ts';

const bytes = Uint8Array.from({ length: 2_000 }, (_, index) => (index * 7) % 256);
const textFile = (name: string, text: string, comment?: string): OutboundFile => ({
  name,
  content: Buffer.from(text),
  ...(comment === undefined ? {} : { comment }),
});

export const fileCases: readonly SurfaceCase[] = [
  {
    name: 'posts a file into the thread, byte for byte, with its line',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      const file = { name: 'chart.bin', content: bytes, comment: 'The chart of May' };
      const { messageId } = await surface.upload(file, key('f1'));
      const shown = await harness.shown(conversation);
      expect(shown.map((one) => one.messageId)).toEqual([messageId]);
      expect(shown[0]?.text).toContain('The chart of May');
      expect(shown[0]?.files.map((one) => one.name)).toEqual(['chart.bin']);
      expect(Buffer.from(shown[0]?.files[0]?.content ?? []).equals(bytes)).toBe(true);
    },
  },
  {
    name: 'posts a file without a line, and removes it',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      const { messageId } = await surface.upload(textFile('notes.md', '# Notes\n'), key('f1'));
      expect((await harness.shown(conversation))[0]?.files).toHaveLength(1);
      await surface.remove(messageId);
      expect(await harness.shown(conversation)).toEqual([]);
    },
  },
  {
    name: 'posts a file of one key once, and another key again',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      const file = textFile('a.txt', 'the same');
      const first = await surface.upload(file, { key: 'f.1', maybePosted: true });
      const again = await surface.upload(file, { key: 'f.1', maybePosted: true });
      const other = await surface.upload(file, { key: 'f.2', maybePosted: true });
      expect(again).toEqual(first);
      expect(other).not.toEqual(first);
      expect(await harness.shown(conversation)).toHaveLength(2);
    },
  },
  {
    name: 'notifies nobody by a file’s line or name',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      const id = harness.other.id.slice(harness.other.id.indexOf(':') + 1);
      const loud = `@everyone @here <!channel> <!subteam^S1> <@${id}> <@&900> @${harness.other.name}`;
      await surface.upload(textFile('@everyone <!here>.txt', 'x', loud), key('f1'));
      const [shown] = await harness.shown(conversation);
      expect(shown?.notified).toEqual([]);
      expect(shown?.text).toContain(harness.other.name);
    },
  },
  {
    name: 'takes a name of a path and of hidden characters for a plain name',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      await surface.upload(textFile('../etc/report\u202Efdp.exe', 'x'), key('f1'));
      const [shown] = await harness.shown(conversation);
      expect(shown?.files.map(({ name }) => name)).toEqual(['.._etc_report_fdp.exe']);
    },
  },
  {
    name: 'says that a file is too large, and shows nothing of it',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      const large = new Uint8Array(harness.leastRefusedFileBytes);
      await expect(
        surface.upload({ name: 'large.bin', content: large }, key('f1')),
      ).rejects.toMatchObject({ code: 'message_too_long' });
      expect(await harness.shown(conversation)).toEqual([]);
      const fitting = { name: 'fits.bin', content: large.subarray(1) };
      await surface.upload(fitting, key('f2'));
      expect(await harness.shown(conversation)).toHaveLength(1);
    },
  },
  {
    name: 'says how long to wait when a file is limited, and does not try again',
    needs: 'failures',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      harness.breakNext('upload', 'rate_limited');
      await expect(surface.upload(textFile('a.txt', 'a'), key('f1'))).rejects.toMatchObject({
        code: 'rate_limited',
        retryAfterMs: contractRetryAfterSeconds * 1000,
      });
      expect(await harness.shown(conversation)).toEqual([]);
    },
  },
  {
    name: 'does not lose or double a file whose answer was lost',
    needs: 'failures',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      harness.breakNext('upload', 'answer_lost');
      await expect(surface.upload(textFile('a.txt', 'a'), key('f1'))).rejects.toMatchObject({
        code: 'surface_unavailable',
      });
      const options = { key: 'f1', maybePosted: true };
      const again = await surface.upload(textFile('a.txt', 'a'), options);
      const shown = await harness.shown(conversation);
      expect(shown.map((one) => one.messageId)).toEqual([again.messageId]);
    },
  },
  {
    name: 'puts an emoji of the list on a message and takes it off',
    run: async (harness) => {
      const { conversation, messageId } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      const sign = { emoji: '🎉' };
      expect(await surface.react(messageId, sign, true)).toBe(true);
      expect(await surface.react(messageId, sign, true)).toBe(true);
      expect(await harness.reactionsOn(messageId)).toEqual(['🎉']);
      expect(await surface.react(messageId, sign, false)).toBe(true);
      expect(await surface.react(messageId, sign, false)).toBe(true);
      expect(await harness.reactionsOn(messageId)).toEqual([]);
    },
  },
  {
    name: 'says that an emoji was not put on',
    run: async (harness) => {
      const { conversation, messageId } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      expect(await surface.react(messageId, { emoji: '🦑' }, true)).toBe(false);
      expect(await surface.react(messageId, { emoji: 'tada' }, true)).toBe(false);
      expect(await surface.react('1', { emoji: '🎉' }, true)).toBe(false);
      expect(await harness.reactionsOn(messageId)).toEqual([]);
    },
  },
  {
    name: 'says that the platform refused an emoji',
    needs: 'failures',
    run: async (harness) => {
      const { conversation, messageId } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      harness.breakNext('react', 'server_error');
      expect(await surface.react(messageId, { emoji: '👍' }, true)).toBe(false);
      expect(await harness.reactionsOn(messageId)).toEqual([]);
    },
  },
  {
    name: 'reads the newest of the channel, without what was said in threads',
    run: async (harness) => {
      const first = await mentioned(harness);
      const { conversation } = first;
      const surface = harness.adapter.surfaceOf(conversation);
      await surface.post(markdown('an answer'), key('k1'));
      await harness.say('in the thread', { in: conversation });
      const second = await harness.say('second');
      const third = await harness.say('third');
      await heard(harness, third.messageId);
      const all = await surface.channelHistory(50);
      const ids = [first.messageId, second.messageId, third.messageId];
      expect(all.map((message) => message.messageId)).toEqual(ids);
      expect(all.at(-1)).toMatchObject({
        author: harness.person.name,
        authorIsSelf: false,
        text: 'third',
      });
      const newest = await surface.channelHistory(2);
      expect(newest.map((message) => message.messageId)).toEqual(ids.slice(1));
    },
  },
  {
    name: 'reads a direct message as its history',
    needs: 'direct',
    run: async (harness) => {
      const said = await harness.sayDirect('just us');
      await heard(harness, said.messageId);
      const surface = harness.adapter.surfaceOf(said.conversation);
      await surface.post(markdown('yes'), key('k1'));
      const history = await surface.history(10);
      expect(history.map(({ text }) => text)).toEqual(['just us', 'yes']);
      expect(await surface.channelHistory(10)).toEqual(history);
    },
  },
];
