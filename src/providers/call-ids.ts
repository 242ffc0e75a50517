/**
 * Ids and names of tool calls that every vendor takes. One server's `functions.weather:0` is refused
 * by the next for as long as it stands in the history, so what is foreign and unfit is replaced, the
 * same way each time.
 */

import { createHash } from 'node:crypto';

/**
 * Anthropic wants these characters, the Responses API at most 64 of them, Chat Completions at
 * api.openai.com at most 40 (their refusals' own words, November 2026).
 */
const fitIdPattern = /^[A-Za-z0-9_-]{1,40}$/u;
/** What ToolSpec promises: fits Anthropic and OpenAI, and begins as Gemini wants it. */
const fitNamePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/u;

const headChars = 27;
const hashChars = 12;

/** Does every vendor take this id? */
export function isFitId(id: string): boolean {
  return fitIdPattern.test(id);
}

/** The id itself where it fits; else its readable head and a hash of the whole. */
export function fitId(id: string): string {
  if (isFitId(id)) return id;
  const head = id.replace(/[^A-Za-z0-9_-]/gu, '_').slice(0, headChars);
  const hash = createHash('sha256').update(id).digest('hex').slice(0, hashChars);
  return `${head}_${hash}`;
}

/** An id as Mistral wants it: nine letters and digits. */
export function nineCharId(id: string): string {
  if (/^[A-Za-z0-9]{9}$/u.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}

/** The name itself where it fits; else the nearest one that does. */
export function fitName(name: string): string {
  if (fitNamePattern.test(name)) return name;
  if (name.trim() === '') return 'unnamed_tool';
  const plain = name.replace(/[^A-Za-z0-9_-]/gu, '_');
  return (/^[A-Za-z_]/u.test(plain) ? plain : `_${plain}`).slice(0, 64);
}

/** Vendor data for a call that has none: it marks an unfit id as its server's own. */
export function idMark(id: string): { readonly id: string } | undefined {
  return isFitId(id) ? undefined : { id };
}
