/** Cutting and measuring text. Lengths are in the unit their name says. */

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cuts to at most `mostBytes` bytes of UTF-8, never inside a character. */
export function cutToBytes(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= mostBytes) return text;
  let end = mostBytes;
  // 10xxxxxx continues a character: step back to the byte that starts one.
  while (end > 0 && ((bytes[end] ?? 0) & 0b1100_0000) === 0b1000_0000) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/**
 * Cuts to at most `mostUnits` UTF-16 units, never inside a grapheme; a cut text ends with `…`
 * (counted). A single grapheme that is longer than the limit is left out.
 */
export function cutToUnits(text: string, mostUnits: number): string {
  if (text.length <= mostUnits) return text;
  return `${text.slice(0, graphemeEnd(text, mostUnits - 1)).trimEnd()}…`;
}

/** The largest grapheme border of `text` that is at most `mostUnits`; 0 when none fits. */
export function graphemeEnd(text: string, mostUnits: number): number {
  if (text.length <= mostUnits) return text.length;
  return graphemes.segment(text).containing(mostUnits)?.index ?? 0;
}

/** How far back a border is looked for: longer graphemes are cut, not kept. */
const mostGraphemeUnits = 500;

/**
 * A border of graphemes at or shortly before `at`, in a time that does not depend on the length of
 * the text. Within a grapheme that never seems to end it is a border of code points.
 */
export function cutPoint(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return Math.min(Math.max(at, 0), text.length);
  const start = windowStart(text, at);
  const window = text.slice(start, at + mostGraphemeUnits);
  const border = start + (graphemes.segment(window).containing(at - start)?.index ?? 0);
  const isEndless = border === start && at - start >= mostGraphemeUnits - 4;
  return isEndless ? codePointBorder(text, at) : border;
}

/** Where to begin so that `at` is divided as in the whole text. */
function windowStart(text: string, at: number): number {
  const first = Math.max(0, at - mostGraphemeUnits);
  for (let back = at - 1; back > first; back -= 1) {
    const unit = text.charCodeAt(back);
    // Printable ASCII always begins a grapheme.
    if (unit >= 0x20 && unit < 0x7f) return back;
  }
  const start = codePointBorder(text, first);
  // Flags are pairs of signs without a first and a second: they must be counted from their start.
  let signs = 0;
  while (isRegionalSign(text.codePointAt(start - 2 * (signs + 1)))) signs += 1;
  return signs % 2 === 0 ? start : start + 2;
}

function isRegionalSign(codePoint: number | undefined): boolean {
  return codePoint !== undefined && codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff;
}

function codePointBorder(text: string, at: number): number {
  // The code point that begins before `at` takes two units: `at` is inside of it.
  return (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at;
}

/** The first words of a text on one line, at most `mostUnits` UTF-16 units. */
export function firstWords(text: string, mostUnits: number): string {
  return cutToUnits(text.replace(/\s+/gu, ' ').trim(), mostUnits);
}

/** `$1.20`; below a cent with the digits that matter: `$0.0031`. */
export function formatUsd(usd: number): string {
  if (usd === 0 || usd >= 0.01) return `$${usd.toFixed(2)}`;
  return usd < 0.0001 ? 'less than $0.0001' : `$${usd.toFixed(4)}`;
}

/** `950`, `12.3k`, `1.2M`. */
export function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 999_950) return `${(count / 1_000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** A beginning and an end with a line between them that says how many UTF-16 units are missing. Half
 * a surrogate pair at a cut is left out. */
export function cutMiddleAt(head: string, tail: string, missing: number): string {
  if (missing === 0) return head + tail;
  const start = head.replace(/[\uD800-\uDBFF]$/u, '');
  const end = tail.replace(/^[\uDC00-\uDFFF]/u, '');
  const left = missing + head.length - start.length + tail.length - end.length;
  return `${start}\n[… ${left} characters left out …]\n${end}`;
}
