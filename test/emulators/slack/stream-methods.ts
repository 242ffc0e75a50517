/**
 * Messages that grow by appending: chat.startStream, appendStream and stopStream, with what is known
 * of their refusals (https://docs.slack.dev/reference/methods/chat.appendStream and reports).
 */

import { z } from 'zod';
import { json, method } from './arguments.ts';
import { checkedBlocks, Refusal } from './blocks.ts';
import type {
  Json,
  Model,
  SlackChannel,
  StoredMessage,
  StreamRules,
  StreamState,
} from './model.ts';

const mostPieceChars = 12_000;

const chunk = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('markdown_text'), text: z.string().min(1) }),
  z.strictObject({
    type: z.literal('task_update'),
    id: z.string().min(1),
    title: z.string().min(1),
    status: z.enum(['pending', 'in_progress', 'complete', 'error']),
  }),
]);
type Chunk = z.infer<typeof chunk>;
const chunksArg = json(z.array(chunk));

export function createStreamMethods(deps: {
  readonly model: Model;
  readonly rules: StreamRules;
  readonly channelOf: (id: string) => SlackChannel;
  /** A message of the bot in a thread. */
  readonly posted: (channel: SlackChannel, threadTs: string) => StoredMessage;
  readonly own: (channel: string, ts: string) => StoredMessage;
  onEdit(message: StoredMessage, before: string): void;
}): Readonly<Record<string, (args: unknown) => Json>> {
  const { rules } = deps;

  const streaming = (channel: string, ts: string): StoredMessage & { stream: StreamState } => {
    const message = deps.own(channel, ts);
    const { stream } = message;
    if (stream && Date.now() - stream.startedAt >= rules.mostAgeMs) stream.isOpen = false;
    if (!stream?.isOpen) throw new Refusal('message_not_in_streaming_state');
    return { ...message, stream };
  };

  const grow = (stream: StreamState, chunks: readonly Chunk[]): void => {
    const added = chunks.reduce(
      (sum, one) => sum + (one.type === 'markdown_text' ? one.text.length : one.title.length),
      0,
    );
    const isLong = chunks.some(
      (one) => one.type === 'markdown_text' && one.text.length > mostPieceChars,
    );
    if (isLong || stream.chars + added > rules.mostChars) throw new Refusal('msg_too_long');
    stream.chars += added;
    for (const one of chunks) {
      if (one.type === 'markdown_text') stream.text += one.text;
      else stream.tasks.set(one.id, `${marks[one.status]} ${one.title}`);
    }
    stream.shown.push(stream.text);
  };

  const draw = (message: StoredMessage, stream: StreamState, foot: readonly Json[]): void => {
    const tasks = [...stream.tasks.values()];
    message.text = stream.text.slice(0, 3_000);
    message.blocks = [
      ...(tasks.length === 0
        ? []
        : [
            {
              type: 'context',
              elements: tasks.slice(0, 10).map((text) => ({ type: 'mrkdwn', text })),
            },
          ]),
      ...(stream.text === '' ? [] : [{ type: 'markdown', text: stream.text }]),
      ...foot,
    ];
  };

  return {
    'chat.startStream': method(
      z.object({
        channel: z.string(),
        thread_ts: z.string(),
        chunks: chunksArg,
        recipient_user_id: z.string().optional(),
        recipient_team_id: z.string().optional(),
        task_display_mode: z.enum(['timeline', 'plan']).optional(),
      }),
      (args) => {
        const channel = deps.channelOf(args.channel);
        if (channel.isArchived) throw new Refusal('is_archived');
        if (channel.kind !== 'im') {
          if (args.recipient_team_id === undefined) throw new Refusal('missing_recipient_team_id');
          if (args.recipient_user_id === undefined) throw new Refusal('missing_recipient_user_id');
        }
        const chunks = args.chunks ?? [];
        if (chunks.length === 0) throw new Refusal('no_text');
        const stream: StreamState = {
          ...{ startedAt: Date.now(), isOpen: true, text: '', tasks: new Map(), chars: 0 },
          shown: [],
        };
        grow(stream, chunks);
        const message = deps.posted(channel, args.thread_ts);
        message.stream = stream;
        draw(message, stream, []);
        return { channel: channel.id, ts: message.ts };
      },
    ),
    'chat.appendStream': method(
      z.object({ channel: z.string(), ts: z.string(), chunks: chunksArg }),
      (args) => {
        const { stream } = streaming(args.channel, args.ts);
        const chunks = args.chunks ?? [];
        if (chunks.length === 0) throw new Refusal('no_text');
        grow(stream, chunks);
        draw(deps.own(args.channel, args.ts), stream, []);
        return { channel: args.channel, ts: args.ts };
      },
    ),
    'chat.stopStream': method(
      z.object({
        channel: z.string(),
        ts: z.string(),
        chunks: chunksArg,
        blocks: json(z.array(z.unknown())),
      }),
      (args) => {
        const { stream } = streaming(args.channel, args.ts);
        const foot = args.blocks === undefined ? [] : checkedBlocks(args.blocks);
        if (args.chunks) grow(stream, args.chunks);
        const message = deps.own(args.channel, args.ts);
        const before = message.text;
        stream.isOpen = false;
        draw(message, stream, foot);
        deps.onEdit(message, before);
        return { channel: args.channel, ts: args.ts };
      },
    ),
  };
}

const marks = { pending: '☐', in_progress: '▸', complete: '✓', error: '✗' } as const;
