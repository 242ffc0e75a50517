/**
 * Slack's own streaming: a message that grows by appending, with cards for the tools.
 * https://docs.slack.dev/reference/methods/chat.startStream , appendStream, stopStream.
 */

import type { types } from '@slack/bolt';
import { z } from 'zod';
import { BotError, isBotError } from '../../src/base/errors.ts';
import type { Log } from '../../src/base/log.ts';
import { cutToUnits } from '../../src/base/text.ts';
import type { Conversation } from '../../src/messages/conversation.ts';
import type { Mentionable } from '../../src/messages/people.ts';
import type { Block, PostedMessage } from '../../src/surface/outbound.ts';
import type { MessageStream, StreamPiece, StreamTask } from '../../src/surface/surface.ts';
import { drawMessage, joinedMarkdown } from './draw.ts';
import { slackWordOf } from './errors.ts';
import type { SlackSettings } from './settings.ts';
import type { CallSlack } from './web-api.ts';
import type { SlackMessage } from './wire.ts';

/** Whether answers stream; shared by all threads of a workspace. */
export interface Streaming {
  isOn(): boolean;
  /** Slack refused a stream with this word. */
  refused(word: string): void;
}

export interface StreamDeps {
  readonly call: CallSlack;
  readonly streaming: Streaming;
  /** A message of the bot in this thread. */
  findOwn(isIt: (message: SlackMessage) => boolean): Promise<PostedMessage | null>;
}

/** The server closes a stream after about 5 minutes (seen, not promised). */
const mostAgeMs = 225_000;
const mostTitleUnits = 150;
/** Clocks differ: a message may seem a little older than its call. */
const clockSkewMs = 5_000;

/** About this person or place: the next thread may stream. */
const aboutPlace = new Set([
  'missing_recipient_team_id',
  'missing_recipient_user_id',
  'user_not_found',
  'method_not_supported_for_channel_type',
]);

const startedSchema = z.object({ ts: z.string() });

export function createStreaming(
  deps: { readonly log: Log },
  mode: NonNullable<SlackSettings['streaming']>,
): Streaming {
  let isRefused = false;
  return {
    isOn: () => mode === 'native' || (mode === 'auto' && !isRefused),
    refused: (word) => {
      deps.log.info('slack_stream_unavailable', { word });
      isRefused ||= !aboutPlace.has(word);
    },
  };
}

export function createMessageStream(
  deps: StreamDeps,
  { space, channel, thread }: Conversation,
): MessageStream {
  const { call, streaming } = deps;
  const isDirect = channel.startsWith('D');

  /** A stream carries no key of ours: it is the bot's message there that has none. */
  const findStarted = (begunAt: number): Promise<PostedMessage | null> =>
    deps.findOwn(
      ({ ts, metadata, subtype }) =>
        metadata === undefined &&
        subtype === undefined &&
        Number(ts) * 1000 >= begunAt - clockSkewMs,
    );

  const begin = async (piece: StreamPiece, person: string | undefined): Promise<PostedMessage> => {
    const recipient =
      isDirect || person === undefined
        ? {}
        : { recipient_user_id: person.replace(/^slack:/u, ''), recipient_team_id: space };
    const args = { channel, thread_ts: thread, task_display_mode: 'timeline', ...recipient };
    try {
      const { ts } = await call(
        'chat.startStream',
        { ...args, chunks: chunksOf(piece) },
        startedSchema,
      );
      return { messageId: ts };
    } catch (error) {
      throw unavailable(error) ?? error;
    }
  };

  /** A refusal of streams as such; undefined for what any message would meet. */
  const unavailable = (error: unknown): BotError | undefined => {
    const word = slackWordOf(error);
    const isAboutStreams =
      isBotError(error, 'message_refused', 'message_uneditable') || word === 'missing_scope';
    if (word === null || !isAboutStreams) return undefined;
    streaming.refused(word);
    return new BotError('stream_unavailable', `Slack takes no streams here (${word}).`, {
      facts: { word },
      cause: error,
    });
  };

  return {
    mostAgeMs,
    drawn: drawnText,
    start: async (piece, { maybePosted, begunAt, to }) => {
      const earlier = maybePosted ? await findStarted(begunAt) : null;
      return earlier ?? (await begin(piece, to));
    },
    append: async (ts, piece) => {
      await call('chat.appendStream', { channel, ts, chunks: chunksOf(piece) }, z.unknown());
    },
    stop: async (ts, piece, foot) => {
      const chunks = chunksOf(piece);
      const { blocks } = drawMessage(foot);
      const args = {
        ...{ channel, ts },
        ...(chunks.length === 0 ? {} : { chunks }),
        ...(blocks.length === 0 ? {} : { blocks }),
      };
      await call('chat.stopStream', args, z.unknown());
    },
  };
}

/** The Markdown blocks of a message as one text. */
function drawnText(blocks: readonly Block[], mentionable: readonly Mentionable[]): string {
  const texts = blocks.flatMap((block) => (block.kind === 'markdown' ? [block.text] : []));
  return joinedMarkdown(texts, mentionable);
}

const statuses = {
  pending: 'pending',
  running: 'in_progress',
  done: 'complete',
  failed: 'error',
} as const;

function chunksOf({ text, tasks }: StreamPiece): types.AnyChunk[] {
  return [
    ...tasks.map(taskChunk),
    ...(text === '' ? [] : [{ type: 'markdown_text' as const, text }]),
  ];
}

function taskChunk({ id, title, state }: StreamTask): types.TaskUpdateChunk {
  const shown = cutToUnits(title.replaceAll('`', ''), mostTitleUnits);
  return { type: 'task_update', id, title: shown, status: statuses[state] };
}
