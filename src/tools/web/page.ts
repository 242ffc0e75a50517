/** A fetched document as text for a model: HTML as readable Markdown, PDFs as their text. */

import iconv from 'iconv-lite';
import { z } from 'zod';
import { fileTypeOf } from '../../base/file-types.ts';
import { runInWorker } from '../../base/workers/run.ts';
import { moduleBeside } from '../../base/workers/start.ts';
import { mediaPartOf } from '../../messages/media.ts';
import type { ResultPart } from '../../messages/parts.ts';
import type { MediaLimits } from '../../messages/settings.ts';

export interface FetchedDocument {
  readonly url: string;
  /** As the server says it, with its charset; empty when it says nothing. */
  readonly contentType: string;
  readonly body: Uint8Array;
}

export type DocumentText =
  | { readonly kind: 'text'; readonly title: string; readonly text: string }
  | { readonly kind: 'media'; readonly parts: readonly ResultPart[] }
  | { readonly kind: 'problem'; readonly text: string };

const convertedSchema = z.object({ title: z.string(), text: z.string() });

const workerMemoryMb = 512;

/** Converting takes a thread of its own: pages can be long, and made to be slow. */
export async function documentText(
  { url, contentType, body }: FetchedDocument,
  limits: MediaLimits,
  signal: AbortSignal,
): Promise<DocumentText> {
  const type = fileTypeOf(body) ?? contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/pdf') return convert({ kind: 'pdf', url, bytes: body }, signal);
  if (type.startsWith('image/') && type !== 'image/svg+xml') {
    const media = await mediaPartOf(url, body, limits);
    if (media.kind === 'image') return { kind: 'media', parts: [media] };
    return { kind: 'problem', text: `It is an image (${type}) that cannot be looked at.` };
  }
  const isHtml = type === 'text/html' || type === 'application/xhtml+xml';
  const text = decoded(body, contentType, isHtml);
  if (isHtml) return convert({ kind: 'html', url, html: text }, signal);
  if (isText(type, body)) return { kind: 'text', title: '', text };
  return {
    kind: 'problem',
    text: `It is ${type || 'of an unknown type'} (${body.length} bytes), which cannot be read as text.`,
  };
}

async function convert(
  task:
    | { readonly kind: 'html'; readonly url: string; readonly html: string }
    | { readonly kind: 'pdf'; readonly url: string; readonly bytes: Uint8Array },
  signal: AbortSignal,
): Promise<DocumentText> {
  const module = moduleBeside(import.meta.url, 'convert-worker');
  const answer = await runInWorker(module, task, { mostMemoryMb: workerMemoryMb, signal });
  const { title, text } = convertedSchema.parse(answer);
  return { kind: 'text', title, text };
}

function isText(type: string, body: Uint8Array): boolean {
  if (/^text\/|[/+](?:json|xml|yaml|javascript|csv|toml)$/u.test(type)) return true;
  return (
    (type === '' || type === 'application/octet-stream') && !body.subarray(0, 4096).includes(0)
  );
}

/** By the charset of the header, else of the page itself, else UTF-8. */
function decoded(body: Uint8Array, contentType: string, isHtml: boolean): string {
  const named = /charset\s*=\s*"?([\w:.-]+)/iu.exec(contentType)?.[1];
  const head = isHtml ? Buffer.from(body.subarray(0, 2048)).toString('latin1') : '';
  const inPage = /<meta[^>]+charset\s*=\s*["']?([\w:.-]+)/iu.exec(head)?.[1];
  const charset = [named, inPage].find((one) => one !== undefined && iconv.encodingExists(one));
  return iconv.decode(Buffer.from(body), charset ?? 'utf-8');
}
