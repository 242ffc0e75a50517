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
}

export interface RulingInput {
  readonly tool: string;
  readonly assessment: Assessment;
  readonly rules: readonly SourcedRule[];
  /** Ids that stand for the asker: their own, those of their groups and roles. */
  readonly askerIds: ReadonlySet<string>;
  /** A person approved the like for this thread; their name. */
  readonly grantedBy: string | undefined;
}

export function rulingOf(input: RulingInput): Ruling {
  const { assessment, grantedBy } = input;
  const denied = ruleFor(input, 'deny');
  if (denied) return { kind: 'deny', reason: denied };
  const asked = ruleFor(input, 'ask');
  if (asked) return { kind: 'ask', reason: `it falls under the ${asked}` };
  if (assessment.alwaysAsks) return { kind: 'ask', reason: assessment.why };
  const allowed = ruleFor(input, 'allow');
  if (allowed) return { kind: 'allow', reason: allowed };
  if (grantedBy !== undefined && assessment.isWhole) {
    return { kind: 'allow', reason: `granted for this thread by ${grantedBy}` };
  }
  return assessment.needsApproval
    ? { kind: 'ask', reason: assessment.why }
    : { kind: 'allow', reason: assessment.isReadOnly ? 'reads only' : 'needs no approval' };
}

/** The first rule of this kind that names the call, in words. */
function ruleFor(input: RulingInput, kind: Ruling['kind']): string | undefined {
  for (const { rule, source } of input.rules) {
    if (rule.for && !rule.for.some((id) => input.askerIds.has(id))) continue;
    for (const text of rule[kind] ?? []) {
      if (covers(text, input, kind)) return `rule \`${text}\` (${source})`;
    }
  }
  return undefined;
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
