/** What no table can say about a command: its program, its addresses, its columns. */

import type { SortedArguments } from './arguments.ts';
import { hasLeavingLink } from './places.ts';
import {
  awkProblem,
  findPaths,
  jqProblem,
  printfProblem,
  sedProblem,
  testPaths,
  yqProblem,
} from './programs.ts';
import { type Problem, pathProblem, quoted, type Scene } from './scene.ts';

/** The arguments of one command, sorted by its rule. */
interface Call {
  /** With its subcommands: `git branch`. */
  readonly name: string;
  readonly sorted: SortedArguments;
  /** The operands that are plain text. */
  readonly texts: readonly string[];
  /** All operands are. */
  readonly isLiteral: boolean;
  readonly scene: Scene;
}

type Judge = (call: Call) => Problem | Promise<Problem>;

const judges: Readonly<Record<string, Judge>> = {
  sed: ({ sorted, texts }) => {
    // Several -e are one script, a line each.
    const scripts = valuesOf(sorted, 'e', 'expression');
    return sedProblem(scripts.length > 0 ? scripts.join('\n') : (texts[0] ?? ''));
  },
  awk: ({ texts }) => awkProblem(texts[0] ?? ''),
  jq: ({ texts }) => jqProblem(texts[0] ?? ''),
  yq: ({ texts }) => yqProblem(texts[0] ?? ''),
  printf: ({ sorted }) => {
    const [format] = sorted.operands;
    return printfProblem(format?.kind === 'literal' ? format.text : '-');
  },
  command: ({ sorted }) =>
    has(sorted, 'v', 'V') ? undefined : 'what `command` runs is not judged',
  strings: ({ texts }) =>
    texts.some((text) => text.startsWith('@')) ? 'its operand may be a list' : undefined,
  ps: psProblem,
  test: (call) => testProblem(call, call.texts),
  '[': (call) => testProblem(call, call.texts.slice(0, -1)),
  find: ({ isLiteral, texts, scene }) =>
    isLiteral ? pathsProblem(findPaths(texts), scene) : 'an argument of `find` is a pattern',
  curl: curlProblem,
  'git branch': listingProblem,
  'git tag': listingProblem,
  'git diff': gitDiffProblem,
};

export async function specificProblem(
  name: string,
  sorted: SortedArguments,
  scene: Scene,
): Promise<Problem> {
  const texts = sorted.operands.flatMap((word) => (word.kind === 'literal' ? [word.text] : []));
  const isLiteral = texts.length === sorted.operands.length;
  const call: Call = { name, sorted, texts, isLiteral, scene };
  const isSigned = valuesOf(sorted).some((value) => /%G|signature/u.test(value));
  if (name.startsWith('git ') && isSigned) return `\`${name}\` may start gpg`;
  if (name.startsWith('kubectl ') && (!isLiteral || texts.some((text) => /secret/iu.test(text))))
    return '`kubectl` may show a secret';
  return Object.hasOwn(judges, name) ? judges[name]?.(call) : undefined;
}

function has({ options }: SortedArguments, ...names: readonly string[]): boolean {
  return options.some((option) => names.includes(option.name));
}

/** The values of these options, or of all. */
function valuesOf({ options }: SortedArguments, ...names: readonly string[]): readonly string[] {
  return options.flatMap(({ name, value }) =>
    value !== undefined && (names.length === 0 || names.includes(name)) ? [value] : [],
  );
}

async function pathsProblem(paths: readonly string[] | string, scene: Scene): Promise<Problem> {
  if (typeof paths === 'string') return paths;
  for (const text of paths) {
    const problem = await pathProblem(text, scene);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function testProblem({ isLiteral, scene }: Call, operands: readonly string[]): Promise<Problem> {
  return pathsProblem(
    isLiteral ? testPaths(operands) : 'a test of an expansion is not judged',
    scene,
  );
}

/** Columns that show no environment. */
const psColumns =
  /^(?:pid|ppid|pgid|sid|user|uid|group|comm|args|cmd|command|%cpu|pcpu|%mem|pmem|rss|vsz|sz|stat|state|s|time|etime|etimes|start|lstart|tty|tt|nice|ni|pri|nlwp|thcount|psr)(?::\d+)?=?$/u;

function psProblem({ sorted, texts }: Call): Problem {
  // `e` in the other style shows environments, and a dash does not always keep the styles apart.
  if (texts.length > 0 && sorted.options.some(({ value }) => value === undefined))
    return '`ps` with options of both styles is not judged';
  const columns = valuesOf(sorted, 'o', 'format').flatMap((value) => value.split(','));
  return columns.every((column) => psColumns.test(column))
    ? undefined
    : 'a column of `ps` is not judged';
}

function curlProblem({ sorted, texts, isLiteral, scene }: Call): Problem {
  const addresses = [...texts, ...valuesOf(sorted, 'url')];
  if (!isLiteral || addresses.length === 0) return 'the address of `curl` is not plain text';
  const wrong = addresses.find((address) => !isAllowedAddress(address, scene.curlHosts));
  return wrong === undefined
    ? undefined
    : `\`curl\` to ${quoted(wrong)} is not allowed without asking`;
}

/** No user, no brackets or braces (curl makes several addresses of them), no backslash. */
function isAllowedAddress(address: string, hosts: readonly string[]): boolean {
  const host = /^https?:\/\/([a-z0-9.-]+(?::\d+)?)(?:[/?][^\s{}[\]\\]*)?$/iu.exec(address)?.[1];
  return host !== undefined && hosts.includes(host.toLowerCase());
}

/** A name makes a branch or a tag, unless the command lists. */
function listingProblem({ name, sorted, texts, isLiteral }: Call): Problem {
  const isListing =
    has(sorted, 'list', 'contains', 'no-contains', 'merged', 'no-merged', 'points-at') ||
    (name === 'git tag' && has(sorted, 'l'));
  return isListing || (isLiteral && texts.length === 0)
    ? undefined
    : `\`${name}\` with a name may make one`;
}

/** Two paths outside a repository are compared as they are, so all that could be one must be inside. */
async function gitDiffProblem({ texts, isLiteral, scene }: Call): Promise<Problem> {
  if (!isLiteral) return '`git diff` has a pattern as argument';
  for (const text of texts) {
    for (const folder of scene.folders) {
      if (await hasLeavingLink(scene.places, folder, text))
        return `${quoted(text)} is, or leads, outside what may be read here`;
    }
  }
  return undefined;
}
