/**
 * What a shell line would do, as far as it can be known before it runs. Parsed by a real parser, and
 * judged by lists of what only reads: what is not understood, or not listed, does not only read.
 */

import path from 'node:path';
import { parse, type ScriptNode, type SimpleCommandNode } from 'just-bash';
import { leadsToGitFolder, mentionsGitFolder, namesGitFolder } from './git-folder.ts';
import { grantOf } from './grant.ts';
import { commandProblem } from './judge.ts';
import { followPath, type ReadablePlace } from './places.ts';
import { judgeRedirection } from './redirections.ts';
import { globsProblem, openProblem, type Problem, pathProblem, type Scene } from './scene.ts';
import { oddityOf } from './shapes.ts';
import { subjectOf, wordText } from './subjects.ts';
import { wordsThatChoose } from './tables/grants.ts';
import { type Step, stepsOf } from './walk.ts';
import { readOneWord, readWord, type Word } from './words.ts';

export interface ShellFacts {
  /** May run beside others and without approval. */
  readonly isReadOnly: boolean;
  /** The first obstacle, as a clause: "`rm` is not known as a command that only reads". */
  readonly why: string;
  /**
   * Each simple command as plain text (`git status -s`), wherever it stands, in the order of the
   * source, and each redirection that writes (`> out.txt`). What rules are matched with; the whole
   * line where it cannot be taken apart.
   */
  readonly commands: readonly string[];
  /** Those of `commands` that are not known to only read; the whole line where it is none of them. */
  readonly unknown: readonly string[];
  /** False when there may be commands that are not seen: then no allow rule may match. */
  readonly isWhole: boolean;
  /** It may write below `.git/`: neither a rule nor a grant spares the question. */
  readonly alwaysAsks: boolean;
  /** `git push*`. A grant covers another line only if that line has the same `grant`. */
  readonly grant: string | undefined;
}

export interface ShellAnalysisOptions {
  /** What may be read, as the shell sees it: `placesInSandbox` or `placesOnHost`. */
  readonly places: readonly ReadablePlace[];
  /** Absolute, as the shell sees it: `/workspace/sub`. */
  readonly cwd: string;
  /** Lower case, with the port where it is not the usual one. */
  readonly curlHosts: readonly string[];
  /** The home folder as the shell sees it; programs read their settings there. */
  readonly home?: string | undefined;
}

/** Longer lines are not analysed. */
const mostChars = 20_000;
/** More folders than this are not followed. */
const mostFolders = 8;

/** Builtins that run text, change what names mean, or evaluate the subscripts in their arguments. */
const hiding: ReadonlySet<string> = new Set(
  '. alias bind builtin caller command compgen complete coproc declare enable eval exec export fc getopts hash let local mapfile read readarray readonly set shopt source trap typeset unalias unset wait'.split(
    ' ',
  ),
);

interface State {
  scene: Scene;
  why: string | undefined;
  isWhole: boolean;
  isInGit: boolean;
  touchesGit: boolean;
  /** Where the shell may have been before each command, not over yet, that must succeed for the next. */
  readonly foldersBefore: (readonly string[])[];
  readonly commands: string[];
  readonly unknown: string[];
}

export async function analyseShell(
  command: string,
  options: ShellAnalysisOptions,
): Promise<ShellFacts> {
  const script = parsed(command);
  if (typeof script === 'string') return unseen(command, script);
  const start = await followPath(options.places, options.cwd, options.cwd);
  const state: State = {
    scene: {
      places: options.places,
      folders: start.kind === 'inside' ? [start.shell] : [],
      variables: new Set(),
      curlHosts: options.curlHosts,
      home: options.home,
    },
    why: start.kind === 'inside' ? undefined : 'it runs outside the workspace',
    isWhole: true,
    isInGit: mentionsGitFolder(options.cwd),
    touchesGit: false,
    foldersBefore: [],
    commands: [],
    unknown: [],
  };
  const steps = stepsOf(script);
  for (const step of steps) await take(step, state);
  // Nothing may be covered by covering nothing.
  if (state.why !== undefined && state.commands.length === 0) state.commands.push(command);
  if (state.why !== undefined && state.unknown.length === 0) state.unknown.push(command);
  const alwaysAsks = state.why !== undefined && state.touchesGit;
  return {
    isReadOnly: state.why === undefined,
    why: state.why ?? 'it only reads',
    commands: state.commands,
    unknown: state.unknown,
    isWhole: state.isWhole,
    alwaysAsks,
    grant: alwaysAsks || !state.isWhole ? undefined : grantOfSteps(script, steps),
  };
}

/** The tree, or why there is none that can be trusted. */
function parsed(command: string): ScriptNode | string {
  if (command.length > mostChars) return 'it is too long to be analysed';
  // Shells differ on what such characters are: a blank, a line, a part of a word, nothing.
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?! )\p{Zs}/u.test(command.replaceAll(/[\n\t]/gu, '')))
    return 'it holds control characters or unusual blanks';
  // A line that goes on can join what the parser saw as two parts, or end another document.
  if (/(?<![ \t])\\\n/u.test(command) || (command.includes('<<') && command.includes('\\\n')))
    return 'it goes on over a line in the middle of a word or beside a document';
  let script: ScriptNode;
  try {
    script = parse(command);
  } catch {
    return 'it cannot be parsed';
  }
  return oddityOf(script) ?? script;
}

function unseen(command: string, why: string): ShellFacts {
  return {
    isReadOnly: false,
    why,
    commands: [command],
    unknown: [command],
    isWhole: false,
    alwaysAsks: mentionsGitFolder(command),
    grant: undefined,
  };
}

function refuse(state: State, why: string): void {
  state.why ??= why;
}

async function take(step: Step, state: State): Promise<void> {
  switch (step.kind) {
    case 'command':
      if (step.isFirm) state.foldersBefore.push(state.scene.folders);
      return takeCommand(step, state);
    case 'joined':
      state.scene = {
        ...state.scene,
        folders: [...new Set([...(state.foldersBefore.pop() ?? []), ...state.scene.folders])],
      };
      return;
    case 'redirection':
      return takeRedirection(step, state);
    case 'loop':
      return takeLoop(step, state);
    case 'text': {
      const word = readOneWord(step.word);
      if (word.kind === 'odd') refuse(state, word.why);
      // Nothing is split or expanded to names here.
      const problem =
        word.kind === 'open' ? openProblem({ ...word, isQuoted: true }, state.scene) : undefined;
      if (problem !== undefined) refuse(state, problem);
      return;
    }
    case 'path': {
      const word = readOneWord(step.word);
      const problem =
        word.kind === 'literal'
          ? await pathProblem(word.text, state.scene)
          : 'it looks at a file that is known only when it runs';
      if (problem !== undefined) refuse(state, problem);
      return;
    }
    case 'function':
      refuse(state, `it defines the function \`${step.name}\``);
      // From here a name may mean something else.
      state.isWhole = false;
      return;
    case 'background':
      refuse(state, 'a part of it goes on in the background');
      return;
  }
}

async function takeLoop(
  { variable, words }: Extract<Step, { kind: 'loop' }>,
  state: State,
): Promise<void> {
  if (!isPlainVariable(variable)) {
    refuse(state, `the loop sets \`${variable}\``);
    // It may set what commands are looked up by.
    state.isWhole = false;
  }
  // What the loop does with its names is not followed.
  state.isInGit ||= words.some((node) => mentionsGitFolder(wordText(node)));
  for (const word of words.flatMap((node) => readWord(node))) {
    const problem = await listedProblem(word, state.scene);
    if (problem !== undefined) refuse(state, problem);
  }
  addVariables(state, [variable]);
}

function listedProblem(word: Word, scene: Scene): Problem | Promise<Problem> {
  switch (word.kind) {
    case 'odd':
      return word.why;
    case 'open':
      return 'the loop goes over words that are known only when it runs';
    case 'literal':
      return undefined;
    case 'glob':
      return globsProblem(word.pieces, scene);
  }
}

/** Not one that a program or the shell looks at: those are in capitals, but for proxies. */
function isPlainVariable(name: string): boolean {
  return /^[a-z][a-z0-9_]*$/u.test(name) && !name.endsWith('_proxy');
}

function addVariables(state: State, names: readonly string[]): void {
  const variables = new Set([...state.scene.variables, ...names]);
  state.scene = { ...state.scene, variables };
}

type CommandStep = Extract<Step, { kind: 'command' }>;

async function takeCommand(step: CommandStep, state: State): Promise<void> {
  const { node } = step;
  if (!node.name && node.assignments.length === 0) return; // only redirections
  const subject = subjectOf(node);
  state.commands.push(subject);
  const words = node.args.flatMap((word) => readWord(word));
  const problem = await problemOf(step, words, state);
  if (problem !== undefined) {
    refuse(state, problem);
    state.unknown.push(subject);
  }
  const name = node.name && readOneWord(node.name);
  const isGit = words.some((word, index) => namesGitFolder(word, sourceOf(node, index)));
  const text = name?.kind === 'literal' ? name.text : '';
  if ((text === 'cd' || text === 'pushd') && isGit) state.isInGit = true;
  if (problem !== undefined && !state.touchesGit) {
    state.touchesGit =
      isGit ||
      state.isInGit ||
      namesGitInSet(node) ||
      setsGit(subject) ||
      (await leadsToGitFolder(words, state.scene));
  }
  if (hidesCommands(node, words)) state.isWhole = false;
}

/** The source of an argument; of all of them where braces made more words than there were. */
function sourceOf({ args }: SimpleCommandNode, index: number): string {
  const word = args[index];
  return word ? wordText(word) : args.map(wordText).join(' ');
}

function namesGitInSet({ assignments }: SimpleCommandNode): boolean {
  return assignments.some(({ value }) => value !== null && mentionsGitFolder(wordText(value)));
}

/** The configuration lies below `.git/`, and names programs. */
function setsGit(subject: string): boolean {
  return /^git\b.* config(?! (?:--get|--get-all|--list|-l|get|list)(?: |$))/u.test(
    ` ${subject}`.trim(),
  );
}

async function problemOf(
  step: CommandStep,
  words: readonly Word[],
  state: State,
): Promise<string | undefined> {
  const { node } = step;
  if (node.assignments.length > 0) return 'it sets a variable';
  const name = node.name && readOneWord(node.name);
  if (name?.kind !== 'literal') return 'which command runs is known only when it runs';
  if (state.scene.folders.length === 0) return 'it runs outside the workspace';
  const problem = await commandProblem(name.text, words, state.scene);
  if (problem !== undefined) return problem;
  if (name.text === 'read') {
    const names = words.flatMap((word) => (word.kind === 'literal' ? [word.text] : []));
    const variables = names.filter((text) => !text.startsWith('-'));
    if (!variables.every(isPlainVariable)) return '`read` sets a variable that programs look at';
    addVariables(state, variables);
  }
  return name.text === 'cd' ? moveProblem(step, words, state) : undefined;
}

/** Follows `cd`. It may fail, or stand in a branch: then the folders from before stay possible. */
async function moveProblem(
  { isLooped, isFirm }: CommandStep,
  words: readonly Word[],
  state: State,
): Promise<string | undefined> {
  const target = words.at(-1);
  if (isLooped) return 'it changes the folder in a loop';
  if (target?.kind !== 'literal' || target.text.startsWith('-') || target.text === '')
    return 'it changes to a folder that is not plain text';
  const { places, folders } = state.scene;
  const possible = new Set(isFirm ? [] : folders);
  for (const folder of folders) {
    const followed = await followPath(places, folder, target.text);
    if (followed.kind === 'outside') return 'it changes to a folder outside the workspace';
    // Behind a link, `..` means one folder to `cd` and another one to programs.
    if (path.posix.resolve(folder, target.text) !== followed.shell)
      return 'it changes to a folder behind a link';
    possible.add(followed.shell);
  }
  if (possible.size > mostFolders) return 'it changes folders too often';
  state.scene = { ...state.scene, folders: [...possible] };
  return undefined;
}

/** Whether the command may run others that the walk does not see. */
function hidesCommands({ name, assignments }: SimpleCommandNode, words: readonly Word[]): boolean {
  if (name === null) return false;
  const word = readOneWord(name);
  if (word.kind !== 'literal') return true;
  const { text } = word;
  const [first] = words;
  const isLookUp = text === 'command' && first?.kind === 'literal' && /^-[vV]+$/u.test(first.text);
  const isRead =
    text === 'read' &&
    words.every((one) => one.kind === 'literal' && /^-r$|^[a-z_]+$/u.test(one.text));
  if (hiding.has(text) && !isLookUp && !isRead) return true;
  if (/^(?:printf|test|\[)$/u.test(text)) {
    // `printf -v` and `test -v` evaluate subscripts.
    const isEvaluating = (one: Word): boolean =>
      one.kind !== 'literal'
        ? text !== 'printf' || one === first
        : /^-v|^-R$|^[^%]*\[.*[$`]/su.test(one.text);
    if (words.some(isEvaluating)) return true;
  }
  if (
    assignments.some(
      ({ name: variable }) => !isPlainVariable(variable) && variable.startsWith('BASH'),
    )
  )
    return true;
  // The subcommand decides what runs.
  return Object.hasOwn(wordsThatChoose, text) && first !== undefined && first.kind !== 'literal';
}

async function takeRedirection(
  { node, isNested }: Extract<Step, { kind: 'redirection' }>,
  state: State,
): Promise<void> {
  const judged = await judgeRedirection(node, isNested, state.scene);
  if (judged.why !== undefined) refuse(state, judged.why);
  if (judged.isUncertain) state.isWhole = false;
  if (judged.subject === undefined) return;
  state.commands.push(judged.subject);
  state.unknown.push(judged.subject);
  if (state.isInGit || judged.isGit) state.touchesGit = true;
}

function grantOfSteps(script: ScriptNode, steps: readonly Step[]): string | undefined {
  const [step] = steps;
  if (steps.length !== 1 || step?.kind !== 'command') return undefined;
  // Nothing around it either: no `( )`, `!` or `time`.
  const [pipeline] = script.statements[0]?.pipelines ?? [];
  if (pipeline?.commands[0] !== step.node || pipeline.negated || pipeline.timed) return undefined;
  const { name, args, assignments } = step.node;
  if (!name || assignments.length > 0) return undefined;
  const words = [name, ...args].flatMap((node) => readWord(node));
  const texts = words.flatMap((word) => (word.kind === 'literal' ? [word.text] : []));
  return texts.length === words.length ? grantOf(texts) : undefined;
}
