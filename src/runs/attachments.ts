/**
 * Files of a message as parts for the model: images and PDFs to look at, others named with the
 * reason. What stands in a part once is sent with every later step: it must fit now.
 */

import { isBotError } from '../base/errors.ts';
import { errorFacts, type Log } from '../base/log.ts';
import {
  type MediaPart,
  mediaPartOf,
  mostFileBytes,
  mostMediaChars,
  tooLarge,
} from '../messages/media.ts';
import type { UserPart } from '../messages/parts.ts';
import { mediaSettings } from '../messages/settings.ts';
import type { InboundFile, InboundMessage } from '../surface/inbound.ts';
import type { Surface } from '../surface/surface.ts';

const mostOf = { image: 8, document: 5 } as const;
const plural = { image: 'images', document: 'PDFs' } as const;
const notLookedAt = 'only images and PDFs can be looked at so far';

/** What the files of one message have taken so far. */
interface Room {
  image: number;
  document: number;
  chars: number;
}

export async function partsOfMessage(
  deps: { readonly log: Log },
  surface: Surface,
  message: InboundMessage,
): Promise<readonly UserPart[]> {
  const parts: UserPart[] =
    message.text.trim() === '' ? [] : [{ kind: 'text', text: message.text }];
  const room: Room = { image: 0, document: 0, chars: 0 };
  for (const file of message.files) {
    const { name, mediaType, bytes } = file;
    const found = await readFile(deps, surface, file, room);
    if (typeof found === 'string') {
      parts.push({ kind: 'file', name, mediaType, bytes, note: found });
    } else {
      room[found.kind] += 1;
      room.chars += found.base64.length;
      parts.push(found);
    }
  }
  return parts.length > 0 ? parts : [{ kind: 'text', text: '' }];
}

/** The part, or why there is none. */
async function readFile(
  deps: { readonly log: Log },
  surface: Surface,
  file: InboundFile,
  room: Room,
): Promise<MediaPart | string> {
  const expected = expectedKind(file);
  if (expected === 'other') return notLookedAt;
  // What is full by its declared type need not be fetched.
  if (expected !== 'unknown' && room[expected] >= mostOf[expected]) return noMore(expected);
  if (file.bytes > mostFileBytes) return tooLarge(file.bytes, mostFileBytes);
  try {
    const content = await surface.download(file, mostFileBytes);
    if (content.length > mostFileBytes) return tooLarge(content.length, mostFileBytes);
    const media = await mediaPartOf(file.name, content, mediaSettings.parse({}));
    if (media.kind === 'problem') return media.problem;
    if (media.kind === 'other') return noMediaOf(expected);
    if (room[media.kind] >= mostOf[media.kind]) return noMore(media.kind);
    return room.chars + media.base64.length > mostMediaChars
      ? 'the files of this message are too large together'
      : media;
  } catch (thrown) {
    deps.log.warn('file_not_read', errorFacts(thrown));
    return isBotError(thrown, 'message_too_long')
      ? `too large (at most ${mostFileBytes / 1_000_000} MB)`
      : 'it could not be downloaded';
  }
}

function noMore(kind: 'image' | 'document'): string {
  return `only the first ${mostOf[kind]} ${plural[kind]} of a message are looked at`;
}

type Expected = 'image' | 'document' | 'unknown' | 'other';

/** Whether it is worth fetching. What it is, its bytes say. */
function expectedKind({ name, mediaType }: InboundFile): Expected {
  if (mediaType.startsWith('image/')) return 'image';
  if (mediaType === 'application/pdf') return 'document';
  const isNamed = /\.(?:png|jpe?g|gif|webp|tiff?|avif|heic|pdf)$/iu.test(name);
  const isUntyped = mediaType === '' || /^(?:application|binary)\/octet-stream/u.test(mediaType);
  return isNamed || isUntyped ? 'unknown' : 'other';
}

function noMediaOf(expected: Expected): string {
  if (expected === 'image') return 'not a PNG, JPEG, GIF, WebP, TIFF or AVIF image';
  return expected === 'document' ? 'not a PDF' : notLookedAt;
}
