/** Takes a tree apart into the steps that matter, in the order of the source. */

import type {
  CommandNode,
  ScriptNode,
  SimpleCommandNode,
  StatementNode,
  WordNode,
} from 'just-bash';
import { scriptsOf } from './words.ts';

type Redirection = SimpleCommandNode['redirections'][number];
type Compound = Exclude<CommandNode, SimpleCommandNode>;
type Condition = Extract<CommandNode, { type: 'ConditionalCommand' }>['expression'];

export type Step =
  | {
      readonly kind: 'command';
      readonly node: SimpleCommandNode;
      /** May run more than once, or not when it seems. */
      readonly isLooped: boolean;
      /** What follows up to `joined` runs only if it succeeds: `cd src && …`. */
      readonly isFirm: boolean;
    }
  /** The statement that began with a firm command is over. */
  | { readonly kind: 'joined' }
  | { readonly kind: 'redirection'; readonly node: Redirection; readonly isNested: boolean }
  /** A loop gives the variable these words one after the other. */
  | { readonly kind: 'loop'; readonly variable: string; readonly words: readonly WordNode[] }
  /** The word is only compared or matched. */
  | { readonly kind: 'text'; readonly word: WordNode }
  /** The word names a file that is looked at. */
  | { readonly kind: 'path'; readonly word: WordNode }
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'background' };

interface Place {
  readonly isLooped: boolean;
  /** Inside a substitution. */
  readonly isNested: boolean;
}

export function stepsOf(script: ScriptNode): readonly Step[] {
  const steps: Step[] = [];
  statements(script.statements, { isLooped: false, isNested: false });
  return steps;

  function statements(list: readonly StatementNode[], place: Place): void {
    for (const statement of list) {
      if (statement.background) steps.push({ kind: 'background' });
      const firm = firmCommandOf(statement);
      for (const { commands } of statement.pipelines) {
        for (const command of commands) {
          if (command.type === 'SimpleCommand') simple(command, place, command === firm);
          else compound(command, place);
        }
      }
      if (firm) steps.push({ kind: 'joined' });
    }
  }

  function simple(node: SimpleCommandNode, place: Place, isFirm: boolean): void {
    steps.push({ kind: 'command', node, isLooped: place.isLooped, isFirm });
    if (node.name) substitutions(node.name, place);
    for (const { value, array } of node.assignments) {
      if (value) substitutions(value, place);
      for (const word of array ?? []) substitutions(word, place);
    }
    for (const word of node.args) substitutions(word, place);
    redirections(node.redirections, place);
  }

  function substitutions(word: WordNode, place: Place): void {
    for (const { statements: list } of scriptsOf(word)) {
      statements(list, { ...place, isNested: true });
    }
  }

  function redirections(list: readonly Redirection[], place: Place): void {
    for (const node of list) {
      steps.push({ kind: 'redirection', node, isNested: place.isNested });
      substitutions(node.target.type === 'HereDoc' ? node.target.content : node.target, place);
    }
  }

  function looked(kind: 'text' | 'path', word: WordNode, place: Place): void {
    steps.push({ kind, word });
    substitutions(word, place);
  }

  function compound(node: Compound, place: Place): void {
    const looped = { ...place, isLooped: true };
    switch (node.type) {
      case 'If':
        for (const { condition, body } of node.clauses) {
          statements(condition, place);
          statements(body, place);
        }
        statements(node.elseBody ?? [], place);
        break;
      case 'For':
        steps.push({ kind: 'loop', variable: node.variable, words: node.words ?? [] });
        for (const word of node.words ?? []) substitutions(word, place);
        statements(node.body, looped);
        break;
      case 'While':
      case 'Until':
        statements(node.condition, looped);
        statements(node.body, looped);
        break;
      case 'Case':
        looked('text', node.word, place);
        for (const { patterns, body } of node.items) {
          for (const word of patterns) looked('text', word, place);
          statements(body, place);
        }
        break;
      case 'Subshell':
      case 'Group':
        statements(node.body, place);
        break;
      case 'FunctionDef':
        steps.push({ kind: 'function', name: node.name });
        compound(node.body, looped);
        break;
      case 'ConditionalCommand':
        condition(node.expression, place);
        break;
      case 'CStyleFor': // these two are refused with the tree
      case 'ArithmeticCommand':
        steps.push({ kind: 'function', name: '' });
        break;
    }
    redirections(node.redirections, place);
  }

  function condition(node: Condition, place: Place): void {
    switch (node.type) {
      case 'CondBinary': {
        const kind = /^-(?:nt|ot|ef)$/u.test(node.operator) ? 'path' : 'text';
        looked(kind, node.left, place);
        looked(kind, node.right, place);
        break;
      }
      case 'CondUnary':
        looked(/^-[znt]$/u.test(node.operator) ? 'text' : 'path', node.operand, place);
        break;
      case 'CondNot':
        condition(node.operand, place);
        break;
      case 'CondAnd':
      case 'CondOr':
        condition(node.left, place);
        condition(node.right, place);
        break;
      case 'CondGroup':
        condition(node.expression, place);
        break;
      case 'CondWord':
        looked('text', node.word, place);
        break;
    }
  }
}

function firmCommandOf({ pipelines, operators }: StatementNode): CommandNode | undefined {
  const [first] = pipelines;
  if (!first || first.negated || first.commands.length !== 1) return undefined;
  const [command] = first.commands;
  const isFirm = operators.length > 0 && operators.every((operator) => operator === '&&');
  return isFirm && command?.type === 'SimpleCommand' ? command : undefined;
}
