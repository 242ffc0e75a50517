/** The page keeps the contract of adapters and surfaces, over real HTTP. */

import { z } from 'zod';
import { surfaceContract } from '../../contract/surface.ts';
import type { SurfaceHarness } from '../../contract/surface-harness.ts';
import {
  buttonsOf,
  createPageClient,
  type PageState,
  textOfPageMessage,
  wordsOutsideCode,
} from '../../support/page-client.ts';
import { setUp } from './set-up.ts';

surfaceContract('the page', openHarness, {
  // A browser that could not save keeps the text; the person sends it again.
  redelivery: true,
  repeats: true,
  // It is in our own process: nothing on the way refuses, loses or limits.
  failures: true,
  length: true,
  direct: true,
  files: true,
  others: true,
});

const choiceSchema = z.object({
  kind: z.literal('choice'),
  controlId: z.string(),
  options: z.array(z.object({ value: z.string(), label: z.string() })),
  submitLabel: z.string(),
});

async function openHarness(): Promise<SurfaceHarness> {
  const page = await setUp();
  const client = createPageClient(`http://127.0.0.1:${page.port}/`);
  let openForm: { readonly messageId: string; readonly controlId: string } | null = null;

  const messageOf = async (id: string): Promise<PageState['messages'][number]> => {
    const found = (await client.state()).messages.find((message) => message.id === id);
    if (!found) throw new Error(`There is no message ${id}.`);
    return found;
  };
  const press = async (body: object): Promise<void> => {
    const status = await client.post('/api/presses', body);
    if (status !== 200) throw new Error(`The press was refused with ${status}.`);
  };

  return {
    adapter: page.adapter,
    events: page.events,
    failStoring: (on) => {
      page.failing = on;
    },
    person: { id: 'web:local', name: 'You' },
    // Nobody else writes here; a name the bot may know from elsewhere.
    other: { id: 'web:ben', name: 'Ben' },
    say: async (text, { mention = false, in: inside } = {}) => {
      const words = mention ? `@deckhand ${text}` : text;
      const messageId = await client.say(inside?.thread ?? null, words);
      const channel = (await client.state()).channels[0]?.id ?? '';
      const place = { adapter: 'web', space: 'local', channel };
      return { messageId, conversation: inside ?? { ...place, thread: messageId } };
    },
    sayDirect: () => Promise.reject(new Error('The page has no direct messages.')),
    sayToPerson: () => Promise.reject(new Error('The page has one person.')),
    edit: async (id, text) => {
      await client.post('/api/edits', { id, text });
    },
    remove: async (id) => {
      await client.post('/api/removals', { id });
    },
    redeliver: () => Promise.reject(new Error('The page delivers once.')),
    click: async (messageId, label) => {
      const { blocks } = await messageOf(messageId);
      const found = blocks.flatMap(buttonsOf).find((button) => button.label === label);
      if (!found) throw new Error(`There is no button ${label}.`);
      const { controlId, values } = found;
      // The browser opens a form by itself and sends it when it is filled.
      if (controlId.startsWith('form.')) openForm = { messageId, controlId };
      else await press({ messageId, controlId, values });
    },
    react: async (id, emoji) => {
      await client.post('/api/reactions', { id, emoji, on: true });
    },
    choose: async (messageId, labels, submitLabel) => {
      const { blocks } = await messageOf(messageId);
      for (const block of blocks) {
        const choice = choiceSchema.safeParse(block);
        if (!choice.success || choice.data.submitLabel !== submitLabel) continue;
        const chosen = choice.data.options.filter(({ label }) => labels.includes(label));
        const values = chosen.map(({ value }) => value);
        await press({ messageId, controlId: choice.data.controlId, values });
      }
    },
    fillForm: async (text) => {
      if (!openForm) throw new Error('No form is open.');
      await press({ ...openForm, text });
    },
    shown: async ({ thread }) =>
      await Promise.all(
        (await client.state()).messages
          .filter((message) => message.thread === thread && message.author === 'bot')
          .filter(({ isPrivate }) => !isPrivate)
          .map(async (message) => ({
            messageId: message.id,
            text: textOfPageMessage(message),
            // What the page marks as a mention; it notifies nobody.
            notified: message.mentionable
              .filter(({ name }) => wordsOutsideCode(message).includes(`@${name}`))
              .map(({ id }) => id),
            files: await Promise.all(
              message.files.map(async ({ id, name }) => ({ name, content: await client.file(id) })),
            ),
          })),
      ),
    reactionsOn: async (id) => (await messageOf(id)).reactions,
    leastRefusedFileBytes: 10 * 1024 * 1024 + 1,
    privateLines: () => client.privateLines(),
    breakNext: () => {
      throw new Error('The page does not fail.');
    },
    close: () => page.close(),
  };
}
