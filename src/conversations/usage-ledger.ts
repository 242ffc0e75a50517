/**
 * What models used and cost: one line a model call, in an append-only log of each day (UTC). Sums
 * are folded from the lines, so that nothing is counted twice and several processes may write.
 * Today and yesterday are read once and then followed; an older day is read when it is asked for,
 * and not kept.
 */

import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { createKeyedQueue } from '../base/queues.ts';
import type { Conversation } from '../messages/conversation.ts';
import { conversationKeyOf } from '../messages/conversation.ts';
import { noUsage, type Usage, usageSchema } from '../messages/usage.ts';
import { createAppendLog } from '../storage/append-log.ts';
import type { Store } from '../storage/store.ts';

const lineSchema = z.object({
  v: z.literal(1),
  at: z.number(),
  runId: z.string(),
  step: z.number(),
  conversation: z.string(),
  /** `adapter:space:channel` */
  channel: z.string(),
  person: z.string(),
  /** `provider/model` */
  model: z.string(),
  usage: usageSchema,
  /** US dollars, as far as they are known. */
  costUsd: z.number(),
  isCostKnown: z.boolean(),
});
type Line = Readonly<z.infer<typeof lineSchema>>;

export interface UsedTokens {
  readonly runId: string;
  readonly step: number;
  readonly conversation: Conversation;
  readonly person: string;
  readonly model: string;
  readonly usage: Usage;
  /** US dollars, as far as they are known. */
  readonly costUsd: number;
  readonly isCostKnown: boolean;
}

export interface UsageSum {
  readonly calls: number;
  readonly usage: Usage;
  /** What is known of the cost, in US dollars. */
  readonly costUsd: number;
  /** Calls whose cost is unknown, or known in part. */
  readonly unknownCalls: number;
}

/** What is summed over. `all` is everything of the days asked for. */
export type SumOver =
  | { readonly kind: 'all' }
  | { readonly kind: 'run' | 'conversation' | 'channel' | 'person' | 'model'; readonly id: string }
  /** One model's part of a run. */
  | { readonly kind: 'run_model'; readonly id: string; readonly model: string };

export interface UsageLedger {
  /** Resolves when the line is stored. */
  record(used: UsedTokens): Promise<void>;
  /** Over the last `days` days, today included (default 1). */
  sum(over: SumOver, days?: number): Promise<UsageSum>;
  /** The sums of each model that was used. */
  byModel(days?: number): Promise<ReadonlyMap<string, UsageSum>>;
}

const dayMs = 24 * 3600 * 1000;
/** Days whose sums stay in memory: today, and yesterday for the runs that began in it. */
const daysKept = 2;
export const emptySum: UsageSum = { calls: 0, usage: noUsage, costUsd: 0, unknownCalls: 0 };

/** A day as far as it was read. */
interface Day {
  readonly sums: Map<string, UsageSum>;
  readUpTo: number;
}

export function createUsageLedger(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}): UsageLedger {
  const days = new Map<string, Day>();
  const reading = createKeyedQueue();
  const writing = createKeyedQueue();
  const logOf = (day: string) => createAppendLog(deps, `usage:${day}`, lineSchema);

  const lastDays = (count: number): readonly string[] =>
    Array.from({ length: count }, (_, back) => dayNameOf(deps.clock.now() - back * dayMs));

  /** Keeps the day if it is a recent one, and lets go of those that are no longer. */
  const keepRecent = (name: string, day: Day): void => {
    const recent = lastDays(daysKept);
    if (recent.includes(name)) days.set(name, day);
    for (const known of days.keys()) if (!recent.includes(known)) days.delete(known);
  };

  /** The sums of a day, brought up to date; readers of one day follow each other. */
  const sumsOf = (name: string): Promise<ReadonlyMap<string, UsageSum>> =>
    reading.run(name, async () => {
      const day = days.get(name) ?? { sums: new Map(), readUpTo: 0 };
      const log = logOf(name);
      const length = await log.length();
      const lines =
        length > day.readUpTo
          ? await log.read({ from: day.readUpTo + 1, most: length - day.readUpTo })
          : [];
      for (const { value } of lines) addLine(day.sums, value);
      day.readUpTo = Math.max(day.readUpTo, length);
      keepRecent(name, day);
      return day.sums;
    });

  return {
    record: async ({ conversation, ...used }) => {
      const at = deps.clock.now();
      const { adapter, space, channel } = conversation;
      const line: Line = {
        v: 1,
        at,
        ...used,
        conversation: conversationKeyOf(conversation),
        channel: `${adapter}:${space}:${channel}`,
      };
      const day = dayNameOf(at);
      await writing.run(day, () => logOf(day).append([line]));
    },
    sum: async (over, count = 1) => {
      let total = emptySum;
      for (const name of lastDays(count)) {
        const found = (await sumsOf(name)).get(sumKeyOf(over));
        if (found) total = added(total, found);
      }
      return total;
    },
    byModel: async (count = 1) => {
      const totals = new Map<string, UsageSum>();
      for (const name of lastDays(count)) {
        for (const [key, sum] of await sumsOf(name)) {
          const [kind = '', ...rest] = key.split(' ');
          const model = rest.join(' ');
          if (kind === 'model') totals.set(model, added(totals.get(model) ?? emptySum, sum));
        }
      }
      return totals;
    },
  };
}

function sumKeyOf(over: SumOver): string {
  switch (over.kind) {
    case 'all':
      return 'all';
    case 'run_model':
      return `run_model ${over.id} ${over.model}`;
    case 'run':
    case 'conversation':
    case 'channel':
    case 'person':
    case 'model':
      return `${over.kind} ${over.id}`;
  }
}

/** `2026-11-30`, UTC. */
function dayNameOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function addLine(sums: Map<string, UsageSum>, line: Line): void {
  const sum: UsageSum = {
    calls: 1,
    usage: line.usage,
    costUsd: line.costUsd,
    unknownCalls: line.isCostKnown ? 0 : 1,
  };
  const { runId, conversation, channel, person, model } = line;
  const overs: readonly SumOver[] = [
    { kind: 'all' },
    { kind: 'run', id: runId },
    { kind: 'run_model', id: runId, model },
    { kind: 'conversation', id: conversation },
    { kind: 'channel', id: channel },
    { kind: 'person', id: person },
    { kind: 'model', id: model },
  ];
  for (const over of overs) {
    const key = sumKeyOf(over);
    sums.set(key, added(sums.get(key) ?? emptySum, sum));
  }
}

function added(a: UsageSum, b: UsageSum): UsageSum {
  return {
    calls: a.calls + b.calls,
    usage: {
      input: a.usage.input + b.usage.input,
      cacheRead: a.usage.cacheRead + b.usage.cacheRead,
      cacheWrite: a.usage.cacheWrite + b.usage.cacheWrite,
      output: a.usage.output + b.usage.output,
      reasoning: a.usage.reasoning + b.usage.reasoning,
    },
    costUsd: a.costUsd + b.costUsd,
    unknownCalls: a.unknownCalls + b.unknownCalls,
  };
}
