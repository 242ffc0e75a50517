/**
 * The secrets filter of everything that leaves: replies, cards, logs, tool results. It knows the
 * bot's own secrets by value and the shapes of common tokens. Ordinary words stay.
 */

export interface Redactor {
  /** The text with secrets shown as `[redacted: kind]`. */
  redact(text: string): string;
  /** How many characters at the end could be the beginning of a secret of ours: hold them back
   * while the text still grows. */
  heldBack(text: string): number;
}

const leastSecretChars = 8;

/** Token shapes with enough fixed structure not to hit prose. */
const shapes: readonly { readonly kind: string; readonly pattern: RegExp }[] = [
  { kind: 'slack token', pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/gu },
  { kind: 'slack app token', pattern: /\bxapp-\d-[A-Za-z0-9]+-\d+-[A-Za-z0-9]{10,}/gu },
  { kind: 'anthropic key', pattern: /\bsk-ant-[A-Za-z0-9_-]{16,}/gu },
  { kind: 'openai key', pattern: /\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,}/gu },
  { kind: 'google key', pattern: /\bAIza[A-Za-z0-9_-]{35}/gu },
  {
    kind: 'github token',
    pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})/gu,
  },
  {
    kind: 'discord token',
    pattern: /\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}/gu,
  },
  { kind: 'aws key', pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/gu },
  {
    kind: 'private key',
    pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu,
  },
  {
    kind: 'password in address',
    pattern: /(?<=\b[a-z][a-z0-9+]{2,20}:\/\/[^\s:/@]{0,64}:)[^\s:/@]{3,128}(?=@)/gu,
  },
];

/** Beginnings of the shapes above at the end of a text that still grows. */
const beginnings =
  /(?:\bxox[abeoprs]-[A-Za-z0-9-]*|\bxapp-[A-Za-z0-9-]*|\bsk-[A-Za-z0-9_-]*|\bAIza[A-Za-z0-9_-]*|\bgh[pousr]_[A-Za-z0-9]*|\bgithub_pat_[A-Za-z0-9_]*|\b(?:AKIA|ASIA)[A-Z0-9]*|\b[a-z][a-z0-9+]{2,20}:\/\/[^\s/@]{0,200}|-----B[A-Z ]*-{0,5})$/u;
/** A longer run is no token: it is shown. */
const mostHeldChars = 300;

function beginningOfShape(text: string): number {
  const tail = text.slice(-mostHeldChars);
  const found = beginnings.exec(tail);
  return found && (found.index > 0 || tail.length < mostHeldChars) ? found[0].length : 0;
}

/** Longest match first, so that a secret that contains another is replaced whole. */
export function createRedactor(
  secrets: readonly { readonly name: string; readonly value: string }[],
): Redactor {
  const known = secrets
    .filter(({ value }) => value.length >= leastSecretChars)
    .flatMap(({ name, value }) =>
      [...new Set([value, encodeURIComponent(value), Buffer.from(value).toString('base64')])].map(
        (form) => ({ name, form }),
      ),
    )
    .sort((a, b) => b.form.length - a.form.length);
  return {
    redact: (text) => {
      let clean = text;
      for (const { name, form } of known) clean = clean.replaceAll(form, `[redacted: ${name}]`);
      for (const { kind, pattern } of shapes) {
        clean = clean.replace(pattern, `[redacted: ${kind}]`);
      }
      return clean;
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
