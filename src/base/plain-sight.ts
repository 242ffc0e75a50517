/**
 * Text in plain sight: what could mislead the eye (control characters, direction marks, characters
 * without width, blanks that are no spaces) is written out as `U+202E`. Line breaks and tabs stay.
 */

/** Letters and marks that show nothing, besides what Unicode calls control, format or space. */
const blanks = '\u115F\u1160\u3164\uFFA0\u2800\u034F\u17B4\u17B5\u180B-\u180F\uFE00-\uFE0D';
const hidden = new RegExp(
  `(?![\\n\\t ])[\\p{Cc}\\p{Cf}\\p{Zs}\\p{Zl}\\p{Zp}\\p{Cn}\\p{Co}\\p{Cs}${blanks}]`,
  'gu',
);

export function inPlainSight(text: string): string {
  return text.replace(hidden, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  });
}

/** A code block whose fence is longer than any inside. */
export function codeBlock(language: string, text: string): string {
  const longest = [...text.matchAll(/`+/gu)].reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
