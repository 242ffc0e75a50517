/** Contract of surfaces: what the bot shows. */

import { expect } from 'vitest';
import type { Block } from '../../src/surface/outbound.ts';
import { key, markdown, mentioned, type SurfaceCase } from './surface-harness.ts';

export const outboundCases: readonly SurfaceCase[] = [
  {
    name: 'posts, edits and removes a message',
    run: async (harness) => {
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
      await expect(surface.edit(messageId, markdown('three'))).rejects.toMatchObject({
        code: 'message_gone',
      });
    },
  },
  {
    name: 'posts one key once',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      const first = await surface.post(markdown('once'), { key: 'k.1', maybePosted: true });
      const again = await surface.post(markdown('once'), { key: 'k.1', maybePosted: true });
      const other = await surface.post(markdown('other'), { key: 'k.2', maybePosted: true });
      expect(again).toEqual(first);
      expect(other).not.toEqual(first);
      expect(await harness.shown(conversation)).toHaveLength(2);
    },
  },
  {
    name: 'shows every kind of block and takes controls away again',
    run: async (harness) => {
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
    },
  },
  {
    name: 'notifies nobody but known people',
    run: async (harness) => {
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
    },
  },
  {
    name: 'takes a message up to the length it names',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const { capabilities } = harness.adapter;
      const surface = harness.adapter.surfaceOf(conversation);
      const words = 'word '.repeat(capabilities.mostMessageLength).trim();
      const fitting = words.slice(0, capabilities.mostMessageLength);
      expect(capabilities.lengthOf(fitting)).toBe(capabilities.mostMessageLength);
      const { messageId } = await surface.post(markdown(fitting), key('k1'));
      await surface.edit(messageId, markdown(fitting));
      // Drawn Markdown does not show a space at its end.
      expect((await harness.shown(conversation))[0]?.text).toContain(fitting.trim());
    },
  },
  {
    name: 'says that a message is too long, and shows nothing of it',
    needs: 'length',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      const long = 'word '.repeat(harness.adapter.capabilities.mostMessageLength);
      await expect(surface.post(markdown(long), key('k1'))).rejects.toMatchObject({
        code: 'message_too_long',
      });
      expect(await harness.shown(conversation)).toEqual([]);
    },
  },
  {
    name: 'reads the thread, oldest first, the newest most, the root included',
    run: async (harness) => {
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
    },
  },
  {
    name: 'shows signs without ever failing',
    run: async (harness) => {
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
    },
  },
  {
    name: 'whispers to one person without a word in the thread',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      await surface.whisper(harness.person.id, 'Only for you.');
      expect(await harness.privateLines()).toEqual([expect.stringContaining('Only for you.')]);
      const texts = (await harness.shown(conversation)).map((shown) => shown.text);
      expect(texts.join('\n')).not.toContain('Only for you.');
    },
  },
];
