/**
 * Reads the configuration file, fills in the environment, validates. Every problem is listed at
 * once, each with file, line, path and what is expected.
 */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { z } from 'zod';
import { BotError } from '../base/errors.ts';
import { type Environment, variables } from './environment.ts';
import { configSchemaOf } from './schema.ts';

export interface LoadInput<P extends z.ZodRawShape> {
  /** The file; absent with `isDefaultFile`: all defaults. */
  readonly file: string;
  /** A default file may be missing; one that somebody named may not. */
  readonly isDefaultFile: boolean;
  readonly environment: Environment;
  readonly platforms: P;
}

type Raw = Record<string, unknown>;

export type LoadedConfig<P extends z.ZodRawShape> = z.infer<
  ReturnType<typeof configSchemaOf<P>>
> & {
  readonly lineOf: (path: Path) => number;
};

/** The configuration, or a BotError config_invalid whose text lists every problem. */
export function loadConfig<P extends z.ZodRawShape>(input: LoadInput<P>): LoadedConfig<P> {
  const { config, problems } = readConfig(input);
  if (problems.length > 0 || !config) throw configInvalid(problems);
  return config;
}

/**
 * The configuration with every problem found. With problems it is what remains when the faulty
 * settings are left out, so that the rest can be checked as well; undefined when nothing remains.
 */
export function readConfig<P extends z.ZodRawShape>(
  input: LoadInput<P>,
): { readonly config: LoadedConfig<P> | undefined; readonly problems: readonly string[] } {
  const lines = new LineCounter();
  const text = readFile(input);
  const document = parseDocument(text, { lineCounter: lines });
  const problems = document.errors.map(
    (error) => `${input.file}:${error.linePos?.[0].line ?? 1}: ${firstLine(error.message)}`,
  );
  if (problems.length > 0) return { config: undefined, problems };
  const missing = substitute(document, input, lines);
  problems.push(
    ...missing.map(
      ({ line, name }) => `${input.file}:${line}: the environment variable ${name} is not set`,
    ),
  );

  const raw: unknown = document.toJS() ?? {};
  if (!isMapping(raw)) {
    return {
      config: undefined,
      problems: [`${input.file}:1: expected settings by name, like "name: Deckhand"`],
    };
  }
  raw['platforms'] ??= {};
  const fromVariable = applyVariables(raw, input.environment);
  const parsed = configSchemaOf(input.platforms).safeParse(raw);
  const lineOf = (where: Path): number => lineAt(document, lines, where);
  for (const issue of parsed.error?.issues ?? []) {
    // What a missing variable leaves behind is wrong in other ways too: told once.
    if (missing.some(({ line }) => line === lineOf(issue.path))) continue;
    problems.push(...problemLines(issue, input.file, lineOf, fromVariable));
  }
  const config = parsed.data ?? withoutFaulty(raw, parsed.error?.issues ?? [], input.platforms);
  return { config: config && { ...config, lineOf }, problems };
}

export type Path = readonly PropertyKey[];

function readFile({ file, isDefaultFile }: { file: string; isDefaultFile: boolean }): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    const isMissing = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
    if (isMissing && isDefaultFile) return '';
    throw new BotError(
      'config_invalid',
      `The configuration ${file} cannot be read${isMissing ? ': there is no such file' : ''}. DECKHAND_CONFIG names it.`,
      {
        cause: thrown,
      },
    );
  }
}

/** One error for all problems. */
export function configInvalid(problems: readonly string[]): BotError {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return new BotError(
    'config_invalid',
    `The configuration has ${count}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
  );
}

/** What remains when each faulty setting is left out. */
function withoutFaulty<P extends z.ZodRawShape>(
  raw: Raw,
  issues: readonly z.core.$ZodIssue[],
  platforms: P,
): z.infer<ReturnType<typeof configSchemaOf<P>>> | undefined {
  const rest = structuredClone(raw);
  for (const issue of issues) {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : [undefined];
    for (const key of keys) leaveOut(rest, key === undefined ? issue.path : [...issue.path, key]);
  }
  return configSchemaOf(platforms).safeParse(rest).data;
}

function leaveOut(raw: Raw, where: Path): void {
  const holder = where.slice(0, -1).reduce<unknown>((value, key) => {
    return isMapping(value) ? value[String(key)] : undefined;
  }, raw);
  if (isMapping(holder)) delete holder[String(where.at(-1))];
  // An entry of a list cannot be left out alone: the list goes.
  else if (where.length > 1) leaveOut(raw, where.slice(0, -1));
}

/** Without the place, which is told before it. */
function firstLine(text: string): string {
  return (text.split('\n')[0] ?? text).replace(/ at line \d+, column \d+:?$/u, '');
}

function isMapping(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Replaces `${NAME}` and `${NAME:-default}` in texts; returns where a variable is not set. */
function substitute(
  document: Document.Parsed,
  { environment }: { environment: Environment },
  lines: LineCounter,
): readonly { readonly line: number; readonly name: string }[] {
  const missing: { line: number; name: string }[] = [];
  visit(document, {
    Scalar: (role, node) => {
      if (role === 'key' || typeof node.value !== 'string') return;
      node.value = node.value.replace(
        /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/gu,
        (_whole: string, name: string, fallback: string | undefined) => {
          const value = environment[name] ?? fallback;
          if (value !== undefined) return value;
          missing.push({ line: lines.linePos(node.range?.[0] ?? 0).line, name });
          return '';
        },
      );
    },
  });
  return missing;
}

/** Sets what the environment names; returns which setting came from which variable. */
function applyVariables(raw: Raw, environment: Environment): ReadonlyMap<string, string> {
  const from = new Map<string, string>();
  for (const { name, path: where, isNumber } of variables) {
    const value = environment[name];
    if (value === undefined) continue;
    const holder = where.slice(0, -1).reduce<Raw>((map, key) => {
      const inner = map[key];
      if (isMapping(inner)) return inner;
      const made: Raw = {};
      map[key] = made;
      return made;
    }, raw);
    holder[where.at(-1) ?? ''] = isNumber && /^\d+$/u.test(value) ? Number(value) : value;
    from.set(where.join('.'), name);
  }
  return from;
}

function lineAt(document: Document.Parsed, lines: LineCounter, where: Path): number {
  for (let size = where.length; size > 0; size -= 1) {
    const offset = offsetOf(document, where.slice(0, size));
    if (offset !== undefined) return lines.linePos(offset).line;
  }
  return 1;
}

/** Where the key of a path stands in the file. */
function offsetOf(document: Document.Parsed, where: Path): number | undefined {
  const parent = where.length === 1 ? document.contents : document.getIn(where.slice(0, -1), true);
  const key = where.at(-1);
  if (isMap(parent)) {
    const pair = parent.items.find((item) => isScalar(item.key) && item.key.value === key);
    return isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
  }
  if (isSeq(parent) && typeof key === 'number') {
    const item = parent.items[key];
    const range: unknown =
      typeof item === 'object' && item !== null && 'range' in item ? item.range : undefined;
    return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : undefined;
  }
  return undefined;
}

/** Settings of earlier versions. */
const moved: Readonly<Record<string, string>> = { 'agent.mostSteps': 'limits.stepsPerRun' };

function problemLines(
  issue: z.core.$ZodIssue,
  file: string,
  lineOf: (where: Path) => number,
  fromVariable: ReadonlyMap<string, string>,
): readonly string[] {
  const place = (where: Path): string => {
    const variable = fromVariable.get(where.join('.'));
    const name = where.map(String).join('.') || '(top)';
    return variable ? `${variable} (${name})` : `${file}:${lineOf(where)}: ${name}`;
  };
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const where = [...issue.path, key];
      const now = moved[where.join('.')];
      const hint = now === undefined ? '' : ` any more: it is ${now} now`;
      return `${place(where)}: there is no such setting${hint}`;
    });
  }
  return [`${place(issue.path)}: ${issue.message}`];
}

/** The file that is read and whether somebody named it. */
export function configFileOf(
  environment: Environment,
  folder: string,
): { file: string; isDefaultFile: boolean } {
  const named = environment['DECKHAND_CONFIG'];
  return named === undefined
    ? { file: path.join(folder, 'config/deckhand.yaml'), isDefaultFile: true }
    : { file: path.resolve(folder, named), isDefaultFile: false };
}
