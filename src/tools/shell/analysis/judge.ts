/** Judges one simple command by the tables: whether it only reads what is the conversation's to read. */

import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { type SortedArguments, sortArguments } from './arguments.ts';
import { configFileProblem, repositoryProblem } from './git-repository.ts';
import { specificProblem } from './judges.ts';
import { followPath, hasLeavingLink } from './places.ts';
import type { CommandRule, CommandTable } from './rules.ts';
import {
  globsProblem,
  openProblem,
  type Problem,
  pathProblem,
  quoted,
  type Scene,
} from './scene.ts';
import { fileCommands } from './tables/files.ts';
import { gitCommand } from './tables/git.ts';
import { operationCommands } from './tables/operations.ts';
import { systemCommands } from './tables/system.ts';
import { textCommands } from './tables/text.ts';
import type { Word } from './words.ts';

const commands: CommandTable = {
  ...fileCommands,
  ...textCommands,
  ...systemCommands,
  ...operationCommands,
  git: gitCommand,
};

/** Why the command is not known to only read; undefined: it only reads. */
export async function commandProblem(
  name: string,
  words: readonly Word[],
  scene: Scene,
): Promise<Problem> {
  const rule = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!rule) return `${quoted(name)} is not known as a command that only reads`;
  return (await ruleProblem(name, rule, words, scene)) ?? (await homeProblem(rule, name, scene));
}

async function ruleProblem(
  name: string,
  rule: CommandRule,
  words: readonly Word[],
  scene: Scene,
): Promise<Problem> {
  const sorted = sortArguments(name, rule, words);
  if (typeof sorted === 'string') return sorted;
  if (rule.subcommands) {
    const [first, ...rest] = sorted.operands;
    if (first === undefined) return rule.standsAlone ? undefined : `\`${name}\` stands alone`;
    const full = first.kind === 'literal' ? `${name} ${first.text}` : name;
    const below = first.kind === 'literal' ? ownRule(rule.subcommands, first.text) : undefined;
    if (!below) return `${quoted(full)} is not known to only read`;
    if (name !== 'git') return ruleProblem(full, below, rest, scene);
    const moved = await gitScene(sorted, scene);
    return typeof moved === 'string' ? moved : ruleProblem(full, below, rest, moved);
  }
  return (
    (await operandsProblem(name, rule, sorted, scene)) ??
    (await specificProblem(name, sorted, scene))
  );
}

function ownRule(table: CommandTable, name: string): CommandRule | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

async function operandsProblem(
  name: string,
  rule: CommandRule,
  { operands, paths, hasProgram }: SortedArguments,
  scene: Scene,
): Promise<Problem> {
  if (rule.operands === 'none' && operands.length > 0)
    return `\`${name}\` with an operand is not known to only read`;
  if (rule.mostOperands !== undefined && operands.length > rule.mostOperands)
    return `\`${name}\` with so many operands is not known to only read`;
  for (const text of paths) {
    const problem = await pathProblem(text, scene);
    if (problem !== undefined) return problem;
  }
  for (const [index, word] of operands.entries()) {
    const problem = await operandProblem(name, rule, word, hasProgram && index === 0, scene);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function operandProblem(
  name: string,
  rule: CommandRule,
  word: Word,
  isProgram: boolean,
  scene: Scene,
): Problem | Promise<Problem> {
  switch (word.kind) {
    case 'odd':
      return word.why;
    case 'open':
      return rule.takesOpenWords
        ? openProblem(word, scene)
        : `\`${name}\` has an argument that is known only when it runs`;
    case 'glob':
      return rule.mostOperands !== undefined || rule.operands instanceof RegExp
        ? `\`${name}\` has a pattern as argument`
        : globsProblem(word.pieces, scene);
    case 'literal':
      return isProgram ? undefined : textProblem(name, rule, word.text, scene);
  }
}

async function textProblem(
  name: string,
  { operands }: CommandRule,
  text: string,
  scene: Scene,
): Promise<Problem> {
  if (operands instanceof RegExp)
    return operands.test(text)
      ? undefined
      : `${quoted(text)} is not judged as an operand of \`${name}\``;
  if (operands === 'text' || operands === 'none') return undefined;
  if (operands !== 'trees' || text === '-') return pathProblem(text, scene);
  for (const folder of scene.folders) {
    if (await hasLeavingLink(scene.places, folder, text))
      return `${quoted(text)} is, or leads, outside what may be read here`;
  }
  return undefined;
}

async function gitScene({ options }: SortedArguments, scene: Scene): Promise<Scene | string> {
  let { folders } = scene;
  for (const { name, value } of options) {
    if (name !== 'C' || value === undefined) continue;
    const moved: string[] = [];
    for (const folder of folders) {
      const followed = await followPath(scene.places, folder, value);
      if (followed.kind === 'outside') return `${quoted(value)} is outside what may be read here`;
      const problem = await repositoryProblem(scene.places, followed.shell);
      if (problem !== undefined) return problem;
      moved.push(followed.shell);
    }
    folders = moved;
  }
  return { ...scene, folders };
}

/** What the command reads of its own before it begins: a repository, files in the home folder. */
async function homeProblem(rule: CommandRule, name: string, scene: Scene): Promise<Problem> {
  if (name === 'git' || name === 'gh') {
    for (const folder of scene.folders) {
      const problem = await repositoryProblem(scene.places, folder);
      if (problem !== undefined) return problem;
    }
  }
  if (scene.home === undefined || !rule.homeFiles) return undefined;
  const home = await followPath(scene.places, scene.home, '.');
  if (home.kind === 'outside') return undefined; // the operator's
  if (home.host === undefined) return 'its home folder cannot be looked at';
  for (const file of rule.homeFiles) {
    const target = path.join(home.host, file);
    const problem =
      file === '.gitconfig' ? await configFileProblem(target) : await presenceProblem(target);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

async function presenceProblem(target: string): Promise<Problem> {
  const stat = await lstat(target).catch(() => undefined);
  return stat && `\`${path.basename(target)}\` in the home folder may change what it does`;
}
