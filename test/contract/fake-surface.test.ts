/** The fake adapter keeps the contract that it stands in for. */

import type { Conversation } from '../../src/messages/conversation.ts';
import type { Author } from '../../src/messages/people.ts';
import type { InboundFile } from '../../src/surface/inbound.ts';
import { thumbs } from '../../src/surface/outbound.ts';
import { createFakeAdapter, textOfMessage } from '../support/fake-adapter.ts';
import { surfaceContract } from './surface.ts';
import { contractRetryAfterSeconds, type SurfaceHarness } from './surface-harness.ts';

surfaceContract('the fake', openHarness, {
  // No platform stands behind it that would try again.
  redelivery: true,
});

const person = (id: string, name: string): Author => ({
  id: `web:${id}`,
  name,
  isBot: false,
  standing: 'member',
  roles: [],
});

async function openHarness(): Promise<SurfaceHarness> {
  const adapter = createFakeAdapter();
  const [anna, ben] = [person('anna', 'Anna'), person('ben', 'Ben')];
  let fails = false;
  let count = 0;
  let openForm: { readonly cardId: string; readonly controlId: string } | null = null;
  const events: SurfaceHarness['events'][number][] = [];
  await adapter.start(async (event) => {
    if (fails) throw new Error('the store is down');
    events.push(event);
  });

  const next = (prefix: string): string => {
    count += 1;
    return `${prefix}${count}`;
  };
  const placeOf = (inside: Conversation | undefined, id: string, channel = 'general') =>
    inside ?? { adapter: adapter.name, space: 'local', channel, thread: id };
  const say = async (
    author: Author,
    text: string,
    inside: Conversation | undefined,
    more: { mentionsBot?: boolean; addressesOther?: boolean; files?: readonly InboundFile[] } = {},
  ): Promise<{ messageId: string; conversation: Conversation }> => {
    const messageId = next('u');
    const conversation = placeOf(inside, messageId);
    await adapter.say({
      conversation,
      author,
      messageId,
      place: inside ? 'thread' : 'channel',
      text,
      mentionsBot: false,
      addressesOther: false,
      files: [],
      ...more,
    });
    return { messageId, conversation };
  };
  const buttonsOf = (messageId: string) => {
    const blocks = adapter.shown.find((one) => one.messageId === messageId)?.message.blocks ?? [];
    return {
      blocks,
      buttons: blocks.flatMap((one) => (one.kind === 'buttons' ? one.buttons : [])),
      thumbs: blocks.flatMap((one) =>
        one.kind === 'feedback' ? thumbs.map((thumb) => ({ ...one, ...thumb })) : [],
      ),
    };
  };
  const common = (cardId: string) => ({
    eventKey: next('click'),
    conversation: adapter.conversationOf(cardId),
    author: anna,
    at: count,
    cardId,
    interactionId: next('i'),
  });

  return {
    adapter,
    events,
    failStoring: (on) => {
      fails = on;
    },
    person: { id: anna.id, name: anna.name },
    other: { id: ben.id, name: ben.name },
    say: (text, { mention = false, in: inside, file } = {}) => {
      const files = file ? [adapter.addFile(file)] : [];
      return say(anna, text, inside, { mentionsBot: mention, files });
    },
    sayDirect: async (text) => {
      const messageId = next('u');
      const conversation = placeOf(undefined, messageId, 'direct');
      await adapter.say({
        conversation,
        author: anna,
        messageId,
        place: 'direct',
        text,
        mentionsBot: false,
        addressesOther: false,
        files: [],
      });
      return { messageId, conversation };
    },
    sayToPerson: (text, inside) =>
      say(ben, `@${anna.name} ${text}`, inside, { addressesOther: true }),
    edit: (id, text) => adapter.editSaid(id, text),
    remove: (id) => adapter.removeSaid(id),
    redeliver: (id) => adapter.tellAgain(id),
    click: async (cardId, label) => {
      const thumb = buttonsOf(cardId).thumbs.find((one) => one.label === label);
      if (thumb) {
        const { controlId, value } = thumb;
        return adapter.press({ ...common(cardId), kind: 'click', controlId, values: [value] });
      }
      const button = buttonsOf(cardId).buttons.find((one) => one.label === label);
      if (!button) throw new Error(`There is no button ${label}.`);
      const { controlId } = button;
      if (controlId.startsWith('form.')) openForm = { cardId, controlId };
      else await adapter.press({ ...common(cardId), kind: 'click', controlId, values: [] });
    },
    react: (messageId, emoji) => adapter.reactTo(messageId, emoji, anna),
    choose: async (cardId, labels, submitLabel) => {
      for (const block of buttonsOf(cardId).blocks) {
        if (block.kind !== 'choice' || block.submitLabel !== submitLabel) continue;
        const chosen = block.options.filter(({ label }) => labels.includes(label));
        const values = chosen.map(({ value }) => value);
        const { controlId } = block;
        await adapter.press({ ...common(cardId), kind: 'click', controlId, values });
      }
    },
    fillForm: async (text) => {
      if (!openForm) throw new Error('No form is open.');
      await adapter.press({ ...common(openForm.cardId), kind: 'form', ...openForm, text });
    },
    shown: async ({ thread }) => {
      const messages = adapter.shown
        .filter((one) => one.thread === thread)
        .map(({ messageId, message }) => {
          const text = textOfMessage(message);
          const words = text.replace(/`[^`]*`/gu, '');
          const notified = message.mentionable.filter(({ name }) => words.includes(`@${name}`));
          return { messageId, text, notified: notified.map(({ id }) => id), files: [] };
        });
      const files = adapter.uploads
        .filter((one) => one.thread === thread)
        .map(({ messageId, comment, name, content }) => ({
          ...{ messageId, text: comment, notified: [], files: [{ name, content }] },
        }));
      return [...messages, ...files];
    },
    reactionsOn: async (messageId) => adapter.signs.get(messageId) ?? [],
    leastRefusedFileBytes: 1_000_001,
    privateLines: () =>
      Promise.resolve(
        adapter.whispers.filter((line) => line.person === anna.id).map(({ text }) => text),
      ),
    breakNext: (call, how) => {
      const fault = { call, nth: 1 } as const;
      switch (how) {
        case 'rate_limited':
          return adapter.fail({
            ...fault,
            code: 'rate_limited',
            retryAfterMs: contractRetryAfterSeconds * 1000,
          });
        case 'server_error':
          return adapter.fail({ ...fault, code: 'surface_unavailable' });
        case 'answer_lost':
          return adapter.fail({ ...fault, code: 'surface_unavailable', afterEffect: true });
        case 'uneditable':
          return adapter.fail({ ...fault, code: 'message_uneditable' });
      }
    },
    close: () => adapter.stop(),
  };
}
