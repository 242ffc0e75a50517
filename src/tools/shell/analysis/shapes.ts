/**
 * Which nodes and fields of the parser's tree are understood. The tree hides commands as text in
 * subscripts, arithmetic and some expansions, so this is an allow list: a node, a field or a text
 * that is not described here makes the whole line one that is not understood.
 */

import type { ScriptNode } from 'just-bash';

/** `tree`: nodes below; `plain`: never run, whatever it holds; `true`: that; a pattern: the texts it may hold. */
type Field = 'tree' | 'plain' | 'true' | RegExp;
type Shape = Readonly<Record<string, Field>>;

const NAME = /^[A-Za-z_]\w*$/u;
/** A text taken as it stands: bytes that expand are looked at where words are read. */
const TEXT: Field = 'plain';

const compound: Shape = { redirections: 'tree', line: 'plain' };
const condition: Shape = { operand: 'tree', left: 'tree', right: 'tree' };

const shapes: Readonly<Record<string, Shape>> = {
  Script: { statements: 'tree' },
  Statement: {
    pipelines: 'tree',
    operators: /^(?:&&|\|\||;)$/u,
    background: 'plain',
    sourceText: 'plain',
    line: 'plain',
  },
  Pipeline: {
    commands: 'tree',
    negated: 'plain',
    timed: 'plain',
    timePosix: 'plain',
    pipeStderr: 'plain',
    line: 'plain',
  },
  SimpleCommand: { ...compound, assignments: 'tree', name: 'tree', args: 'tree' },
  Assignment: { name: NAME, value: 'tree', append: 'plain', array: 'tree', line: 'plain' },
  If: { ...compound, clauses: 'tree', elseBody: 'tree' },
  For: { ...compound, variable: NAME, words: 'tree', body: 'tree' },
  While: { ...compound, condition: 'tree', body: 'tree' },
  Until: { ...compound, condition: 'tree', body: 'tree' },
  Case: { ...compound, word: 'tree', items: 'tree' },
  CaseItem: { patterns: 'tree', body: 'tree', terminator: /^;;&?$|^;&$/u, line: 'plain' },
  Subshell: { ...compound, body: 'tree' },
  Group: { ...compound, body: 'tree' },
  FunctionDef: { ...compound, name: /^[\w.:-]+$/u, body: 'tree', sourceFile: 'plain' },
  ConditionalCommand: { ...compound, expression: 'tree' },
  // `-eq` and its kin evaluate their operands as arithmetic; `-v` and `-R` evaluate subscripts.
  CondBinary: { ...condition, operator: /^(?:==?|!=|=~|<|>|-nt|-ot|-ef)$/u },
  CondUnary: { ...condition, operator: /^-[abcdefghkprstuwxGLNOSzn]$/u },
  CondNot: condition,
  CondAnd: condition,
  CondOr: condition,
  CondGroup: { expression: 'tree' },
  CondWord: { word: 'tree' },
  Redirection: {
    fd: 'plain',
    operator: /^(?:<|>|>>|>&|<&|<>|>\||&>|&>>|<<<|<<|<<-)$/u,
    target: 'tree',
    line: 'plain',
  },
  HereDoc: {
    delimiter: NAME,
    content: 'tree',
    stripTabs: 'plain',
    quoted: 'plain',
    terminated: 'true',
    line: 'plain',
  },
  // A brace item is of type Word too, and keeps its word one level down.
  Word: { parts: 'tree', word: 'tree', line: 'plain' },
  Literal: { value: TEXT },
  SingleQuoted: { value: TEXT },
  DoubleQuoted: { parts: 'tree' },
  Escaped: { value: TEXT },
  Glob: { pattern: /^[^$`]*$/u },
  TildeExpansion: { user: 'plain' },
  BraceExpansion: { items: 'tree' },
  Range: { start: 'plain', end: 'plain', step: 'plain', startStr: 'plain', endStr: 'plain' },
  // No subscript, no indirection: a name or one special character.
  ParameterExpansion: { parameter: /^(?:[A-Za-z_]\w*|\d+|[@*#?$!-])$/u, operation: 'tree' },
  Length: {},
  DefaultValue: { word: 'tree', checkEmpty: 'plain' },
  UseAlternative: { word: 'tree', checkEmpty: 'plain' },
  PatternRemoval: { pattern: 'tree', side: 'plain', greedy: 'plain' },
  CommandSubstitution: { body: 'tree', legacy: 'plain', line: 'plain' },
  ProcessSubstitution: { body: 'tree', direction: 'plain', line: 'plain' },
};

/** Parts without a type of their own. */
const clause: Shape = { condition: 'tree', body: 'tree' };

/** Why the tree is not understood, as a clause; undefined when all of it is. */
export function oddityOf(script: ScriptNode): string | undefined {
  return nodeOddity(script, 0);
}

function nodeOddity(value: unknown, depth: number): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (depth > 200) return 'it is nested too deeply to be understood';
  if (typeof value !== 'object') return 'it holds a part that is not understood';
  if (Array.isArray(value)) return firstOddity(value, (item) => nodeOddity(item, depth + 1));
  const type = 'type' in value ? value.type : undefined;
  const shape = type === undefined ? clause : shapeOf(type);
  if (shape === undefined) return `it uses shell syntax that is not judged (${String(type)})`;
  const fields = Object.entries(value).filter(([key]) => key !== 'type');
  return firstOddity(fields, ([key, field]) =>
    fieldOddity(Object.hasOwn(shape, key) ? shape[key] : undefined, field, depth),
  );
}

function firstOddity<Item>(
  items: readonly Item[],
  oddity: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const found = oddity(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function shapeOf(type: unknown): Shape | undefined {
  return typeof type === 'string' && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
}

function fieldOddity(rule: Field | undefined, field: unknown, depth: number): string | undefined {
  if (rule === 'plain' || field === undefined) return undefined;
  if (rule === 'tree') return nodeOddity(field, depth + 1);
  if (rule === 'true') return field === true ? undefined : 'a document in it never ends';
  const texts = Array.isArray(field) ? field : [field];
  const isKnown =
    rule !== undefined && texts.every((text) => typeof text === 'string' && rule.test(text));
  return isKnown ? undefined : 'it holds an expansion or operator that is not judged';
}
