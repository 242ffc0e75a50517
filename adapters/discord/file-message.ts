/** A file as the message that brings it (reference, uploading files; resources/message, attachments). */

import { BotError } from '../../src/base/errors.ts';
import { cutToUnits } from '../../src/base/text.ts';
import { safeFileName } from '../../src/surface/file-name.ts';
import type { OutboundFile } from '../../src/surface/outbound.ts';
import { mostContentUnits, suppressEmbeds } from './draw.ts';
import { plainLine } from './markdown.ts';
import { quiet } from './mentions.ts';
import type { OutgoingFile } from './rest.ts';

/**
 * Bytes a file may have where a server has no boosts (reference, uploading files, August 2026). A
 * boosted server takes more, but only interactions tell how much.
 */
const mostFileBytes = 10 * 1024 * 1024;

export interface FileMessage {
  readonly body: Readonly<Record<string, unknown>>;
  readonly file: OutgoingFile;
}

/** Throws message_too_long for what Discord would refuse. */
export function fileMessageOf({ name, content, comment = '' }: OutboundFile): FileMessage {
  const safeName = quiet(safeFileName(name));
  const bytes = content.byteLength;
  if (bytes > mostFileBytes) {
    throw new BotError(
      'message_too_long',
      `${safeName} is larger than the 10 MiB that Discord takes from a bot.`,
      { facts: { bytes, mostBytes: mostFileBytes } },
    );
  }
  return {
    body: {
      content: cutToUnits(plainLine(comment), mostContentUnits),
      allowed_mentions: { parse: [], users: [], replied_user: false },
      attachments: [{ id: 0, filename: safeName }],
      flags: suppressEmbeds,
    },
    file: { name: safeName, content },
  };
}
