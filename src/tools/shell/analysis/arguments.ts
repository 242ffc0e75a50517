/** Sorts the words of a command into options, values and operands by its rule. */

import type { CommandRule, ValueRule } from './rules.ts';
import type { Word } from './words.ts';

export interface OptionUse {
  /** Without dashes. */
  readonly name: string;
  readonly value: string | undefined;
}

export interface SortedArguments {
  readonly options: readonly OptionUse[];
  readonly operands: readonly Word[];
  /** Texts that must be paths that may be read. */
  readonly paths: readonly string[];
  /** The first operand is no path. */
  readonly hasProgram: boolean;
}

interface Sorting {
  readonly options: OptionUse[];
  readonly operands: Word[];
  readonly paths: string[];
}

/** The arguments by the rule; a text says why they are not read-only, as a clause. */
export function sortArguments(
  command: string,
  rule: CommandRule,
  words: readonly Word[],
): SortedArguments | string {
  const sorting: Sorting = { options: [], operands: [], paths: [] };
  const { options, operands, paths } = sorting;
  let isOver = rule.hasNoOptions === true;
  let isValue = false;
  for (const [index, word] of words.entries()) {
    if (isValue) {
      isValue = false;
      continue;
    }
    if (isOver || word.kind !== 'literal' || !isOption(word.text)) {
      operands.push(word);
      // Options of the subcommand are sorted by its own rule.
      isOver ||= rule.subcommands !== undefined;
    } else if (word.text === '--') {
      isOver = true;
    } else {
      const taken = takeOption(command, rule, word.text, words[index + 1], sorting);
      if (typeof taken === 'string') return taken;
      isValue = taken;
    }
  }
  const hasProgram =
    rule.operands === 'text-then-paths' &&
    !options.some(({ name }) => rule.programOptions?.includes(name));
  return { options, operands, paths, hasProgram };
}

/** True: the next word is its value. */
function takeOption(
  command: string,
  rule: CommandRule,
  text: string,
  next: Word | undefined,
  { options, operands, paths }: Sorting,
): boolean | string {
  const isBehind = operands.length > 0;
  if (isBehind && rule.optionsFirst) return `\`${command}\` has an option behind an operand`;
  const found = optionsIn(text, rule);
  if (found === undefined) return `\`${text}\` of \`${command}\` is not known to only read`;
  options.push(...found.flags.map((name) => ({ name, value: undefined })));
  if (!found.takes) return false;
  const { name, rule: valueRule } = found.takes;
  if (isBehind && rule.programOptions?.includes(name))
    return `\`${command}\` has its program behind a file`;
  const value = found.takes.value ?? (next?.kind === 'literal' ? next.text : undefined);
  if (value === undefined) return `the value of \`${text}\` is not plain text`;
  if (typeof valueRule !== 'string' && !valueRule.test(value))
    return `\`${text}\` of \`${command}\` has a value that is not known to only read`;
  const isNextWord = found.takes.value === undefined;
  // Where options end at the first operand, a value of its own is a file.
  if (valueRule === 'path' || (isBehind && isNextWord && rule.operands !== 'text'))
    paths.push(value);
  options.push({ name, value });
  return isNextWord;
}

function isOption(text: string): boolean {
  return text.length > 1 && text.startsWith('-');
}

interface Found {
  readonly flags: readonly string[];
  readonly takes:
    | { readonly name: string; readonly value: string | undefined; readonly rule: ValueRule }
    | undefined;
}

/** Undefined: an option that the rule does not list. */
function optionsIn(text: string, rule: CommandRule): Found | undefined {
  if (text.startsWith('--')) return longOption(text.slice(2), rule);
  if (rule.takesNumber && /^-\d+$/u.test(text)) return { flags: [], takes: undefined };
  const flags: string[] = [];
  for (let index = 1; index < text.length; index += 1) {
    const name = text.charAt(index);
    const valueRule = own(rule.values, name);
    if (rule.isUngrouped && index > 1) return undefined;
    if (valueRule !== undefined) {
      const rest = text.slice(index + 1);
      return { flags, takes: { name, value: rest === '' ? undefined : rest, rule: valueRule } };
    }
    if (!rule.flags?.includes(name)) return undefined;
    flags.push(name);
  }
  return { flags, takes: undefined };
}

function longOption(text: string, rule: CommandRule): Found | undefined {
  const equals = text.indexOf('=');
  const name = equals === -1 ? text : text.slice(0, equals);
  const value = equals === -1 ? undefined : text.slice(equals + 1);
  const valueRule = own(rule.longValues, name);
  if (valueRule !== undefined) return { flags: [], takes: { name, value, rule: valueRule } };
  if (!rule.longFlags?.split(' ').includes(name)) return undefined;
  return value === undefined
    ? { flags: [name], takes: undefined }
    : { flags: [], takes: { name, value, rule: 'text' } };
}

function own<Value>(
  table: Readonly<Record<string, Value>> | undefined,
  key: string,
): Value | undefined {
  return table && Object.hasOwn(table, key) ? table[key] : undefined;
}
