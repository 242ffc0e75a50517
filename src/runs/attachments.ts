/**
 * Files of a message as parts for the model. Each is named, with its type and where it is kept in the
 * workspace; images, PDFs and short texts follow it, and of all others it is said why they do not.
 * What stands in a part once is sent with every later step: it must fit now.
 */

import { fileTypeOf, headBytes } from '../base/file-types.ts';
import { cutPoint } from '../base/text.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import { mediaPartOf, mostMediaChars } from '../messages/media.ts';
import type { FilePart, UserPart } from '../messages/parts.ts';
import { safeFileName } from '../surface/file-name.ts';
import type { InboundMessage } from '../surface/inbound.ts';
import type { Surface } from '../surface/surface.ts';
import { binaryKindOf, unknownBinary } from '../tools/files/binary-kinds.ts';
import { decodeText } from '../tools/files/text-encoding.ts';
import type { MessageFiles, TakenFile } from './message-files.ts';
import type { FileSettings } from './settings.ts';

const plural = { image: 'images', document: 'PDFs' } as const;
/** Of a UTF-16 unit, in any encoding. */
const mostCharBytes = 4;
/** So much tells text from other bytes. */
const leastSampleBytes = 8_192;

/** What the files of one message have taken so far. */
interface Room {
  image: number;
  document: number;
  mediaChars: number;
  textChars: number;
}

/** What is said of a file, and the part that follows it. */
interface Seen {
  readonly note: string;
  readonly text?: string;
  readonly media?: UserPart;
}

export interface AttachmentDeps {
  readonly files: Pick<MessageFiles, 'take'>;
  readonly limits: () => FileSettings;
}

export async function partsOfMessage(
  deps: AttachmentDeps,
  key: ConversationKey,
  surface: Surface,
  message: InboundMessage,
): Promise<readonly UserPart[]> {
  const parts: UserPart[] =
    message.text.trim() === '' ? [] : [{ kind: 'text', text: message.text }];
  const room: Room = { image: 0, document: 0, mediaChars: 0, textChars: 0 };
  for await (const taken of deps.files.take(key, surface, message)) {
    parts.push(...(await partsOfFile(taken, deps.limits(), room)));
  }
  return parts.length > 0 ? parts : [{ kind: 'text', text: '' }];
}

async function partsOfFile(
  taken: TakenFile,
  limits: FileSettings,
  room: Room,
): Promise<readonly UserPart[]> {
  const { file } = taken;
  const name = safeFileName(file.name);
  if (taken.kind === 'skipped') {
    const { mediaType, bytes } = file;
    return [{ kind: 'file', name, mediaType: plainType(mediaType), bytes, note: taken.why }];
  }
  const { content } = taken;
  const { note, text, media } = await look(name, content, limits, room);
  const part: FilePart = {
    kind: 'file',
    name,
    mediaType: fileTypeOf(content) ?? plainType(file.mediaType),
    bytes: content.length,
    note: taken.kind === 'kept' ? note : `${note}; ${taken.why}`,
    ...(taken.kind === 'kept' ? { path: taken.path } : {}),
    ...(text === undefined ? {} : { text }),
  };
  return media ? [part, media] : [part];
}

async function look(
  name: string,
  content: Buffer,
  limits: FileSettings,
  room: Room,
): Promise<Seen> {
  const type = fileTypeOf(content);
  if (type === undefined) return lookAtText(content, limits, room);
  const kind = type === 'application/pdf' ? 'document' : 'image';
  const most = kind === 'document' ? limits.mostPdfs : limits.mostImages;
  if (room[kind] >= most) {
    return { note: `only the first ${most} ${plural[kind]} of a message are shown` };
  }
  const media = await mediaPartOf(name, content, limits);
  if (media.kind === 'problem') return { note: media.problem };
  // The type was known: it is one of the two.
  if (media.kind === 'other') return lookAtText(content, limits, room);
  if (room.mediaChars + media.base64.length > mostMediaChars) {
    return { note: 'the images and PDFs of this message are too large together to be shown' };
  }
  room[media.kind] += 1;
  room.mediaChars += media.base64.length;
  return { note: 'shown next', media };
}

function lookAtText(content: Buffer, { mostTextChars }: FileSettings, room: Room): Seen {
  const left = mostTextChars - room.textChars;
  const binary = binaryKindOf(content);
  // A short file of a known kind could also be taken for UTF-16.
  const isBinary = binary !== unknownBinary && content.subarray(0, headBytes).includes(0);
  const beginning = isBinary ? undefined : beginningOf(content, left * mostCharBytes);
  if (!beginning) return { note: `${binary}, which cannot be shown here` };
  if (left <= 0) return { note: 'text, too long to be shown here with the files before it' };
  const text = beginning.text.slice(0, cutPoint(beginning.text, left));
  room.textChars += text.length;
  const isWhole = beginning.isWhole && text.length === beginning.text.length;
  return {
    note: isWhole ? 'its text follows' : `its first ${text.length} characters follow`,
    text,
  };
}

/**
 * The text at the beginning, cut between characters: decoding all of a large file would hold up
 * everything else. Undefined: it is no text.
 */
function beginningOf(
  content: Buffer,
  wantedBytes: number,
): { readonly text: string; readonly isWhole: boolean } | undefined {
  const most = Math.max(leastSampleBytes, wantedBytes);
  if (content.length <= most) {
    const read = decodeText(content);
    return read && { text: read.text, isWhole: true };
  }
  // Behind a line, at a border of UTF-8, at one of UTF-16.
  const ends = [content.lastIndexOf(0x0a, most - 1) + 1, utf8Border(content, most), most & ~1];
  for (const end of ends) {
    const read = end > 0 ? decodeText(content.subarray(0, end)) : undefined;
    if (read) return { text: read.text, isWhole: false };
  }
  return undefined;
}

function utf8Border(content: Buffer, most: number): number {
  let end = most;
  // 10xxxxxx continues a character.
  while (end > 0 && ((content[end] ?? 0) & 0b1100_0000) === 0b1000_0000) end -= 1;
  return end;
}

/** Without the parameters behind it; what platforms leave out is said. */
function plainType(mediaType: string): string {
  const plain = mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
  return /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/u.test(plain) ? plain : 'application/octet-stream';
}
