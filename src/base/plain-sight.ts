/**
 * Text in plain sight: what could mislead the eye (control characters, direction marks, characters
 * without width, blanks that are no spaces) is written out as `U+202E`. Line breaks and tabs stay,
 * and so does the mark that makes a sign an emoji. Joined emoji come apart: 👩U+200D💻.
 */

/** Unicode's own list of what shows nothing, and the one blank that it calls a symbol. */
const blanks = '\\p{Default_Ignorable_Code_Point}\u2800';
const hidden = new RegExp(
  `(?![\\n\\t ])(?!(?<=\\p{Extended_Pictographic})\\uFE0F)[\\p{Cc}\\p{Cf}\\p{Zs}\\p{Zl}\\p{Zp}\\p{Cn}\\p{Co}\\p{Cs}${blanks}]`,
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
