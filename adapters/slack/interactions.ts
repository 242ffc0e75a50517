/**
 * Clicks, forms and slash commands. Slack has its acknowledgement before this runs. A button
 * `form.<id>` is answered with a modal at once, without asking anybody: its trigger lives 3 s.
 */

import type { types } from '@slack/bolt';
import { z } from 'zod';
import type { Clock } from '../../src/base/clock.ts';
import type { NewId } from '../../src/base/ids.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import { cutToUnits, firstWords } from '../../src/base/text.ts';
import type { Author } from '../../src/messages/people.ts';
import type { OnEvent } from '../../src/surface/adapter.ts';
import { noThread } from '../../src/surface/inbound.ts';
import { isChoiceGroup } from './draw.ts';
import { slackWordOf } from './errors.ts';
import { plainOfSlack } from './from-mrkdwn.ts';
import type { Inbound } from './inbound.ts';
import type { Names } from './names.ts';
import type { ResponseBook } from './response-book.ts';
import type { CallSlack } from './web-api.ts';
import {
  type BlockActions,
  blockActionsSchema,
  type SlackPerson,
  type SlashCommand,
  slashCommandSchema,
  type ViewSubmission,
  viewSubmissionSchema,
} from './wire.ts';

export interface Interactions {
  /** Never rejects: what cannot be stored is told to the person. */
  handle(body: unknown): Promise<void>;
}

const formPrefix = 'form.';
const mostInputChars = 3_000;
/** An interaction is acknowledged already and comes only once, so its look-up may take its time. */
const mostAuthorWaitMs = 8_000;

/** What a modal carries from the click that opened it to its submit. */
const formMetadataSchema = z.object({
  controlId: z.string(),
  channel: z.string(),
  thread: z.string(),
  cardId: z.string(),
  interactionId: z.string(),
});
type FormMetadata = z.infer<typeof formMetadataSchema>;

const bodySchema = z.union([blockActionsSchema, viewSubmissionSchema, slashCommandSchema]);

export function createInteractions(deps: {
  readonly call: CallSlack;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  readonly names: Names;
  readonly inbound: Inbound;
  readonly book: ResponseBook;
  readonly onEvent: OnEvent;
  /** A line that only this person sees. */
  whisper(place: Place, userId: string, markdown: string, interactionId: string): Promise<void>;
}): Interactions {
  const { call, clock, log, names, inbound, book } = deps;

  const tell = async (
    place: Place,
    userId: string,
    markdown: string,
    interactionId: string,
  ): Promise<void> => {
    try {
      await deps.whisper(place, userId, markdown, interactionId);
    } catch (error) {
      log.warn('slack_whisper_failed', errorFacts(error));
    }
  };

  /** Who acted; null where Slack does not say it, which the person is told. */
  const authorOf = async (
    person: SlackPerson,
    place: Place,
    interactionId: string,
  ): Promise<Author | null> => {
    const name = person.username ?? person.name;
    const hints = name === undefined ? {} : { name };
    try {
      return await inbound.authorOf(person.id, { ...hints, mostWaitMs: mostAuthorWaitMs });
    } catch (error) {
      log.warn('slack_author_unknown', errorFacts(error));
      const line = 'I could not check who you are, please try again.';
      await tell(place, person.id, line, interactionId);
      return null;
    }
  };

  const openForm = async (
    click: BlockActions,
    action: BlockActions['actions'][number],
    place: Place,
    interactionId: string,
  ): Promise<void> => {
    const metadata: FormMetadata = {
      controlId: action.action_id,
      channel: place.channel,
      thread: place.thread,
      cardId: place.cardId,
      interactionId,
    };
    const card = plainOfSlack(click.message?.text ?? '');
    const view: types.ModalView = {
      type: 'modal',
      callback_id: 'form',
      title: { type: 'plain_text', text: cutToUnits(action.text?.text ?? 'Answer', 24) },
      submit: { type: 'plain_text', text: 'Send' },
      close: { type: 'plain_text', text: 'Cancel' },
      private_metadata: JSON.stringify(metadata),
      blocks: [
        {
          type: 'input',
          block_id: 'form',
          label: { type: 'plain_text', text: firstWords(card, 200) || 'Your answer' },
          element: {
            type: 'plain_text_input',
            action_id: 'text',
            multiline: true,
            max_length: mostInputChars,
          },
        },
      ],
    };
    try {
      await call('views.open', { trigger_id: click.trigger_id, view }, z.unknown());
    } catch (error) {
      log.warn('slack_form_failed', errorFacts(error));
      const isLate = slackWordOf(error) === 'expired_trigger_id';
      const line = isLate
        ? 'That took too long to open. Please click again.'
        : 'The form could not be opened. Please click again.';
      await tell(place, click.user.id, line, interactionId);
    }
  };

  const clicked = async (click: BlockActions): Promise<void> => {
    const place = placeOfClick(click);
    if (place === null) {
      log.warn('slack_click_unplaced');
      return;
    }
    for (const action of click.actions) {
      // Ticking a box is no answer yet: the submit button sends what is ticked.
      if (isChoiceGroup(action.action_id)) continue;
      const interactionId = deps.newId('interaction');
      book.keep(interactionId, click.response_url, place.thread);
      if (action.action_id.startsWith(formPrefix)) {
        await openForm(click, action, place, interactionId);
        continue;
      }
      const author = await authorOf(click.user, place, interactionId);
      if (author === null) continue;
      const save = async (): Promise<void> => {
        await deps.onEvent({
          kind: 'click',
          eventKey: `slack:click:${place.channel}:${place.cardId}:${action.action_ts}:${click.user.id}`,
          conversation: inbound.conversationOf(place.channel, { ts: place.thread }),
          author,
          at: clock.now(),
          controlId: action.action_id,
          values: valuesOf(click, action),
          cardId: place.cardId,
          interactionId,
        });
      };
      await saved(save, 'your click', place, click.user.id, interactionId);
    }
  };

  const submitted = async (form: ViewSubmission): Promise<void> => {
    const metadata = formMetadataOf(form);
    if (metadata === null) {
      log.warn('slack_form_unreadable');
      return;
    }
    const author = await authorOf(form.user, metadata, metadata.interactionId);
    if (author === null) return;
    const save = async (): Promise<void> => {
      await deps.onEvent({
        kind: 'form',
        eventKey: `slack:form:${form.view.id}`,
        conversation: inbound.conversationOf(metadata.channel, { ts: metadata.thread }),
        author,
        at: clock.now(),
        controlId: metadata.controlId,
        text: form.view.state.values['form']?.['text']?.value ?? '',
        cardId: metadata.cardId,
        interactionId: metadata.interactionId,
      });
    };
    await saved(save, 'your answer', metadata, form.user.id, metadata.interactionId);
  };

  const commanded = async (command: SlashCommand): Promise<void> => {
    const interactionId = deps.newId('interaction');
    const place: Place = { channel: command.channel_id, thread: noThread, cardId: '' };
    book.keep(interactionId, command.response_url, noThread);
    const person = {
      id: command.user_id,
      ...(command.user_name === undefined ? {} : { name: command.user_name }),
    };
    const author = await authorOf(person, place, interactionId);
    if (author === null) return;
    const save = async (): Promise<void> => {
      const [channel, text] = await Promise.all([
        inbound.channelOf(command.channel_id, undefined, command.channel_name),
        names.markdownOf(command.text),
      ]);
      await deps.onEvent({
        kind: 'command',
        eventKey: `slack:command:${command.trigger_id}`,
        conversation: inbound.conversationOf(command.channel_id, { ts: noThread }),
        author,
        at: clock.now(),
        channelName: channel.name,
        channelKind: channel.kind,
        text: text.trim(),
        interactionId,
      });
    };
    await saved(save, 'your command', place, command.user_id, interactionId);
  };

  const saved = async (
    save: () => Promise<void>,
    what: string,
    place: Place,
    userId: string,
    interactionId: string,
  ): Promise<void> => {
    try {
      await save();
    } catch (error) {
      log.error('slack_interaction_unstored', errorFacts(error));
      await tell(place, userId, `Could not save ${what}, please try again.`, interactionId);
    }
  };

  return {
    handle: async (body) => {
      const parsed = bodySchema.safeParse(body);
      if (!parsed.success) {
        log.debug('slack_interaction_ignored');
        return;
      }
      if ('command' in parsed.data) await commanded(parsed.data);
      else if (parsed.data.type === 'block_actions') await clicked(parsed.data);
      else await submitted(parsed.data);
    },
  };
}

/** Where an interaction happened. */
export interface Place {
  readonly channel: string;
  readonly thread: string;
  readonly cardId: string;
}

function placeOfClick(click: BlockActions): Place | null {
  const channel = click.channel?.id ?? click.container.channel_id;
  const cardId = click.message?.ts ?? click.container.message_ts;
  if (channel === undefined || cardId === undefined) return null;
  const thread = click.message?.thread_ts ?? click.container.thread_ts ?? cardId;
  return { channel, cardId, thread };
}

/** What a thumb says, or what is ticked in the groups of a choice, in the order of its options. */
function valuesOf(
  click: BlockActions,
  { type, action_id: controlId, value }: BlockActions['actions'][number],
): string[] {
  if (type === 'feedback_buttons') return value === undefined ? [] : [value];
  return Object.values(click.state?.values ?? {}).flatMap((elements) =>
    Object.entries(elements)
      .filter(([actionId]) => isChoiceGroup(actionId, controlId))
      .flatMap(([, element]) => (element.selected_options ?? []).map((option) => option.value)),
  );
}

function formMetadataOf(form: ViewSubmission): FormMetadata | null {
  try {
    const raw: unknown = JSON.parse(form.view.private_metadata);
    return formMetadataSchema.safeParse(raw).data ?? null;
  } catch {
    return null;
  }
}
