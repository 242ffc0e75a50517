/** The secrets filter at the one place where everything leaves: a surface behind it. */

import type { Redactor } from '../base/redaction.ts';
import type { Block, OutboundMessage } from './outbound.ts';
import type { Surface } from './surface.ts';

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
    whisper: (person, markdown, interactionId) =>
      surface.whisper(person, redactor.redact(markdown), interactionId),
    // Files go out as they are: who sends one has looked at it, and cut bytes would be no file.
    upload: (file, options) => surface.upload(file, options),
    download: (file, mostBytes) => surface.download(file, mostBytes),
  };
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
    case 'choice':
      return {
        ...block,
        options: block.options.map((one) => ({ ...one, label: redactor.redact(one.label) })),
      };
  }
}
