/**
 * Allow, ask or deny, for one call: by the rules that name it (deny beats ask beats allow, order
 * does not matter), else by what the call would do. Pure: who belongs to which group is known
 * before.
 */

import type { Assessment } from '../tools/contract.ts';
import { parseToolPattern, type SourcedRule } from './settings.ts';
import { matchesSubject, matchesTool } from './tool-pattern.ts';

export interface Ruling {
  readonly kind: 'allow' | 'ask' | 'deny';
  /** A clause for people and the audit: "rule `Bash(rm *)` (channels[2], line 31)". */
  readonly reason: string;
  /** A grant for the thread would spare the next question of its kind. */
  readonly mayBeGranted: boolean;
}

export interface RulingInput {
  readonly tool: string;
  readonly assessment: Assessment;
  readonly rules: readonly SourcedRule[];
  /** Of each person whose words are in the run, the asker and those who steered: the ids that stand
   * for them, their own and those of their groups and roles. */
  readonly people: readonly ReadonlySet<string>[];
  /** A person approved the like for this thread; their name. */
  readonly grantedBy: string | undefined;
}

export function rulingOf(input: RulingInput): Ruling {
  const { assessment, grantedBy } = input;
  const ruling = (kind: Ruling['kind'], reason: string, mayBeGranted = false): Ruling => ({
    kind,
    reason,
    mayBeGranted,
  });
  const denied = ruleFor(input, 'deny');
  if (denied) return ruling('deny', denied);
  const asked = ruleFor(input, 'ask');
  if (asked) return ruling('ask', `it falls under the ${asked}`);
  if (assessment.alwaysAsks) return ruling('ask', assessment.why);
  const allowed = ruleFor(input, 'allow');
  if (allowed) return ruling('allow', allowed);
  if (grantedBy !== undefined && assessment.isWhole) {
    return ruling('allow', `granted for this thread by ${grantedBy}`);
  }
  return assessment.needsApproval
    ? ruling('ask', assessment.why, assessment.isWhole && assessment.grant !== undefined)
    : ruling('allow', assessment.isReadOnly ? 'reads only' : 'needs no approval');
}

/** The first rule of this kind that names the call, in words. */
function ruleFor(input: RulingInput, kind: Ruling['kind']): string | undefined {
  for (const { rule, source } of input.rules) {
    if (rule.for && !isAbout(rule.for, input.people, kind)) continue;
    for (const text of rule[kind] ?? []) {
      if (covers(text, input, kind)) return `rule \`${text}\` (${source})`;
    }
  }
  return undefined;
}

/** Nobody borrows the rights of another by a word into their run: to allow, a rule must be about all
 * of the people; to ask or deny, about one. */
function isAbout(
  named: readonly string[],
  people: RulingInput['people'],
  kind: Ruling['kind'],
): boolean {
  const isNamed = (ids: ReadonlySet<string>): boolean => named.some((id) => ids.has(id));
  return kind === 'allow' ? people.every(isNamed) : people.some(isNamed);
}

/** An allow rule must cover all that the call does; one part of it is enough for ask and deny. */
function covers(
  text: string,
  { tool, assessment, rules }: RulingInput,
  kind: Ruling['kind'],
): boolean {
  const { subjects, asking = subjects, match, isWhole } = assessment;
  const pattern = parseToolPattern(text);
  if (typeof pattern === 'string' || !matchesTool(pattern, tool)) return false;
  if (pattern.input === undefined) return kind !== 'allow' || isWhole || !isNarrowed(tool, rules);
  const reach = kind === 'allow' ? 'line' : 'all';
  const isCovered = (subject: string): boolean => matchesSubject(pattern, subject, match, reach);
  if (kind === 'allow') return isWhole && asking.length > 0 && asking.every(isCovered);
  // What cannot be seen through may be what the rule is about.
  return subjects.some(isCovered) || (kind === 'ask' && !isWhole);
}

/** Some rule forbids or asks about certain inputs of the tool. */
function isNarrowed(tool: string, rules: readonly SourcedRule[]): boolean {
  return rules.some(({ rule }) =>
    [...(rule.ask ?? []), ...(rule.deny ?? [])].some((text) => {
      const pattern = parseToolPattern(text);
      return typeof pattern !== 'string' && matchesTool(pattern, tool);
    }),
  );
}
