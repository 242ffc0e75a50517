/** The secrets filter at the one place where everything leaves: a surface behind it. */

import type { Redactor } from '../base/redaction.ts';
import type { Block, OutboundFile, OutboundMessage } from './outbound.ts';
import type { MessageStream, StreamPiece, Surface } from './surface.ts';

export function redactedSurface(surface: Surface, redactor: Redactor): Surface {
  const clean = (message: OutboundMessage): OutboundMessage => ({
    ...message,
    blocks: message.blocks.map((block) => cleanBlock(block, redactor)),
  });
  return {
    post: (message, options) => surface.post(clean(message), options),
    edit: (messageId, message) => surface.edit(messageId, clean(message)),
    remove: (messageId) => surface.remove(messageId),
    status: (state) => surface.status(state),
    react: (messageId, sign, on) => surface.react(messageId, sign, on),
    history: (most) => surface.history(most),
    channelHistory: (most) => surface.channelHistory(most),
    whisper: (person, markdown, interactionId) =>
      surface.whisper(person, redactor.redact(markdown), interactionId),
    upload: (file, options) => surface.upload(cleanFile(file, redactor), options),
    download: (file, mostBytes) => surface.download(file, mostBytes),
    ...(surface.budgetOf ? { budgetOf: (kind) => surface.budgetOf?.(kind) ?? null } : {}),
    ...(surface.stream ? { stream: redactedStream(surface.stream, redactor, clean) } : {}),
  };
}

function redactedStream(
  stream: MessageStream,
  redactor: Redactor,
  clean: (message: OutboundMessage) => OutboundMessage,
): MessageStream {
  // The text comes from `drawn`, which sees it whole: a piece alone could look like a secret's rest.
  const cleanPiece = ({ text, tasks }: StreamPiece): StreamPiece => ({
    text,
    tasks: tasks.map((task) => ({ ...task, title: redactor.redact(task.title) })),
  });
  return {
    mostAgeMs: stream.mostAgeMs,
    drawn: (blocks, mentionable) =>
      stream.drawn(
        blocks.map((block) => cleanBlock(block, redactor)),
        mentionable,
      ),
    start: (piece, options) => stream.start(cleanPiece(piece), options),
    append: (messageId, piece) => stream.append(messageId, cleanPiece(piece)),
    stop: (messageId, piece, foot) => stream.stop(messageId, cleanPiece(piece), clean(foot)),
  };
}

/** A secret is taken out of a text, whatever the text is for; other bytes go out as they are: what
 * is changed inside them would be no file any more. */
function cleanFile(file: OutboundFile, redactor: Redactor): OutboundFile {
  const text = textOf(file.content);
  const clean = text === null ? null : redactor.redact(text);
  return {
    ...file,
    name: redactor.redact(file.name),
    content: clean === null || clean === text ? file.content : new TextEncoder().encode(clean),
    ...(file.comment === undefined ? {} : { comment: redactor.redact(file.comment) }),
  };
}

/** Null for bytes that are no UTF-8. */
function textOf(content: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return null;
  }
}

function cleanBlock(block: Block, redactor: Redactor): Block {
  switch (block.kind) {
    case 'markdown':
    case 'activity':
    case 'notice':
      return { ...block, text: redactor.redact(block.text) };
    case 'buttons':
      return {
        ...block,
        buttons: block.buttons.map((one) => ({ ...one, label: redactor.redact(one.label) })),
      };
    case 'feedback':
      return block;
    case 'choice':
      return {
        ...block,
        options: block.options.map((one) => ({ ...one, label: redactor.redact(one.label) })),
      };
  }
}
