/**
 * Bytes of a file that came with a message. The bot's token goes to Slack's hosts only and is left
 * out after a redirect elsewhere; Slack's sign-in page (status 200, whatever its type says) is not
 * taken for the file.
 */

import { BotError } from '../../src/base/errors.ts';
import type { InboundFile } from '../../src/surface/inbound.ts';
import { fileAnswerSchema } from './files.ts';
import type { Answer, Transport } from './transport.ts';
import type { CallSlack } from './web-api.ts';

interface Address {
  readonly address: string;
  /** As Slack tells it; 0: unknown. */
  readonly bytes: number;
}

export type Download = (file: InboundFile, mostBytes: number) => Promise<Uint8Array>;

const mostRedirects = 5;
const answerTimeoutMs = 60_000;

export function createDownload(deps: {
  readonly call: CallSlack;
  readonly transport: Transport;
  readonly botToken: string;
  readonly apiUrl: string;
}): Download {
  const apiOrigin = new URL(deps.apiUrl).origin;
  const isSlack = (url: URL): boolean =>
    url.origin === apiOrigin ||
    (url.protocol === 'https:' && /^(?:[a-z0-9-]+\.)*slack\.com$/u.test(url.hostname));

  const addressOf = async (
    file: InboundFile,
  ): Promise<{ readonly url: URL; readonly bytes: number }> => {
    // A stub of another workspace has no address: it must be asked for.
    const { address, bytes } =
      file.url === '' ? await lookUp(file) : { ...file, address: file.url };
    const url = URL.canParse(address) ? new URL(address) : null;
    if (url === null || !isSlack(url)) {
      throw new BotError('message_refused', `${file.name} is not stored on Slack.`, {
        facts: { fileId: file.id },
      });
    }
    return { url, bytes };
  };

  const lookUp = async ({ id, name }: InboundFile): Promise<Address> => {
    const { file } = await deps.call('files.info', { file: id }, fileAnswerSchema);
    const address = file.url_private_download ?? file.url_private;
    if (typeof address === 'string') return { address, bytes: file.size ?? 0 };
    const { mode, file_access: access } = file;
    const facts = { fileId: id, mode: mode ?? null, access: access ?? null };
    if (mode === 'hidden_by_limit') {
      const sentence = `${name} is hidden by the storage limit of its Slack workspace.`;
      throw new BotError('message_gone', sentence, { facts });
    }
    const sentence = `Slack does not give ${name} to the bot${access ? ` (${access})` : ''}.`;
    throw new BotError('message_gone', sentence, { facts });
  };

  const ask = async (url: URL): Promise<Answer> => {
    try {
      return await deps.transport.fetch(url.href, {
        redirect: 'manual',
        headers: isSlack(url) ? { Authorization: `Bearer ${deps.botToken}` } : {},
        signal: AbortSignal.timeout(answerTimeoutMs),
      });
    } catch (error) {
      throw new BotError('surface_unavailable', 'The file could not be fetched from Slack.', {
        cause: error,
      });
    }
  };

  return async (file, mostBytes) => {
    const { url: first, bytes } = await addressOf(file);
    let url = first;
    for (let hop = 0; hop <= mostRedirects; hop += 1) {
      const answer = await ask(url);
      const target = answer.status >= 300 && answer.status < 400 && answer.headers.get('location');
      if (typeof target !== 'string') return await bytesOf(answer, { ...file, bytes }, mostBytes);
      await answer.body?.getReader().cancel();
      url = new URL(target, url);
    }
    throw new BotError('surface_unavailable', 'The file was redirected too often.', {
      facts: { fileId: file.id },
    });
  };
}

async function bytesOf(answer: Answer, file: InboundFile, mostBytes: number): Promise<Uint8Array> {
  const facts = { fileId: file.id, status: answer.status };
  if (answer.status === 404 || answer.status === 410) {
    throw new BotError('message_gone', `${file.name} was deleted on Slack.`, { facts });
  }
  if (answer.status === 429) {
    throw new BotError('rate_limited', 'Slack asked us to wait before the next file.', {
      facts,
      retryAfterMs: Number(answer.headers.get('retry-after') ?? 30) * 1000,
    });
  }
  if (answer.status !== 200) {
    throw new BotError(
      answer.status >= 500 ? 'surface_unavailable' : 'surface_gone',
      `Slack answered the request for ${file.name} with HTTP ${answer.status}.`,
      { facts },
    );
  }
  const type = answer.headers.get('content-type') ?? '';
  if (type.startsWith('text/html') && !mayBePage(file)) throw signInPage(file);
  const bytes = await readAtMost(answer, file, mostBytes);
  if (isSignIn(bytes, file)) throw signInPage(file);
  return bytes;
}

function signInPage({ id, name }: InboundFile): BotError {
  const sentence = `Slack showed its sign-in page instead of ${name}. Check the scope files:read.`;
  return new BotError('surface_gone', sentence, { facts: { fileId: id } });
}

/** Texts may be pages, whatever type they were sent under: a snippet of HTML is plain text to Slack. */
function mayBePage({ mediaType }: InboundFile): boolean {
  return mediaType.startsWith('text/');
}

/** A page that a person sent has the size that Slack told of it; the sign-in page has its own. */
function isSignIn(bytes: Uint8Array, file: InboundFile): boolean {
  if (bytes.length === file.bytes) return false;
  const head = Buffer.from(bytes.subarray(0, 4_096)).toString('latin1');
  if (!/^\s*<(?:!doctype html|html)\b/iu.test(head)) return false;
  return !mayBePage(file) || /<title>[^<]*slack/iu.test(head);
}

async function readAtMost(
  answer: Answer,
  file: InboundFile,
  mostBytes: number,
): Promise<Uint8Array> {
  const reader = answer.body?.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  while (reader !== undefined) {
    const { done, value } = await nextOf(reader, file);
    if (done || value === undefined) break;
    size += value.byteLength;
    if (size > mostBytes) {
      await reader.cancel();
      throw new BotError('message_too_long', `${file.name} is larger than ${mostBytes} bytes.`, {
        facts: { fileId: file.id, mostBytes },
      });
    }
    pieces.push(value);
  }
  return new Uint8Array(Buffer.concat(pieces));
}

type Reader = ReturnType<NonNullable<Answer['body']>['getReader']>;

async function nextOf(reader: Reader, file: InboundFile): ReturnType<Reader['read']> {
  try {
    return await reader.read();
  } catch (error) {
    throw new BotError('surface_unavailable', 'The connection was lost during the download.', {
      facts: { fileId: file.id },
      cause: error,
    });
  }
}
