/**
 * A Slack thread as a surface. Nothing here waits for a rate limit or tries a second time, but for
 * the removal of an answer that Slack has put where it does not belong.
 */

import { z } from 'zod';
import { BotError, isBotError } from '../../src/base/errors.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import type { Conversation } from '../../src/messages/conversation.ts';
import { noThread } from '../../src/surface/inbound.ts';
import type { OutboundMessage, PostedMessage } from '../../src/surface/outbound.ts';
import { type ReactionSign, slackNameOfEmoji } from '../../src/surface/reactions.ts';
import type { PostOptions, Surface } from '../../src/surface/surface.ts';
import type { Download } from './download.ts';
import { type DrawnMessage, drawMessage, drawSections, plainText } from './draw.ts';
import { slackWordOf } from './errors.ts';
import type { Inbound } from './inbound.ts';
import type { PrivateLine } from './private-line.ts';
import { type ReadMessages, readChannel, readHistory } from './read-back.ts';
import type { StatusSigns } from './status.ts';
import type { RemoveStray } from './stray.ts';
import { createMessageStream, type Streaming } from './stream.ts';
import type { Upload } from './upload.ts';
import type { CallSlack } from './web-api.ts';
import type { SlackMessage } from './wire.ts';

export interface SurfaceDeps {
  readonly call: CallSlack;
  readonly log: Log;
  readonly inbound: Inbound;
  readonly read: ReadMessages;
  readonly signs: StatusSigns;
  readonly whisper: PrivateLine;
  readonly download: Download;
  readonly upload: Upload;
  readonly removeStray: RemoveStray;
  readonly streaming: Streaming;
}

/** Name of the metadata that carries a post's key. */
const replyEvent = 'deckhand_reply';
const waitingEmoji = 'eyes';
/** https://docs.slack.dev/reference/methods/chat.update: longer texts are refused. */
const mostPlainBytes = 4_000;
/** Pages read to find an earlier post outside threads: the newest are first there. */
const mostTopLevelPages = 2;

const postedSchema = z.object({
  ts: z.string(),
  message: z.object({ thread_ts: z.string().optional() }).optional(),
});

function plainMessage(message: OutboundMessage): DrawnMessage {
  const text = plainText(message);
  if (Buffer.byteLength(text) > mostPlainBytes) {
    throw new BotError('message_too_long', 'Too long to be shown as plain text.');
  }
  return { text, blocks: [] };
}

export function createSurface(deps: SurfaceDeps, conversation: Conversation): Surface {
  const { call, log, inbound } = deps;
  const { channel } = conversation;
  const thread = conversation.thread === noThread ? null : conversation.thread;
  const place = { channel, thread: conversation.thread };
  /** https://docs.slack.dev/reference/objects/conversation-object: ids of direct messages. */
  const isDirect = channel.startsWith('D');

  const findOwn = async (
    isIt: (message: SlackMessage) => boolean,
  ): Promise<PostedMessage | null> => {
    const options = thread === null ? { mostPages: mostTopLevelPages } : {};
    for await (const message of deps.read({ channel, thread }, options)) {
      if (inbound.isSelf(message, null) && isIt(message)) return { messageId: message.ts };
    }
    return null;
  };

  const findPosted = (key: string): Promise<PostedMessage | null> =>
    findOwn(
      ({ metadata }) =>
        metadata?.event_type === replyEvent && metadata.event_payload['key'] === key,
    );

  const send = async (drawn: DrawnMessage, key: string): Promise<PostedMessage> => {
    const posted = await call(
      'chat.postMessage',
      {
        channel,
        ...(thread === null ? {} : { thread_ts: thread }),
        text: drawn.text,
        blocks: drawn.blocks,
        unfurl_links: false,
        unfurl_media: false,
        metadata: { event_type: replyEvent, event_payload: { key } },
      },
      postedSchema,
    );
    // A reply to a deleted message is put into the channel without a word.
    if (thread !== null && posted.message !== undefined && posted.message.thread_ts === undefined) {
      await deps.removeStray(channel, posted.ts);
      throw new BotError('surface_gone', 'The message that started this thread was deleted.', {
        facts: { channel },
      });
    }
    return { messageId: posted.ts };
  };

  const update = (messageId: string, drawn: DrawnMessage): Promise<unknown> =>
    // Without blocks Slack keeps the old ones.
    call(
      'chat.update',
      { channel, ts: messageId, text: drawn.text, blocks: drawn.blocks },
      z.unknown(),
    );

  /**
   * Sends the blocks; where Slack refuses them, once with sections in place of `markdown` blocks,
   * then once as plain text with numbered options.
   */
  const withFallback = async <Result>(
    message: OutboundMessage,
    deliver: (drawn: DrawnMessage) => Promise<Result>,
  ): Promise<Result> => {
    const drawn = drawMessage(message);
    if (drawn.blocks.length === 0) {
      throw new BotError('message_refused', 'The message has nothing to show.');
    }
    // The newest kind of block: a workspace that does not take it takes the rest.
    const plainer = message.blocks.filter(({ kind }) => kind !== 'feedback');
    const hasMarkdown = drawn.blocks.some(({ type }) => type === 'markdown');
    const forms = [
      () => drawn,
      ...(plainer.length < message.blocks.length
        ? [() => drawMessage({ ...message, blocks: plainer })]
        : []),
      ...(hasMarkdown ? [() => drawSections({ ...message, blocks: plainer })] : []),
      () => plainMessage(message),
    ];
    let refusal: unknown;
    for (const form of forms) {
      const next = form();
      try {
        return await deliver(next);
      } catch (error) {
        const word = slackWordOf(error);
        if (word !== 'invalid_blocks' && word !== 'invalid_blocks_format') throw error;
        log.warn('slack_blocks_refused', { kinds: next.blocks.map(({ type }) => type).join() });
        refusal = error;
      }
    }
    throw refusal;
  };

  const remove = async (messageId: string): Promise<void> => {
    try {
      await call('chat.delete', { channel, ts: messageId }, z.unknown());
    } catch (error) {
      if (!isBotError(error, 'message_gone')) throw error;
    }
  };

  const react = async (messageId: string, sign: ReactionSign, on: boolean): Promise<boolean> => {
    const name = sign === 'waiting' ? waitingEmoji : slackNameOfEmoji(sign.emoji);
    if (name === null) return false;
    try {
      const method = on ? 'reactions.add' : 'reactions.remove';
      await call(method, { channel, timestamp: messageId, name }, z.unknown());
      return true;
    } catch (error) {
      if (slackWordOf(error) === (on ? 'already_reacted' : 'no_reaction')) return true;
      log.debug('slack_reaction_lost', errorFacts(error));
      return false;
    }
  };

  const history: Surface['history'] = (most) =>
    thread === null ? Promise.resolve([]) : readHistory(deps, { channel, thread }, most);

  return {
    post: async (message: OutboundMessage, options: PostOptions) => {
      const earlier = options.maybePosted ? await findPosted(options.key) : null;
      return earlier ?? (await withFallback(message, (drawn) => send(drawn, options.key)));
    },
    edit: async (messageId, message) => {
      await withFallback(message, (drawn) => update(messageId, drawn));
    },
    remove,
    status: async (state) =>
      thread === null || (await deps.signs.show({ channel, thread }, state === 'working')),
    react,
    history,
    channelHistory: (most) => (isDirect ? history(most) : readChannel(deps, channel, most)),
    upload: (file, options) => deps.upload({ channel, thread }, file, options),
    whisper: (person, markdown, interactionId) =>
      deps.whisper(place, person.replace(/^slack:/u, ''), markdown, interactionId),
    download: deps.download,
    ...(thread !== null && deps.streaming.isOn()
      ? {
          stream: createMessageStream({ call, streaming: deps.streaming, findOwn }, conversation),
        }
      : {}),
  };
}
