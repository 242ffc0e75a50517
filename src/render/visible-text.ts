/**
 * The reply's text as people may see it: without secrets, and without an end that may begin one.
 * While the text grows only its end is looked at again, so that a long reply costs no more a word
 * than a short one.
 */

import type { Redactor } from '../base/redaction.ts';

/** So much of the end is always looked at: longer than a private key in its usual wrapping. */
const keptUnits = 4096;
const mostUnits = 2 * keptUnits;

/** `hasEnded`: nothing more comes, nothing is held back. */
export type VisibleText = (text: string, hasEnded: boolean) => string;

export function createVisibleText(redactor: Redactor): VisibleText {
  let seen = '';
  /** Units of the text that are done, and what they look like. */
  let done = 0;
  let clean = '';

  /** Sets a beginning aside that looks the same alone as together with the rest. */
  const settle = (rest: string, cleanRest: string): void => {
    const cut = rest.lastIndexOf('\n', rest.length - keptUnits) + 1;
    if (cut === 0) return;
    const head = redactor.redact(rest.slice(0, cut));
    if (head + redactor.redact(rest.slice(cut)) !== cleanRest) return;
    clean += head;
    done += cut;
  };

  return (text, hasEnded) => {
    if (!text.startsWith(seen)) {
      done = 0;
      clean = '';
    }
    seen = text;
    const rest = text.slice(done);
    const cleanRest = redactor.redact(rest);
    const whole = clean + cleanRest;
    if (rest.length > mostUnits) settle(rest, cleanRest);
    return hasEnded ? whole : whole.slice(0, whole.length - redactor.heldBack(cleanRest));
  };
}
