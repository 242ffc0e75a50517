/**
 * Bytes of a file that came with a message. Addresses are signed and run out after a day, then a
 * fresh one is asked for (reference, signed attachment CDN URLs). Only Discord's file hosts are
 * asked, without the bot's token.
 */

import { z } from 'zod';
import { BotError } from '../../src/base/errors.ts';
import type { InboundFile } from '../../src/surface/inbound.ts';
import type { CallDiscord } from './rest.ts';
import type { Answer, Transport } from './transport.ts';

export type Download = (file: InboundFile, mostBytes: number) => Promise<Uint8Array>;

const answerTimeoutMs = 60_000;
const refreshedSchema = z.object({ refreshed_urls: z.array(z.object({ refreshed: z.string() })) });

export function createDownload(deps: {
  readonly call: CallDiscord;
  readonly transport: Transport;
  readonly apiUrl: string;
}): Download {
  const apiOrigin = new URL(deps.apiUrl).origin;
  const isDiscord = (url: URL): boolean =>
    url.origin === apiOrigin ||
    (url.protocol === 'https:' && /^(?:cdn|media)\.discordapp\.(?:com|net)$/u.test(url.hostname));

  const ask = async (address: string, file: InboundFile): Promise<Answer> => {
    const url = URL.canParse(address) ? new URL(address) : null;
    if (url === null || !isDiscord(url)) {
      throw new BotError('message_refused', `${file.name} is not stored on Discord.`, {
        facts: { fileId: file.id },
      });
    }
    try {
      return await deps.transport.fetch(url.href, {
        redirect: 'error',
        signal: AbortSignal.timeout(answerTimeoutMs),
      });
    } catch (error) {
      throw new BotError('surface_unavailable', 'The file could not be fetched from Discord.', {
        cause: error,
      });
    }
  };

  const refreshed = async (file: InboundFile): Promise<string | null> => {
    const answer = await deps.call('POST', '/attachments/refresh-urls', {
      schema: refreshedSchema,
      body: { attachment_urls: [file.url] },
    });
    return answer.refreshed_urls[0]?.refreshed ?? null;
  };

  return async (file, mostBytes) => {
    let answer = await ask(file.url, file);
    if (answer.status === 403 || answer.status === 404) {
      await answer.body?.cancel();
      const address = await refreshed(file);
      if (address !== null) answer = await ask(address, file);
    }
    return await bytesOf(answer, file, mostBytes);
  };
}

async function bytesOf(answer: Answer, file: InboundFile, mostBytes: number): Promise<Uint8Array> {
  const facts = { fileId: file.id, status: answer.status };
  if (answer.status === 200) return await readAtMost(answer, file, mostBytes);
  await answer.body?.cancel();
  if (answer.status === 429) {
    throw new BotError('rate_limited', 'Discord asked us to wait before the next file.', {
      facts,
      retryAfterMs: Number(answer.headers.get('retry-after') ?? 30) * 1000,
    });
  }
  if (answer.status === 403 || answer.status === 404 || answer.status === 410) {
    throw new BotError('message_gone', `${file.name} is not on Discord any more.`, { facts });
  }
  throw new BotError(
    'surface_unavailable',
    `Discord answered the request for ${file.name} with HTTP ${answer.status}.`,
    { facts },
  );
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
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw new BotError('surface_unavailable', 'The connection was lost during the download.', {
        facts: { fileId: file.id },
        cause: error,
      });
    });
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
