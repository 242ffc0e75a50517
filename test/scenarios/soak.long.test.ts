/**
 * Many replies of random Markdown at once, while Slack limits, fails and loses: what people read at
 * the end is what the model wrote. SOAK_SEED plays a run again.
 */

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { AnswerPiece } from '../emulators/model/script.ts';
import type { Fault } from '../emulators/slack/faults.ts';
import { slackLimits } from '../support/platform-limits.ts';
import { createRandom, type Random, seedOf } from '../support/random.ts';
import { differenceOf, randomDeltas, randomMarkdown } from '../support/random-markdown.ts';
import { until } from '../support/until.ts';
import { createSlackBench, type SlackBench } from './slack-bench.ts';

const workspaces = 3;
const threadsAtOnce = 4;
const threadsEach = 20;
const mostRepliesInThread = 3;
const replies = 120;

const retryAfterSeconds = 2;
/** A call may be on its way when another is told to wait, on a busy machine for long. */
const onItsWayMs = 800;

/** The text in random deltas; some come at once, some over seconds. */
function streamed(random: Random, text: string): readonly AnswerPiece[] {
  const deltas = randomDeltas(random, text, random.oneOf([30, 200, 2000]));
  const pauses = random.isLucky(0.7) ? random.between(1, 6) : 0;
  const pieces: AnswerPiece[] = deltas.map((delta) => ({ kind: 'text', text: delta }));
  for (let made = 0; made < pauses; made += 1) {
    const pause = wait(random.between(100, 4000));
    pieces.splice(random.between(1, pieces.length), 0, { kind: 'wait', until: pause });
  }
  return pieces;
}

const disturbed = [
  'chat.postMessage',
  'chat.update',
  'chat.update',
  'chat.delete',
  'chat.startStream',
  'chat.appendStream',
  'chat.stopStream',
] as const;

function disturb(random: Random, { workspace }: SlackBench): void {
  const method = random.oneOf(disturbed);
  const fault = random.oneOf<Fault>([
    { kind: 'rate_limited', retryAfterSeconds },
    { kind: 'rate_limited', retryAfterSeconds },
    { kind: 'status', status: 500 },
    { kind: 'status', status: 503 },
    { kind: 'answer_lost' },
    { kind: 'answer_lost' },
    { kind: 'cut' },
    { kind: 'slow', ms: 400 },
  ]);
  if (random.isLucky(0.6)) workspace.fault(method, fault, { nth: random.between(1, 3) });
  if (random.isLucky(0.08)) workspace.sockets.drop();
}

/** One workspace with its process: threads that ask for replies one after the other. What is wrong. */
async function soak(
  seed: number,
  streaming: boolean,
  counts: readonly number[],
  name: string,
  onReply: () => void,
): Promise<readonly string[]> {
  const random = createRandom(seed);
  const bench = await createSlackBench({
    workspace: { ackTimeoutMs: 1000, retryDelaysMs: [100, 300, 1000, 3000], streaming },
  });
  const { workspace, model, untilAnswers } = bench;
  const pieces = new Map<string, readonly AnswerPiece[]>();
  model.otherwise((request) => {
    const asked = [...JSON.stringify(request.body).matchAll(/write (\w+)\./gu)].at(-1)?.[1] ?? '';
    return { kind: 'message', pieces: pieces.get(asked) ?? [] };
  });
  /** Texts by thread, in order. */
  const threads = new Map<string, string[]>();

  const askFor = async (count: number, index: number): Promise<void> => {
    const texts: string[] = [];
    let thread = '';
    for (let number = 0; number < count; number += 1) {
      const title = `${name}t${index}r${number}`;
      const text = randomMarkdown(random, title, random.oneOf([1, 2, 4, 8, 14]));
      pieces.set(title, streamed(random, text));
      texts.push(text);
      disturb(random, bench);
      if (thread === '') thread = bench.mention(`write ${title}.`);
      else workspace.say('U_BEN', 'C1', `write ${title}.`, { thread });
      threads.set(thread, texts);
      const isThere = (shown: readonly string[]): boolean =>
        shown.some((one) => one.includes(`The end of ${title}.`));
      await untilAnswers(thread, isThere, 120_000);
      onReply();
    }
  };

  try {
    // What is compared is the model's text alone, however long it takes.
    const settings = 'reply: { notify: "off" }\n';
    await writeFile(path.join(bench.folder.path, 'config/deckhand.yaml'), settings);
    const bot = await bench.start();
    const waiting = counts.entries();
    const worker = async (): Promise<void> => {
      for (const [index, count] of waiting) await askFor(count, index);
    };
    await Promise.all(Array.from({ length: threadsAtOnce }, worker));
    const linesOf = (event: string): number =>
      bot.lines.filter((line) => line.event === event).length;
    await until(() => linesOf('run_ended') === linesOf('run_started'), 30_000);
    // The last edits of what has ended may still be on their way.
    const wrong = (): readonly string[] => [...threads].flatMap(wrongIn(bench));
    await until(() => wrong().length === 0, 30_000).catch(() => undefined);
    const asked = counts.reduce((sum, count) => sum + count, 0);
    const doubled = model.requests.length - asked;
    return [
      ...wrong(),
      ...(doubled === 0 ? [] : [`${doubled} calls of the model too many`]),
      ...wrongCalls(bench),
    ];
  } finally {
    await bench.close();
  }
}

function wrongIn({
  answers,
}: SlackBench): (entry: readonly [string, readonly string[]]) => readonly string[] {
  return ([thread, texts]) => {
    const difference = differenceOf(texts.join('\n\n'), answers(thread));
    return difference === undefined ? [] : [difference];
  };
}

/** Calls that Slack refuses, that come too often, or before they may. */
function wrongCalls({ workspace: { calls } }: SlackBench): readonly string[] {
  // The first stream of a process asks whether the workspace has streams.
  const planned = [
    'ok',
    'feature_not_enabled',
    'rate_limited',
    'status',
    'cut',
    'already_reacted',
    'no_reaction',
  ];
  const isPlanned = (method: string, outcome: string): boolean =>
    planned.includes(outcome) ||
    // A deletion, or the end of a stream, whose answer was lost is tried again.
    (method === 'chat.delete' && outcome === 'message_not_found') ||
    (method === 'chat.stopStream' && outcome === 'message_not_in_streaming_state');
  const refused = calls.filter(({ method, outcome }) => !isPlanned(method, outcome));
  const tooMany = Object.entries(slackLimits).flatMap(([name, most]) => {
    const made = calls.filter(({ method }) => method === name);
    return made.flatMap(({ at }, index) => {
      const before = made[index - most];
      const tookMs = before ? at - before.at : Number.POSITIVE_INFINITY;
      return tookMs < 60_000 ? [`${most + 1} calls of ${name} within ${tookMs} ms`] : [];
    });
  });
  const early = calls.flatMap((limited) => {
    if (limited.outcome !== 'rate_limited') return [];
    const from = limited.at + onItsWayMs;
    const to = limited.at + retryAfterSeconds * 1000;
    return calls
      .filter(({ method, at }) => method === limited.method && at > from && at < to)
      .map(({ method, at }) => `${method} ${at - limited.at} ms after it was limited`);
  });
  return [...refused.map(({ method, outcome }) => `${method}: ${outcome}`), ...tooMany, ...early];
}

/** Replies for each thread: one to three, `replies` in all. */
function planned(random: Random): readonly number[] {
  const counts = Array.from({ length: workspaces * threadsEach }, () => 1);
  let left = replies - counts.length;
  while (left > 0) {
    const index = random.between(0, counts.length - 1);
    if ((counts[index] ?? 0) >= mostRepliesInThread) continue;
    counts[index] = (counts[index] ?? 0) + 1;
    left -= 1;
  }
  return counts;
}

describe('a soak of random replies', { timeout: 300_000 }, () => {
  it(`shows ${replies} replies as the model wrote them`, async () => {
    const seed = seedOf('SOAK_SEED');
    const began = Date.now();
    let done = 0;
    const onReply = (): void => {
      done += 1;
      if (done % 10 === 0)
        process.stderr.write(
          `soak: ${done} replies, ${Math.round((Date.now() - began) / 1000)} s\n`,
        );
    };
    const counts = planned(createRandom(seed));
    const parts = Array.from({ length: workspaces }, (_, part) =>
      soak(
        seed + part,
        // One of the workspaces has Slack's own streaming.
        part === 0,
        counts.slice(part * threadsEach, (part + 1) * threadsEach),
        `w${part}`,
        onReply,
      ),
    );
    const wrong = (await Promise.allSettled(parts)).flatMap((result) =>
      result.status === 'rejected' ? [String(result.reason)] : result.value,
    );
    expect(wrong, `SOAK_SEED=${seed}`).toEqual([]);
    expect(done).toBe(replies);
  });
});
