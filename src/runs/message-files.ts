/**
 * Files that people send, kept in the workspace of their conversation: fetched as soon as their
 * message is stored (addresses run out), at the latest when it enters a run. A file's place follows
 * from its message alone, so that it is fetched once, found again after a restart and removed with
 * its message.
 */

import { abortReasonOf } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { BotError, isBotError } from '../base/errors.ts';
import { formatMegabytes } from '../base/file-types.ts';
import { errorFacts, type Log } from '../base/log.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import { tooLarge } from '../messages/media.ts';
import { deliver } from '../surface/deliver.ts';
import type { InboundFile, InboundMessage } from '../surface/inbound.ts';
import type { Surface } from '../surface/surface.ts';
import { writeAtomically } from '../tools/files/write-file.ts';
import type { Workspace } from '../tools/paths.ts';
import { inboxBytes, inboxName, keptPathOf, readKept, removeKept } from './inbox-folder.ts';
import type { FileSettings } from './settings.ts';

export type TakenFile =
  | {
      readonly kind: 'kept';
      readonly file: InboundFile;
      readonly content: Buffer;
      /** In the workspace. */
      readonly path: string;
    }
  /** Here, but not in the workspace. `why` is a clause. */
  | {
      readonly kind: 'not_kept';
      readonly file: InboundFile;
      readonly content: Buffer;
      readonly why: string;
    }
  | { readonly kind: 'skipped'; readonly file: InboundFile; readonly why: string };

export interface MessageFiles {
  /** Fetches and keeps the files of a message, in order, within the limits. Throws only when stopped. */
  take(key: ConversationKey, surface: Surface, message: InboundMessage): AsyncIterable<TakenFile>;
  /** The files of a message that was deleted. */
  forget(key: ConversationKey, paths: readonly string[]): Promise<void>;
  /** Lets go of what is being fetched: the next start fetches it. */
  stop(): void;
}

export interface MessageFilesDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly workspaceOf: (key: ConversationKey) => Promise<Workspace>;
  /** Read anew for each message. */
  readonly limits: () => FileSettings;
}

/** How long a platform that is out or asks to wait is waited for. */
const patienceMs = 45_000;
const megabyte = 1_000_000;
/** Deleted messages whose files must not come after them. */
const mostForgotten = 1_000;

export function createMessageFiles(deps: MessageFilesDeps): MessageFiles {
  const { clock, log } = deps;
  /** One try at a time for a file: whoever else wants it shares the result. */
  const underWay = new Map<string, Promise<TakenFile>>();
  const stopping = new AbortController();
  const forgotten = new Set<string>();

  const fetch = async (surface: Surface, file: InboundFile, most: number): Promise<Buffer> => {
    const giveUp = new AbortController();
    const cancel = clock.setTimer(patienceMs, () => giveUp.abort(outOfPatience(file)));
    try {
      const download = deliver(clock, () => surface.download(file, most), giveUp.signal);
      return Buffer.from(await unlessStopped(download, stopping.signal));
    } finally {
      cancel();
    }
  };

  const keep = async (key: ConversationKey, where: string, content: Buffer): Promise<void> => {
    const workspace = await deps.workspaceOf(key);
    const most = deps.limits().mostInboxMb * megabyte;
    if ((await inboxBytes(workspace)) + content.length > most) {
      const sentence = `the folder ${inboxName} is full (${formatMegabytes(most)}); remove from it what is not needed any more, or raise files.mostInboxMb.`;
      throw new BotError('tool_failed', sentence, { facts: { most } });
    }
    const { signal } = new AbortController();
    await writeAtomically(workspace, where, content, { mode: 0o644, signal });
  };

  const takeOne = async (
    key: ConversationKey,
    surface: Surface,
    message: InboundMessage,
    file: InboundFile,
    mostBytes: number,
  ): Promise<TakenFile> => {
    const where = keptPathOf(message.messageId, file);
    if (forgotten.has(`${key} ${where}`)) {
      return { kind: 'skipped', file, why: 'its message was deleted' };
    }
    const known = await readKept(await deps.workspaceOf(key), where, mostBytes);
    if (known) return { kind: 'kept', file, content: known, path: where };
    let content: Buffer;
    try {
      content = await fetch(surface, file, mostBytes);
    } catch (thrown) {
      if (stopping.signal.aborted) throw abortReasonOf(stopping.signal);
      log.warn('file_not_fetched', errorFacts(thrown));
      return { kind: 'skipped', file, why: whyNotFetched(thrown, mostBytes) };
    }
    if (content.length > mostBytes) {
      return { kind: 'skipped', file, why: tooLarge(content.length, mostBytes) };
    }
    try {
      await keep(key, where, content);
      return { kind: 'kept', file, content, path: where };
    } catch (thrown) {
      log.warn('file_not_kept', errorFacts(thrown));
      return { kind: 'not_kept', file, content, why: whyNotKept(thrown) };
    }
  };

  const shared = (where: string, work: () => Promise<TakenFile>): Promise<TakenFile> => {
    const known = underWay.get(where);
    if (known) return known;
    const mine = work().finally(() => underWay.delete(where));
    underWay.set(where, mine);
    return mine;
  };

  return {
    take: async function* (key, surface, message) {
      const limits = deps.limits();
      const mostOfAll = limits.mostMessageMb * megabyte;
      let left = mostOfAll;
      for (const [place, file] of message.files.entries()) {
        const why = whyNotTaken(file, place, left, limits);
        if (why !== undefined) {
          yield { kind: 'skipped', file, why };
          continue;
        }
        const most = Math.min(limits.mostFileMb * megabyte, left);
        const where = `${key} ${keptPathOf(message.messageId, file)}`;
        const taken = await shared(where, () => takeOne(key, surface, message, file, most));
        left -= taken.kind === 'skipped' ? 0 : taken.content.length;
        yield taken;
      }
    },
    forget: async (key, paths) => {
      const workspace = await deps.workspaceOf(key);
      for (const where of paths) {
        forgotten.add(`${key} ${where}`);
        const [oldest] = forgotten;
        if (forgotten.size > mostForgotten && oldest !== undefined) forgotten.delete(oldest);
        await underWay.get(`${key} ${where}`)?.catch(() => undefined); // its taker hears of it
        await removeKept(workspace, where);
      }
    },
    stop: () => {
      stopping.abort(new BotError('interrupted', 'The process stops: files are fetched again.'));
    },
  };
}

/** Known before anything is fetched. */
function whyNotTaken(
  { bytes }: InboundFile,
  place: number,
  left: number,
  { mostFiles, mostFileMb, mostMessageMb }: FileSettings,
): string | undefined {
  if (place >= mostFiles) return `only the first ${mostFiles} files of a message are taken`;
  if (bytes > mostFileMb * megabyte) return tooLarge(bytes, mostFileMb * megabyte);
  return bytes > left || left <= 0
    ? `the files of this message are too large together (at most ${formatMegabytes(mostMessageMb * megabyte)})`
    : undefined;
}

function outOfPatience({ id }: InboundFile): BotError {
  const sentence = `The platform did not give it within ${patienceMs / 1000} s.`;
  return new BotError('surface_unavailable', sentence, { facts: { fileId: id } });
}

function whyNotFetched(thrown: unknown, mostBytes: number): string {
  if (isBotError(thrown, 'message_too_long')) {
    return `too large (at most ${formatMegabytes(mostBytes)})`;
  }
  const because = isBotError(thrown) ? `: ${thrown.message}` : '';
  return `it could not be downloaded${because}`;
}

function whyNotKept(thrown: unknown): string {
  const because = isBotError(thrown, 'tool_failed', 'path_outside_workspace')
    ? `: ${thrown.message}`
    : '';
  return `it could not be kept in the workspace${because}`;
}

function unlessStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortReasonOf(signal));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
