/**
 * What is kept of a run that is over, and what a press of "Details" shows of it: steps, tools,
 * sources, approvals, tokens and cost of each model, reference. Kept as long as reply pages are.
 */

import { z } from 'zod';
import type { Log } from '../base/log.ts';
import { cutToUnits, formatCount } from '../base/text.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { Entry } from '../messages/entries.ts';
import type { ToolCallPart } from '../messages/parts.ts';
import type { Store } from '../storage/store.ts';
import { readValidated } from '../storage/validated.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import { costText, tokensOf } from './receipt.ts';
import type { RunRecord } from './run-record.ts';
import type { Scene } from './scene.ts';
import { daysOf, sourcesLine } from './spending.ts';

const detailsSchema = z.object({
  v: z.literal(1),
  /** Only there it is shown. */
  conversation: z.string(),
  runId: z.string(),
  outcome: z.enum(['finished', 'stopped', 'failed']),
  steps: z.number(),
  ms: z.number(),
  calls: z
    .array(
      z.object({
        line: z.string(),
        outcome: z.enum(['ok', 'error', 'refused', 'cancelled', 'interrupted']),
        /** Not known of calls that a crash came upon. */
        ms: z.number().exactOptional(),
      }),
    )
    .readonly(),
  sources: z.array(z.object({ url: z.string(), title: z.string() })).readonly(),
  rulings: z
    .array(
      z.object({
        tool: z.string(),
        kind: z.enum(['approved', 'denied', 'expired']),
        by: z.string().exactOptional(),
      }),
    )
    .readonly(),
  models: z.array(z.object({ name: z.string(), tokens: z.number(), cost: z.string() })).readonly(),
});
export type Details = Readonly<z.infer<typeof detailsSchema>>;

export const keptMs = 120 * 24 * 3600 * 1000;
/** The newest of a long run. */
const mostShown = 30;
const mostLineUnits = 100;
const keyOf = (runId: string): string => `details:${runId}`;

/** Stores what there is to say of a run that is over. */
export async function keepDetails(
  deps: ExecuteDeps,
  scene: Pick<Scene, 'key' | 'transcript'>,
  record: RunRecord,
  outcome: 'finished' | 'stopped' | 'failed',
): Promise<void> {
  const { runId, startedAt, sources, rulings } = record;
  const entries = scene.transcript.entries();
  const details: Details = {
    v: 1,
    conversation: scene.key,
    runId,
    outcome,
    steps: messagesOf(entries, runId).length,
    ms: deps.clock.now() - startedAt,
    calls: callsOf(deps, entries, record).slice(-mostShown),
    sources,
    rulings: rulings.slice(-mostShown),
    models: await modelsOf(deps, record),
  };
  await deps.store.set(keyOf(runId), details, { ttlMs: keptMs });
}

/** Undefined where it is not known, or belongs elsewhere. */
export async function detailsOf(
  deps: { readonly store: Store; readonly log: Log },
  key: ConversationKey,
  runId: string,
): Promise<Details | undefined> {
  const known = await readValidated(deps, keyOf(runId), detailsSchema);
  return known?.conversation === key ? known : undefined;
}

function messagesOf(
  entries: readonly Entry[],
  runId: string,
): readonly Extract<Entry, { kind: 'assistant_message' }>[] {
  return entries.flatMap((entry) =>
    entry.kind === 'assistant_message' && entry.runId === runId ? [entry] : [],
  );
}

function callsOf(
  deps: Pick<ExecuteDeps, 'tools' | 'redactor'>,
  entries: readonly Entry[],
  { runId, callTimes }: RunRecord,
): Details['calls'] {
  return messagesOf(entries, runId).flatMap(({ step, parts }) =>
    parts.flatMap((part) => {
      if (part.kind !== 'tool_call') return [];
      const time = callTimes.find((one) => one.step === step && one.callId === part.callId);
      return [
        {
          line: cutToUnits(deps.redactor.redact(lineOf(deps, part)), mostLineUnits),
          outcome: outcomeOf(entries, runId, step, part.callId),
          ...(time ? { ms: time.ms } : {}),
        },
      ];
    }),
  );
}

function lineOf({ tools }: Pick<ExecuteDeps, 'tools'>, { name, input }: ToolCallPart): string {
  return tools.find((tool) => tool.name === name)?.describe(input) ?? name;
}

function outcomeOf(
  entries: readonly Entry[],
  runId: string,
  step: number,
  callId: string,
): Details['calls'][number]['outcome'] {
  const results = entries.flatMap((entry) =>
    entry.kind === 'tool_results' && entry.runId === runId && entry.step === step
      ? entry.results
      : [],
  );
  return results.find((result) => result.callId === callId)?.outcome ?? 'interrupted';
}

async function modelsOf(deps: ExecuteDeps, record: RunRecord): Promise<Details['models']> {
  const { runId, modelName, handovers } = record;
  const names = [...new Set([modelName, ...handovers.map(({ to }) => to)])];
  const sums = await Promise.all(
    names.map(async (name) => {
      const over = { kind: 'run_model', id: runId, model: name } as const;
      return { name, sum: await deps.ledger.sum(over, daysOf(deps, record)) };
    }),
  );
  return sums.flatMap(({ name, sum }) =>
    sum.calls === 0 ? [] : [{ name, tokens: tokensOf(sum), cost: costText(sum) }],
  );
}

const outcomeWords = {
  ok: 'done',
  error: 'failed',
  refused: 'not allowed',
  cancelled: 'stopped',
  interrupted: 'interrupted',
} as const;

/** What the person who pressed "Details" reads. Markdown. */
export function formatDetails(details: Details): string {
  const { runId, outcome, steps, ms, calls, sources, rulings, models } = details;
  const heads = [
    `**Details of this answer** (reference ${runId})`,
    `${outcome}, ${steps === 1 ? '1 step' : `${steps} steps`}, ${secondsOf(ms)}`,
  ];
  const lists = [
    [
      'Models',
      models.map(
        ({ name, tokens, cost }) => `${plain(name)}: ${formatCount(tokens)} tokens, ${cost}`,
      ),
    ],
    [
      'Tools',
      calls.map(
        ({ line, outcome: how, ms: took }) =>
          `${line.includes('`') ? line : plain(line)}: ${outcomeWords[how]}${took === undefined ? '' : `, ${secondsOf(took)}`}`,
      ),
    ],
    [
      'Approvals',
      rulings.map(
        ({ tool, kind, by }) =>
          `${plain(tool)}: ${kind}${by === undefined ? '' : ` by ${plain(by)}`}`,
      ),
    ],
  ] as const;
  const found = sourcesLine(sources);
  return [
    ...heads,
    ...lists.flatMap(([name, lines]) =>
      lines.length === 0 ? [] : [`**${name}**\n${lines.map((line) => `- ${line}`).join('\n')}`],
    ),
    ...(found === undefined ? [] : [found]),
  ].join('\n\n');
}

function secondsOf(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}

function plain(text: string): string {
  return text.replace(/\s+/gu, ' ').replace(/([\\`*_[\]<>~|])/gu, '\\$1');
}
