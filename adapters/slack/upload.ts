/**
 * Files into a thread: an address for the bytes, the bytes, then the completion that shows them.
 * Slack posts the message with the file by itself, some time after the completion was answered, and
 * takes no key for it. So what is known of earlier tries is kept by key while the process lives
 * (the id of the file that a lost answer belongs to); after a restart an own message whose file has
 * the same title and the same bytes is taken for it. A file that Slack has changed on its way
 * (pictures, line ends of snippets) is known again only where its title was made for it alone;
 * otherwise it comes twice.
 * Sources: https://docs.slack.dev/reference/methods/files.getUploadURLExternal and
 * https://docs.slack.dev/reference/methods/files.completeUploadExternal, November 2026; that the
 * message comes later and is asked for by files.info: slackapi/bolt-js#2115; that it now and then
 * never comes: paradigmxyz/centaur#311.
 */

import { z } from 'zod';
import { type Clock, sleep } from '../../src/base/clock.ts';
import { BotError, isBotError } from '../../src/base/errors.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import { firstWords } from '../../src/base/text.ts';
import { safeFileName } from '../../src/surface/file-name.ts';
import type { OutboundFile, PostedMessage } from '../../src/surface/outbound.ts';
import type { PostOptions } from '../../src/surface/surface.ts';
import type { Download } from './download.ts';
import { slackWordOf } from './errors.ts';
import type { Inbound } from './inbound.ts';
import { quietCell } from './mentions.ts';
import { plainMrkdwn } from './mrkdwn.ts';
import type { ReadMessages, ReadPlace } from './read-back.ts';
import type { RemoveStray } from './stray.ts';
import type { Answer, Transport } from './transport.ts';
import type { CallSlack } from './web-api.ts';
import type { SlackFile } from './wire.ts';

/**
 * Resolves with the message that shows the file. Where Slack has not posted it in time the file's id
 * stands for it: such a message cannot be edited or removed.
 */
export type Upload = (
  place: ReadPlace,
  file: OutboundFile,
  options: PostOptions,
) => Promise<PostedMessage>;

/** The line under a file is one line. */
const mostCommentUnits = 2_000;
const bytesTimeoutMs = 120_000;
/** Slack works on a file after its completion: waits before each look for the message. */
const looksAfterMs = [0, 200, 400, 800, 1_600, 3_000];
const mostRemembered = 1_000;
/** Pages read to find an earlier file outside threads: the newest are first there. */
const mostTopLevelPages = 2;

const addressSchema = z.object({ upload_url: z.url(), file_id: z.string() });
const shareSchema = z.object({ ts: z.string(), thread_ts: z.string().optional() });
const sharesSchema = z.record(z.string(), z.array(shareSchema)).optional();
const sharedSchema = z.object({
  file: z.object({
    shares: z.object({ public: sharesSchema, private: sharesSchema }).nullish(),
  }),
});
type Share = z.infer<typeof shareSchema>;

/** What is known of a key. */
interface Tried {
  readonly fileId: string;
  /** Slack said that it took the file; false while the answer is unknown. */
  isCompleted: boolean;
  /** The message that shows it, once it was seen. */
  messageId: string | null;
}

interface Prepared {
  readonly title: string;
  readonly comment: string;
  readonly content: Uint8Array<ArrayBuffer>;
  /** No other file has this title. */
  readonly isTitleUnique: boolean;
}

export function createUpload(deps: {
  readonly call: CallSlack;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the adapter stops. */
  readonly signal: AbortSignal;
  readonly inbound: Inbound;
  readonly read: ReadMessages;
  readonly download: Download;
  readonly removeStray: RemoveStray;
}): Upload {
  const { call } = deps;
  const tried = new Map<string, Tried>();

  const remember = (key: string, fileId: string): Tried => {
    const entry: Tried = { fileId, isCompleted: false, messageId: null };
    tried.delete(key);
    tried.set(key, entry);
    const oldest = tried.keys().next();
    if (tried.size > mostRemembered && oldest.done !== true) tried.delete(oldest.value);
    return entry;
  };

  /** Null while the file is not shown there, or does not exist. */
  const shareOf = async (fileId: string, channel: string): Promise<Share | null> => {
    try {
      const { file } = await call('files.info', { file: fileId }, sharedSchema);
      const { public: open = {}, private: closed = {} } = file.shares ?? {};
      return (open[channel] ?? closed[channel])?.[0] ?? null;
    } catch (error) {
      if (slackWordOf(error) === 'file_not_found') return null;
      throw error;
    }
  };

  const awaitedShare = async (fileId: string, channel: string): Promise<Share | null> => {
    for (const waitMs of looksAfterMs) {
      await sleep(deps.clock, waitMs, deps.signal);
      const share = await shareOf(fileId, channel);
      if (share !== null) return share;
    }
    return null;
  };

  const sendBytes = async (url: string, content: Uint8Array<ArrayBuffer>): Promise<void> => {
    let answer: Answer;
    try {
      answer = await deps.transport.fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/octet-stream' },
        body: content,
        redirect: 'error',
        signal: AbortSignal.timeout(bytesTimeoutMs),
      });
    } catch (error) {
      throw new BotError('surface_unavailable', 'The bytes of a file could not be sent to Slack.', {
        cause: error,
      });
    }
    await answer.body?.getReader().cancel();
    checkTaken(answer);
  };

  const post = async (place: ReadPlace, file: Prepared, key: string): Promise<Tried> => {
    const { upload_url: url, file_id: fileId } = await call(
      'files.getUploadURLExternal',
      { filename: file.title, length: file.content.byteLength },
      addressSchema,
    );
    await sendBytes(url, file.content);
    // From here on it may be shown, whether we hear of it or not.
    const entry = remember(key, fileId);
    try {
      await call(
        'files.completeUploadExternal',
        {
          files: [{ id: fileId, title: file.title }],
          channel_id: place.channel,
          ...(place.thread === null ? {} : { thread_ts: place.thread }),
          ...(file.comment === '' ? {} : { initial_comment: file.comment }),
        },
        z.unknown(),
      );
      entry.isCompleted = true;
    } catch (error) {
      // A refusal is certain: nothing is shown under this key.
      if (!isBotError(error, 'surface_unavailable')) tried.delete(key);
      throw error;
    }
    return entry;
  };

  /** The message that shows a completed file; null where Slack has not posted it in time. */
  const shown = async (
    place: ReadPlace,
    entry: Tried,
    key: string,
  ): Promise<PostedMessage | null> => {
    if (entry.messageId !== null) return { messageId: entry.messageId };
    const share = await awaitedShare(entry.fileId, place.channel).catch((error: unknown) => {
      // It is posted all the same; but while Slack asks us to wait, nothing more is asked.
      if (!entry.isCompleted || !isBotError(error) || error.code === 'rate_limited') throw error;
      deps.log.info('slack_file_not_looked_up', errorFacts(error));
      return null;
    });
    if (share === null) return null;
    // A reply to a deleted message is put into the channel without a word.
    if (place.thread !== null && share.thread_ts === undefined) {
      tried.delete(key);
      await deps.removeStray(place.channel, share.ts);
      throw new BotError('surface_gone', 'The message that started this thread was deleted.', {
        facts: { channel: place.channel },
      });
    }
    entry.messageId = share.ts;
    return { messageId: share.ts };
  };

  const isSame = async (known: SlackFile, file: Prepared): Promise<boolean> => {
    const { title, content } = file;
    if (known.title !== title || file.isTitleUnique) return known.title === title;
    if (known.size !== content.byteLength) return false;
    try {
      const sent = {
        ...{ id: known.id, name: title, bytes: content.byteLength },
        mediaType: known.mimetype ?? 'application/octet-stream',
        url: known.url_private_download ?? known.url_private ?? '',
      };
      const bytes = await deps.download(sent, content.byteLength);
      return Buffer.from(bytes).equals(content);
    } catch (error) {
      if (isBotError(error, 'rate_limited', 'surface_unavailable')) throw error;
      return false;
    }
  };

  /** An own message with the same file, posted before this process knew of it. */
  const findEarlier = async (place: ReadPlace, file: Prepared): Promise<PostedMessage | null> => {
    const ofOtherKeys = new Set([...tried.values()].map(({ fileId }) => fileId));
    const options = place.thread === null ? { mostPages: mostTopLevelPages } : {};
    for await (const message of deps.read(place, options)) {
      if (!deps.inbound.isSelf(message, null)) continue;
      for (const known of message.files ?? []) {
        if (ofOtherKeys.has(known.id)) continue;
        if (await isSame(known, file)) return { messageId: message.ts };
      }
    }
    return null;
  };

  return async (place, file, { key, maybePosted }) => {
    const prepared = prepare(file);
    const known = tried.get(key);
    if (known !== undefined) {
      const earlier = await shown(place, known, key);
      if (earlier !== null) return earlier;
      if (known.isCompleted) return { messageId: known.fileId };
      // Its completion never came through.
      tried.delete(key);
    }
    const found = maybePosted && known === undefined ? await findEarlier(place, prepared) : null;
    if (found !== null) return found;
    const entry = await post(place, prepared, key);
    const posted = await shown(place, entry, key);
    if (posted !== null) return posted;
    deps.log.warn('slack_file_not_seen', { channel: place.channel, fileId: entry.fileId });
    return { messageId: entry.fileId };
  };
}

function prepare({ name, content, comment = '', isNameUnique = false }: OutboundFile): Prepared {
  if (content.byteLength === 0) {
    throw new BotError(
      'message_refused',
      `${safeFileName(name)} is empty: Slack takes no such file.`,
    );
  }
  return {
    title: quietCell(safeFileName(name)),
    comment: plainMrkdwn(firstWords(comment, mostCommentUnits)),
    content: new Uint8Array(content),
    isTitleUnique: isNameUnique,
  };
}

function checkTaken({ status, headers }: Answer): void {
  if (status === 200) return;
  const facts = { status };
  if (status === 429) {
    throw new BotError('rate_limited', 'Slack asked us to wait before the next file.', {
      facts,
      retryAfterMs: Number(headers.get('retry-after') ?? 30) * 1000,
    });
  }
  if (status === 413) {
    throw new BotError('message_too_long', 'The file is too large for this Slack workspace.', {
      facts,
    });
  }
  // The address was used or ran out, or Slack is out: another try gets a new one.
  throw new BotError('surface_unavailable', `Slack answered the bytes of a file with ${status}.`, {
    facts,
  });
}
