/** Files of a message as parts for the model: images as images, others named with the reason. */

import { errorFacts, type Log } from '../base/log.ts';
import type { UserPart } from '../messages/parts.ts';
import type { InboundFile, InboundMessage } from '../surface/inbound.ts';
import type { Surface } from '../surface/surface.ts';

/** Anthropic takes 5 MB of base64 an image: the strictest of the providers. */
const mostImageBytes = Math.floor((5 * 1024 * 1024 * 3) / 4);
const mostImages = 8;

export async function partsOfMessage(
  deps: { readonly log: Log },
  surface: Surface,
  message: InboundMessage,
): Promise<readonly UserPart[]> {
  const parts: UserPart[] =
    message.text.trim() === '' ? [] : [{ kind: 'text', text: message.text }];
  let images = 0;
  for (const file of message.files) {
    const part = await partOfFile(deps, surface, file, images < mostImages);
    if (part.kind === 'image') images += 1;
    parts.push(part);
  }
  return parts.length > 0 ? parts : [{ kind: 'text', text: '' }];
}

async function partOfFile(
  deps: { readonly log: Log },
  surface: Surface,
  file: InboundFile,
  roomForImage: boolean,
): Promise<UserPart> {
  const { name, mediaType, bytes } = file;
  const told = (note: string): UserPart => ({ kind: 'file', name, mediaType, bytes, note });
  if (!mediaType.startsWith('image/')) return told('only images can be looked at so far');
  if (!roomForImage) return told(`only the first ${mostImages} images of a message are looked at`);
  if (bytes > mostImageBytes)
    return told(`too large (${megabytes(bytes)}, at most ${megabytes(mostImageBytes)})`);
  try {
    const content = await surface.download(file, mostImageBytes);
    const actual = imageTypeOf(content);
    if (!actual) return told('not a PNG, JPEG, GIF or WebP image');
    return { kind: 'image', mediaType: actual, base64: Buffer.from(content).toString('base64') };
  } catch (thrown) {
    deps.log.warn('file_not_read', errorFacts(thrown));
    return told('it could not be downloaded');
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / (1024 * 1024)).toFixed(1)} MB`;
}

/** The media type by the first bytes; names and declared types lie. */
export function imageTypeOf(content: Uint8Array): string | undefined {
  const head = Buffer.from(content.subarray(0, 12));
  const ascii = head.toString('latin1');
  if (head.subarray(0, 4).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47]))) return 'image/png';
  if (head.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return 'image/jpeg';
  if (ascii.startsWith('GIF8')) return 'image/gif';
  if (ascii.startsWith('RIFF') && ascii.slice(8) === 'WEBP') return 'image/webp';
  return undefined;
}
