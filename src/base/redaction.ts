/**
 * The secrets filter of everything that leaves: replies, cards, logs, audit, tool results and their
 * progress. It knows the bot's own secrets by value, in any usual encoding, and the shapes of common
 * tokens. Ordinary words stay.
 */

import { beginningOfShape, findShapes } from './secret-shapes.ts';

export interface Redactor {
  /** The text with secrets shown as `[redacted: kind]`. */
  redact(text: string): string;
  /** How many characters at the end could be the beginning of a secret: hold them back while the
   * text still grows. */
  heldBack(text: string): number;
}

const leastSecretChars = 8;

/** Longest match first, so that a secret that contains another is replaced whole. */
export function createRedactor(
  secrets: readonly { readonly name: string; readonly value: string }[],
): Redactor {
  const known = secrets
    .filter(({ value }) => value.length >= leastSecretChars)
    .flatMap(({ name, value }) => formsOf(value).map((form) => ({ name, form })))
    .sort((a, b) => b.form.length - a.form.length);
  return {
    redact: (text) => {
      let clean = text;
      for (const { name, form } of known) clean = clean.replaceAll(form, `[redacted: ${name}]`);
      let shown = '';
      let at = 0;
      for (const { kind, from, to } of findShapes(clean)) {
        // What was replaced by its name is no secret any more.
        if (clean.slice(from, to).includes('[redacted: ')) continue;
        shown += `${clean.slice(at, from)}[redacted: ${kind}]`;
        at = to;
      }
      return shown + clean.slice(at);
    },
    heldBack: (text) => {
      let longest = beginningOfShape(text);
      for (const { form } of known) {
        for (
          let size = Math.min(form.length - 1, text.length);
          size > longest && size >= 4;
          size -= 1
        ) {
          if (text.endsWith(form.slice(0, size))) longest = size;
        }
      }
      return longest;
    },
  };
}

/** A secret as it is, and as it looks inside addresses, JSON, base64 and hexadecimal digits. */
function formsOf(value: string): readonly string[] {
  const encoded = encodeURIComponent(value);
  const forms = [
    value,
    encoded,
    encoded.replaceAll('%20', '+'),
    JSON.stringify(value).slice(1, -1),
    Buffer.from(value).toString('hex'),
    ...base64Forms(value),
  ];
  return [...new Set(forms)].filter((form) => form.length >= leastSecretChars);
}

/** Base64 of a value that begins at any place of the encoded text: what of it stays the same. */
function base64Forms(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/u, '');
    // The first characters also hold bits of what stands before, the last of what comes after.
    const from = offset === 0 ? 0 : offset + 1;
    const isOpen = (offset + bytes.length) % 3 !== 0;
    const inner = encoded.slice(from, isOpen ? -1 : undefined);
    const whole = offset === 0 ? [bytes.toString('base64')] : [];
    return [...whole, inner].flatMap((form) => [
      form,
      form.replaceAll('+', '-').replaceAll('/', '_'),
    ]);
  });
}
