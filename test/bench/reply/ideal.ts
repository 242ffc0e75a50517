/**
 * The lowest staleness that the limits allow, computed: a planner that knows when each answer ends
 * spreads its calls evenly, wastes no time, and always serves the answer whose unseen text is oldest.
 * First texts and ends wait for nothing but the limits. Budgets come back evenly, beside their burst.
 */

import type { CallKind } from '../../../src/surface/calls.ts';
import type { Seen } from './measures.ts';
import { type BenchPlatform, type Limit, onewayMs, scopeOf } from './platforms.ts';
import { type Answer, arrivalsOf, type Scenario } from './scenarios.ts';

interface Bucket {
  readonly limit: Limit;
  tokens: number;
  lastAt: number;
}

interface State {
  readonly answer: Answer;
  readonly cameAt: readonly number[];
  /** Length of the text up to each word. */
  readonly lengths: readonly number[];
  readonly seen: Seen[];
  words: number;
  /** Where the page that is shown begins; undefined before the first. */
  pageFrom: number | undefined;
  busyUntil: number;
  streams: boolean;
}

const tickMs = 2;

/** For each answer, when how many of its words can be read. */
export function idealOf(scenario: Scenario, platform: BenchPlatform): readonly (readonly Seen[])[] {
  const states = scenario.answers.map((answer) => stateOf(answer, platform));
  const buckets = new Map<string, Bucket>();
  const lastCame = Math.max(...states.map(({ cameAt }) => cameAt.at(-1) ?? 0));
  for (let now = 0; states.some(({ words, cameAt }) => words < cameAt.length); now += tickMs) {
    for (const bucket of buckets.values()) refill(bucket);
    const waiting = states
      .filter((state) => state.busyUntil <= now && oldestOf(state) <= now)
      .sort((one, other) => oldestOf(one) - oldestOf(other));
    for (const state of waiting) serve(state, { platform, buckets, states, now, lastCame });
  }
  return states.map(({ seen }) => seen);
}

function stateOf(answer: Answer, platform: BenchPlatform): State {
  let length = 0;
  return {
    answer,
    cameAt: arrivalsOf(answer),
    lengths: answer.tokens.map((token) => {
      length += token.length;
      return length;
    }),
    seen: [],
    ...{ words: 0, pageFrom: undefined, busyUntil: 0, streams: platform.streams },
  };
}

const oldestOf = ({ cameAt, words }: State): number => cameAt[words] ?? Number.POSITIVE_INFINITY;

interface Round {
  readonly platform: BenchPlatform;
  readonly buckets: Map<string, Bucket>;
  readonly states: readonly State[];
  readonly now: number;
  readonly lastCame: number;
}

function serve(state: State, round: Round): void {
  const { platform, now } = round;
  const came = state.cameAt.filter((at) => at <= now).length;
  const isEnd = came === state.cameAt.length;
  const isFull =
    state.pageFrom !== undefined &&
    (state.lengths[state.words] ?? 0) - state.pageFrom > platform.pageLength;
  const isNew = state.pageFrom === undefined || isFull;
  const kinds = kindsOf(state, isNew, isEnd);
  const kind = kinds.find((one) => mayCall(one, state, round, isEnd || isNew));
  if (!kind) return;
  for (const bucket of bucketsOf(kind, state, round)) {
    bucket.tokens -= 1;
    bucket.lastAt = now;
  }
  if (isNew) {
    state.pageFrom = state.lengths[state.words - 1] ?? 0;
    state.streams = kind === 'stream_start';
  }
  const room = (state.pageFrom ?? 0) + platform.pageLength;
  const fitting = state.lengths.filter((length) => length <= room).length;
  state.words = Math.max(state.words, Math.min(came, fitting));
  state.seen.push({ at: now + onewayMs, words: state.words });
  state.busyUntil = now + 2 * onewayMs;
}

function kindsOf(state: State, isNew: boolean, isEnd: boolean): readonly CallKind[] {
  const { streams } = state;
  if (isNew) return streams ? ['stream_start', 'post'] : ['post'];
  if (!streams) return ['edit'];
  return isEnd ? ['stream_stop', 'stream_append'] : ['stream_append'];
}

function bucketsOf(kind: CallKind, { answer }: State, { platform, buckets }: Round): Bucket[] {
  return platform.limits
    .filter(({ calls }) => calls.includes(kind))
    .map((limit) => {
      const name = `${limit.calls.join()}/${limit.per}/${scopeOf(limit, answer)}`;
      const known = buckets.get(name) ?? {
        limit,
        tokens: limit.burst,
        lastAt: Number.NEGATIVE_INFINITY,
      };
      buckets.set(name, known);
      return known;
    });
}

function mayCall(kind: CallKind, state: State, round: Round, isUrgent: boolean): boolean {
  const buckets = bucketsOf(kind, state, round);
  // Sums of fractions: a hair below one is one.
  if (buckets.some(({ tokens }) => tokens < 1 - 1e-9)) return false;
  return isUrgent || buckets.every((bucket) => isSpaced(bucket, round));
}

/** Calls that are left until all words are there, spread evenly; one is kept for each end. */
function isSpaced({ limit, tokens, lastAt }: Bucket, { now, lastCame, states }: Round): boolean {
  const leftMs = Math.max(1, lastCame - now);
  const isShared = limit.per === 'space' || limit.per === 'channel';
  const ends = isShared ? states.filter(({ cameAt }) => (cameAt.at(-1) ?? 0) > now).length : 1;
  const calls = tokens + (leftMs * limit.most) / limit.windowMs - ends;
  // Where there are fewer calls than ends, what comes back is all there is.
  const gapMs = calls > 0 ? leftMs / calls : limit.windowMs / limit.most;
  return now - lastAt >= gapMs;
}

function refill(bucket: Bucket): void {
  const { most, windowMs, burst } = bucket.limit;
  bucket.tokens = Math.min(burst, bucket.tokens + (tickMs * most) / windowMs);
}
