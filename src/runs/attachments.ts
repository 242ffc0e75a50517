/**
 * Files of a message as parts for the model. Each is named, with its type and where it is kept in the
 * workspace; images, PDFs and short texts follow it, and of all others it is said why they do not.
 * What stands in a part once is sent with every later step: it must fit now.
 */

import { fileTypeOf, headBytes } from '../base/file-types.ts';
import { cutToUnits } from '../base/text.ts';
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
/** Larger texts are not decoded: that would hold up everything else, and little of them is shown. */
const mostTextBytes = 2_000_000;

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
  if (content.length > mostTextBytes) return { note: 'too long to be shown here' };
  const binary = binaryKindOf(content);
  // A short file of a known kind could also be taken for UTF-16.
  const isBinary = binary !== unknownBinary && content.subarray(0, headBytes).includes(0);
  const read = isBinary ? undefined : decodeText(content);
  if (!read) return { note: `${binary}, which cannot be shown here` };
  const left = mostTextChars - room.textChars;
  if (left <= 0) return { note: 'text, too long to be shown here with the files before it' };
  const text = cutToUnits(read.text, left);
  room.textChars += text.length;
  if (text === read.text) return { note: 'its text follows', text };
  return { note: `the first ${text.length} of its ${read.text.length} characters follow`, text };
}

/** Without the parameters behind it; what platforms leave out is said. */
function plainType(mediaType: string): string {
  const plain = mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
  return /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/u.test(plain) ? plain : 'application/octet-stream';
}
