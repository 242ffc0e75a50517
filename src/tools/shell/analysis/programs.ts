/** Small languages inside arguments: what a program of sed, awk, jq, yq, printf, test or find may hold. */

/** A problem is a clause; undefined: the program only reads what it is given. */
type Problem = string | undefined;

const sedAddress = /^(?:\d+(?:~\d+)?|\$)/u;

/**
 * Addresses with `p d q n N g G h H x D P l =` and `s`, `y` without the flags that write (`w`) or run
 * (`e`); separated by `;` or newlines. No blocks, labels, files.
 */
export function sedProblem(script: string): Problem {
  const refused = 'its sed script is not known to only read';
  let rest = script;
  for (;;) {
    rest = rest.replace(/^[\s;]+/u, '');
    if (rest === '') return undefined;
    const after = afterSedCommand(rest);
    if (after === undefined) return refused;
    rest = after;
    if (!/^[ \t]*(?:[;\n]|$)/u.test(rest)) return refused;
    rest = rest.replace(/^[ \t]+/u, '');
  }
}

function afterSedCommand(script: string): string | undefined {
  let rest = afterSedAddress(script) ?? script;
  if (rest !== script && rest.startsWith(',')) {
    const second = rest.slice(1).replace(/^ +/u, '');
    const range = /^[+~]\d+/u.exec(second);
    const end = range ? second.slice(range[0].length) : afterSedAddress(second);
    if (end === undefined) return undefined;
    rest = end;
  }
  rest = rest.replace(/^ *!? */u, '');
  const command = rest.charAt(0);
  if (command === 's' || command === 'y') {
    const delimiter = rest.charAt(1);
    if (!/^[/|#,@:!_]$/u.test(delimiter)) return undefined;
    const middle = afterDelimiter(rest.slice(2), delimiter);
    const end = middle === undefined ? undefined : afterDelimiter(middle, delimiter);
    if (end === undefined) return undefined;
    return command === 's' ? end.replace(/^[gpiIM\d]*/u, '') : end;
  }
  if (/^[qQ]$/u.test(command)) return rest.slice(1).replace(/^ *\d*/u, '');
  return /^[pdnNgGhHxDPl=]$/u.test(command) ? rest.slice(1) : undefined;
}

function afterSedAddress(script: string): string | undefined {
  const plain = sedAddress.exec(script);
  if (plain) return script.slice(plain[0].length);
  if (!script.startsWith('/')) return undefined;
  return afterDelimiter(script.slice(1), '/')?.replace(/^[IM]*/u, '');
}

/** What follows the next delimiter that no backslash takes away; a newline ends the search. */
function afterDelimiter(text: string, delimiter: string): string | undefined {
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '\n') return undefined;
    if (character === '\\') {
      if (text.charAt(index + 1) === '\n') return undefined;
      index += 1;
    } else if (character === delimiter) {
      // Some seds look for the end behind an open bracket: `s/[/]…`.
      return /\[\^?\]?[^\]]*$/u.test(text.slice(0, index)) ? undefined : text.slice(index + 1);
    }
  }
  return undefined;
}

/**
 * No word that runs, reads or reaches around; `|` and `>` only where they must be an alternative or a
 * comparison: before the first brace, for `print` needs one.
 */
export function awkProblem(program: string): Problem {
  const refused = 'its awk program is not known to only read';
  if (/@|\\\n|[^\t\n\x20-\x7e\u00a1-\uffff]/u.test(program)) return refused;
  if (/getline|system|close|fflush|ENVIRON|PROCINFO|ARG[VC]|SYMTAB|FUNCTAB/iu.test(program))
    return refused;
  const brace = program.indexOf('{');
  const body = brace === -1 ? '' : program.slice(brace).replaceAll('||', '');
  return /[|>]/u.test(body) ? refused : undefined;
}

/** No environment, no other file, no modules. */
export function jqProblem(program: string): Problem {
  const isOdd =
    /\$__|\bENV\b|\b(?:import|include|modulemeta|input_filename|get_search_list|debug|halt\w*)\b/u.test(
      program,
    ) || /(?<!(?<!\.)\.)\benv\b/u.test(program);
  return isOdd ? 'its jq program may read the environment or modules' : undefined;
}

/** Only ways into a document: every function that reads around needs parentheses or is `env…`. */
export function yqProblem(program: string): Problem {
  const isPlain =
    /^\.[\w.[\]"| *-]*$/u.test(program) && !/env|load|eval|system|file/iu.test(program);
  return isPlain ? undefined : 'its yq program is not known to only read';
}

/** `%n` writes a variable, and evaluates the subscript in its name. */
export function printfProblem(format: string): Problem {
  const rest = format.replaceAll(/%[-+ 0#]*\d*(?:\.\d+)?[sdiouxXeEfFgGcbq]|%%/gu, '');
  return rest.includes('%') || format.startsWith('-')
    ? 'its format is not known to only read'
    : undefined;
}

/** The operands of `test` without brackets; `paths` are those that are looked at. */
export function testPaths(operands: readonly string[]): readonly string[] | string {
  const paths: string[] = [];
  for (const [index, text] of operands.entries()) {
    // `-v` evaluates the subscript in a name, `-R` looks at one.
    if (/^-[vR]$/u.test(text) || text.includes('[')) return 'a test of a variable is not judged';
    const isLook = /^-[abcdefgGhkLNOprsSuwx]$/u.test(operands[index - 1] ?? '');
    const isCompared = /^-(?:nt|ot|ef)$/u;
    if (
      isLook ||
      isCompared.test(operands[index - 1] ?? '') ||
      isCompared.test(operands[index + 1] ?? '')
    )
      paths.push(text);
  }
  return paths;
}

/** Tests and actions of find with the number of their values. */
const findWords: Readonly<Record<string, number>> = {
  '-name': 1,
  '-iname': 1,
  '-path': 1,
  '-ipath': 1,
  '-wholename': 1,
  '-regex': 1,
  '-iregex': 1,
  '-regextype': 1,
  '-type': 1,
  '-xtype': 1,
  '-size': 1,
  '-empty': 0,
  '-mtime': 1,
  '-mmin': 1,
  '-atime': 1,
  '-amin': 1,
  '-ctime': 1,
  '-cmin': 1,
  '-newermt': 1,
  '-perm': 1,
  '-user': 1,
  '-group': 1,
  '-uid': 1,
  '-gid': 1,
  '-nouser': 0,
  '-nogroup': 0,
  '-links': 1,
  '-inum': 1,
  '-readable': 0,
  '-writable': 0,
  '-executable': 0,
  '-maxdepth': 1,
  '-mindepth': 1,
  '-depth': 0,
  '-mount': 0,
  '-xdev': 0,
  '-daystart': 0,
  '-noleaf': 0,
  '-prune': 0,
  '-quit': 0,
  '-true': 0,
  '-false': 0,
  '-print': 0,
  '-print0': 0,
  '-printf': 1,
  '-ls': 0,
  '-not': 0,
  '-and': 0,
  '-or': 0,
  '-a': 0,
  '-o': 0,
  '!': 0,
  '(': 0,
  ')': 0,
  ',': 0,
};

/** The starting points of find; a text says what is not known to only read. */
export function findPaths(operands: readonly string[]): readonly string[] | string {
  let index = 0;
  if (operands[0] === '-P') index = 1;
  const paths: string[] = [];
  for (; index < operands.length; index += 1) {
    const text = operands[index] ?? '';
    if (/^[-(),!]/u.test(text)) break;
    paths.push(text);
  }
  for (; index < operands.length; index += 1) {
    const text = operands[index] ?? '';
    const count = Object.hasOwn(findWords, text) ? findWords[text] : undefined;
    if (count === undefined) return `\`${text}\` of \`find\` is not known to only read`;
    index += count;
  }
  return paths;
}
