/**
 * Clicks, choices, forms and slash commands. Discord has its answer before anything else happens
 * (3 s, receiving-and-responding): a button `form.<id>` is answered with its form, everything else
 * with a deferral; then the event is stored.
 */

import type { Clock } from '../../src/base/clock.ts';
import type { NewId } from '../../src/base/ids.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import { cutToUnits, firstWords } from '../../src/base/text.ts';
import type { Conversation } from '../../src/messages/conversation.ts';
import type { Author } from '../../src/messages/people.ts';
import type { OnEvent } from '../../src/surface/adapter.ts';
import type { CommandSummary } from '../../src/surface/command.ts';
import { type InboundEvent, noThread } from '../../src/surface/inbound.ts';
import { choicesFor, commandName } from './commands.ts';
import { isThreadType } from './directory.ts';
import { controlOf } from './draw.ts';
import { isDiscordNumber } from './errors.ts';
import { markdownOfDiscord } from './from-discord.ts';
import { conversationAt, type Inbound, type MessagePlace } from './inbound.ts';
import type { InteractionBook } from './interaction-book.ts';
import type { Members } from './members.ts';
import { ephemeral, type PrivateLine } from './private-line.ts';
import { anyAnswer, type CallDiscord } from './rest.ts';
import {
  type ClickInteraction,
  type CommandInteraction,
  componentTypes,
  type FormInteraction,
  type Interaction,
  interactionSchema,
  type TypingInteraction,
} from './wire.ts';

export interface Interactions {
  /** Never rejects: what cannot be stored is told to the person. */
  handle(raw: unknown): Promise<void>;
}

/** Interaction callback types. */
const callbacks = { deferMessage: 5, deferUpdate: 6, choices: 8, form: 9 } as const;
const unknownInteraction = 10062;
const alreadyAnswered = 40060;
const formPrefix = 'form.';
const mostTitleUnits = 45;
const mostInputUnits = 4_000;
const paragraphStyle = 2;

export function createInteractions(deps: {
  readonly call: CallDiscord;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  readonly inbound: Inbound;
  readonly members: Members;
  readonly book: InteractionBook;
  readonly commands: () => readonly CommandSummary[];
  readonly onEvent: OnEvent;
  readonly whisper: PrivateLine;
}): Interactions {
  const { call, clock, log, inbound, members, book } = deps;

  /** Answers the interaction; false when Discord did not take the answer. */
  const respond = async (
    interaction: Interaction,
    type: number,
    answer?: Readonly<Record<string, unknown>>,
  ): Promise<boolean> => {
    try {
      await call('POST', `/interactions/${interaction.id}/${interaction.token}/callback`, {
        schema: anyAnswer,
        auth: false,
        body: { type, ...(answer === undefined ? {} : { data: answer }) },
      });
      return true;
    } catch (error) {
      const isLate = isDiscordNumber(error, unknownInteraction, alreadyAnswered);
      log[isLate ? 'info' : 'warn']('discord_interaction_unanswered', errorFacts(error));
      return false;
    }
  };

  const keepToken = (interaction: Interaction, isWaiting: boolean): string => {
    const interactionId = deps.newId('interaction');
    const { application_id, token } = interaction;
    book.keep(interactionId, { applicationId: application_id, token, isWaiting });
    return interactionId;
  };

  const authorOf = (interaction: Interaction): Promise<Author> => {
    const user = interaction.member?.user ?? interaction.user;
    if (user === undefined) throw new TypeError('The interaction names nobody.');
    const guildId = interaction.guild_id ?? null;
    if (guildId !== null && interaction.member !== undefined) {
      members.note(guildId, user.id, interaction.member);
    }
    return members.authorOf(guildId, user, false);
  };

  const openForm = async (click: ClickInteraction): Promise<void> => {
    const label = click.message.components
      .flatMap((row) => row.components)
      .find((control) => control.custom_id === click.data.custom_id)?.label;
    const question = markdownOfDiscord(click.message.content, {
      user: () => null,
      role: () => null,
      channel: () => null,
    });
    await respond(click, callbacks.form, {
      custom_id: click.data.custom_id,
      title: cutToUnits(label ?? '', mostTitleUnits) || 'Answer',
      components: [
        {
          type: componentTypes.label,
          label: firstWords(plainOf(question), mostTitleUnits) || 'Your answer',
          component: {
            type: componentTypes.textInput,
            custom_id: 'text',
            style: paragraphStyle,
            required: true,
            max_length: mostInputUnits,
          },
        },
      ],
    });
  };

  const clicked = async (click: ClickInteraction): Promise<void> => {
    if (click.data.custom_id.startsWith(formPrefix)) {
      await openForm(click);
      return;
    }
    await respond(click, callbacks.deferUpdate);
    const interactionId = keepToken(click, false);
    const { controlId, value } = controlOf(click.data.custom_id);
    await saved(click, 'your click', interactionId, async (place) => ({
      kind: 'click',
      eventKey: `discord:interaction:${click.id}`,
      conversation: conversationOfCard(place, click),
      author: await authorOf(click),
      at: clock.now(),
      controlId,
      values: value === null ? inOrder(click) : [value],
      cardId: click.message.id,
      interactionId,
    }));
  };

  const submitted = async (form: FormInteraction): Promise<void> => {
    await respond(form, callbacks.deferUpdate);
    const interactionId = keepToken(form, false);
    await saved(form, 'your answer', interactionId, async (place) => ({
      kind: 'form',
      eventKey: `discord:interaction:${form.id}`,
      conversation: conversationOfCard(place, form),
      author: await authorOf(form),
      at: clock.now(),
      controlId: form.data.custom_id,
      text: fieldText(form),
      cardId: form.message.id,
      interactionId,
    }));
  };

  const commanded = async (command: CommandInteraction): Promise<void> => {
    const isShown = await respond(command, callbacks.deferMessage, { flags: ephemeral });
    const interactionId = keepToken(command, isShown);
    await saved(command, 'your command', interactionId, async (place) => ({
      kind: 'command',
      eventKey: `discord:interaction:${command.id}`,
      conversation: conversationAt(place, noThread),
      author: await authorOf(command),
      at: clock.now(),
      channelName: place.channelName,
      channelKind: place.channelKind,
      ...(await sharedOf(command)),
      text: commandText(command),
      interactionId,
    }));
  };

  /** Nothing is offered where who asks cannot be told in time. */
  const typing = async (typed: TypingInteraction): Promise<void> => {
    try {
      const { space, channel, channelName, channelKind } = await placeOf(typed);
      const place = { adapter: 'discord', space, channel, channelName, channelKind };
      const asker = {
        author: await authorOf(typed),
        place: { ...place, ...(await sharedOf(typed)) },
      };
      const choices = await choicesFor(deps.commands(), typed, asker);
      await respond(typed, callbacks.choices, { choices });
    } catch (error) {
      log.warn('discord_suggestions_failed', errorFacts(error));
    }
  };

  const sharedOf = async (
    command: CommandInteraction | TypingInteraction,
  ): Promise<{ readonly sharedSpaces?: readonly string[] }> => {
    if (command.guild_id !== undefined || command.user === undefined) return {};
    return { sharedSpaces: await members.sharedSpaces(command.user.id) };
  };

  const placeOf = async (interaction: Interaction): Promise<MessagePlace> => {
    const { channel_id, channel, guild_id = null } = interaction;
    const place = await inbound.placeOf(channel_id, guild_id);
    // A thread that Discord did not tell about is known from the interaction itself.
    const parentId = channel?.parent_id ?? null;
    const isThread = channel !== undefined && isThreadType(channel.type) && parentId !== null;
    return isThread && place.thread === null
      ? { ...place, channel: parentId, thread: channel_id }
      : place;
  };

  const saved = async (
    interaction: Interaction,
    what: string,
    interactionId: string,
    eventOf: (place: MessagePlace) => Promise<InboundEvent>,
  ): Promise<void> => {
    let conversation: Conversation | null = null;
    try {
      const place = await placeOf(interaction);
      conversation = conversationAt(place, noThread);
      await deps.onEvent(await eventOf(place));
    } catch (error) {
      log.error('discord_interaction_unstored', errorFacts(error));
      await tellUnsaved(interaction, what, interactionId, conversation);
    }
  };

  const tellUnsaved = async (
    interaction: Interaction,
    what: string,
    interactionId: string,
    conversation: Conversation | null,
  ): Promise<void> => {
    const userId = (interaction.member?.user ?? interaction.user)?.id;
    if (userId === undefined) return;
    const { channel_id, guild_id = null } = interaction;
    const where = conversation ?? {
      adapter: 'discord',
      space: guild_id ?? 'direct',
      channel: channel_id,
      thread: noThread,
    };
    try {
      const line = `Could not save ${what}, please try again.`;
      await deps.whisper(where, userId, line, interactionId);
    } catch (error) {
      log.warn('discord_whisper_failed', errorFacts(error));
    }
  };

  return {
    handle: async (raw) => {
      const parsed = interactionSchema.safeParse(raw);
      if (!parsed.success) {
        log.debug('discord_interaction_ignored');
        return;
      }
      switch (parsed.data.type) {
        case 2:
          if (parsed.data.data.name === commandName) await commanded(parsed.data);
          return;
        case 4:
          await typing(parsed.data);
          return;
        case 3:
          await clicked(parsed.data);
          return;
        case 5:
          await submitted(parsed.data);
      }
    },
  };
}

/** Where there is no thread, a card answers the message that names the conversation. */
function conversationOfCard(
  place: MessagePlace,
  { message }: ClickInteraction | FormInteraction,
): Conversation {
  return conversationAt(place, message.message_reference?.message_id ?? message.id);
}

/** The chosen values in the order of the options, whatever the order of choosing. */
function inOrder(click: ClickInteraction): string[] {
  const options = click.message.components
    .flatMap((row) => row.components)
    .find((control) => control.custom_id === click.data.custom_id)?.options;
  const order = (options ?? []).map((option) => option.value);
  return click.data.values.toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
}

function fieldText(form: FormInteraction): string {
  const fields = form.data.components.flatMap((one) =>
    'component' in one ? [one.component] : one.components,
  );
  return fields.find((field) => field.custom_id === 'text')?.value ?? '';
}

function commandText(command: CommandInteraction): string {
  return command.data.options
    .flatMap((option) => [option.name, ...option.options.map((inner) => String(inner.value ?? ''))])
    .join(' ')
    .trim();
}

/** A form's texts know no styles. */
function plainOf(markdown: string): string {
  return markdown
    .replace(/^(?:-# |#{1,3} |> )/gmu, '')
    .replace(/\*\*|~~|`+/gu, '')
    .replace(/\\(?=[^\p{L}\p{N}\s])/gu, '');
}
