/** What an operator decides: limits that hold from the start, and what the bot may do with tools. */

import { z } from 'zod';

export const limitSettings = z.strictObject({
  /** Runs that one person may start within an hour. */
  runsPerPersonHour: z.int().min(1).max(100_000).default(30),
  /** Steps (one model call and its tools) that a run may make. */
  stepsPerRun: z.int().min(1).max(500).default(25),
  /** US dollars; only what is known of a cost counts. Default: no limit. */
  usdPerRun: z.number().positive().exactOptional(),
  /** Over all conversations, from midnight to midnight UTC. Default: no limit. */
  usdPerDay: z.number().positive().exactOptional(),
});
export type LimitSettings = Readonly<z.infer<typeof limitSettings>>;

/** A tool's name with `*`, and in brackets what its input must be like: `Bash(git status*)`,
 * `FileWrite(reports/**)`, `mcp__github__*`. */
export interface ToolPattern {
  readonly tool: string;
  /** Undefined: whatever the input is. */
  readonly input: string | undefined;
}

const form = /^([A-Za-z0-9_*-]+)(?:\((.+)\))?$/su;

/** The pattern, or a sentence that says what is wrong with it. */
export function parseToolPattern(text: string): ToolPattern | string {
  const match = form.exec(text.trim());
  const [, tool, input] = match ?? [];
  if (tool === undefined) {
    return `must be a tool's name, with what its input must be like in brackets: Bash(git status*), not ${JSON.stringify(text)}`;
  }
  return { tool, input };
}

/** A person, a Slack user group or a Discord role: platform and immutable id. */
const whoId = z
  .string()
  .regex(/^(slack|discord|web):[A-Za-z0-9]+$/u, 'must be like slack:U024BE7LH: platform and id');

const patterns = z
  .union(
    [z.string(), z.array(z.string()).min(1)],
    'must be a pattern like Bash(git status*), or a list of them',
  )
  .check(({ value, issues }) => {
    for (const [index, input] of [value].flat().entries()) {
      const parsed = parseToolPattern(input);
      if (typeof parsed !== 'string') continue;
      const path = Array.isArray(value) ? [index] : [];
      issues.push({ code: 'custom', message: parsed, input, path });
    }
  })
  .transform((value): readonly string[] => [value].flat());

/** One of allow, ask and deny, with patterns like `Bash(git status*)`. */
const rule = z
  .strictObject({
    allow: patterns.exactOptional(),
    ask: patterns.exactOptional(),
    deny: patterns.exactOptional(),
    /** People, groups and roles whose runs it is about. Default: everybody's. */
    for: z.array(whoId).min(1).readonly().exactOptional(),
  })
  .refine(({ allow, ask, deny }) => [allow, ask, deny].filter(Boolean).length === 1, {
    message: 'must have exactly one of allow, ask and deny',
  });
export type PermissionRule = Readonly<z.infer<typeof rule>>;

const approver = z
  .string()
  .regex(
    /^(?:asker|participants|(?:slack|discord|web):[A-Za-z0-9]+)$/u,
    'must be asker, participants, or an id like slack:U024BE7LH',
  );

const hourMs = 3600 * 1000;

/** Nearer settings win, field by field; rules add up. */
export const permissionSettings = z.strictObject({
  rules: z.array(rule).readonly().exactOptional(),
  /** asker, participants, or ids of people, groups and roles. Default: asker. */
  approvers: z.array(approver).min(1).readonly().exactOptional(),
  /** How many people must approve. Default: 1. */
  quorum: z.int().min(1).max(5).exactOptional(),
  /** Whoever asked may not approve: four eyes. Default: false. */
  notAsker: z.boolean().exactOptional(),
  /** Milliseconds for which an approval can be given. Default: 4 hours. */
  expiresMs: z
    .int()
    .min(1000)
    .max(7 * 24 * hourMs)
    .exactOptional(),
  /** Milliseconds that "for this thread" holds. Default: 8 hours, at most 24. */
  grantMs: z
    .int()
    .min(60_000)
    .max(24 * hourMs)
    .exactOptional(),
});
export type PermissionSettings = Readonly<z.infer<typeof permissionSettings>>;

export type Approvers = NonNullable<PermissionSettings['approvers']>;

/** All that holds in one place, with defaults. */
export interface Permissions {
  readonly rules: readonly SourcedRule[];
  readonly approvers: Approvers;
  readonly quorum: number;
  readonly notAsker: boolean;
  readonly expiresMs: number;
  readonly grantMs: number;
}

/** A rule and where it stands, for people: "channels[2], line 31 of config/deckhand.yaml". */
export interface SourcedRule {
  readonly rule: PermissionRule;
  readonly source: string;
}

/** Settings of several levels as one, the outermost first. */
export function mergePermissions(
  levels: readonly { readonly value: PermissionSettings; readonly source: string }[],
): Permissions {
  const nearest = <K extends keyof PermissionSettings>(key: K) =>
    levels.findLast(({ value }) => value[key] !== undefined)?.value[key];
  return {
    rules: levels.flatMap(({ value, source }) =>
      (value.rules ?? []).map((one) => ({ rule: one, source })),
    ),
    approvers: nearest('approvers') ?? ['asker'],
    quorum: nearest('quorum') ?? 1,
    notAsker: nearest('notAsker') ?? false,
    expiresMs: nearest('expiresMs') ?? 4 * hourMs,
    grantMs: nearest('grantMs') ?? 8 * hourMs,
  };
}

/** Why nobody could ever approve under these settings; undefined when somebody can. */
export function approverProblem(permissions: Permissions): string | undefined {
  const { approvers, quorum, notAsker } = permissions;
  const isAskerAlone = approvers.every((one) => one === 'asker');
  if (isAskerAlone && notAsker) {
    return 'approvers names only the asker, and notAsker forbids the asker to approve: name others, or take notAsker away';
  }
  if (isAskerAlone && quorum > 1) {
    return `quorum is ${quorum}, but approvers names only the asker: name others, or set quorum to 1`;
  }
  const most = mostApprovers(permissions);
  if (most >= quorum) return undefined;
  const people = most === 1 ? '1 person' : `${most} people`;
  return `quorum is ${quorum}, but approvers names only ${people} who may approve: name more, or set quorum to ${most}`;
}

/** Ids that can only be a single person's; a Discord id may be a role's. */
const personAlone = /^(?:slack:[UW]|web:)/u;

/** How many people could approve a call, for whichever asker there are most. */
function mostApprovers({ approvers, notAsker }: Permissions): number {
  const named = new Set(approvers);
  const asker = named.delete('asker') && !notAsker ? 1 : 0;
  const isCounted = [...named].every((one) => personAlone.test(one));
  return isCounted ? named.size + asker : Number.POSITIVE_INFINITY;
}
