/**
 * How fresh, exact and cheap live replies are, under the limits of the platforms, with exact timing
 * of tokens: simulated time, real drawing. Staleness is the age of the oldest token that the model
 * has sent and nobody can see yet; each figure is compared with the lowest that the limits allow.
 */

import { silentLog } from '../../src/base/log.ts';
import { createRedactor } from '../../src/base/redaction.ts';
import { watchedSurface } from '../../src/render/pacing/paced-surface.ts';
import { createPacer } from '../../src/render/pacing/pacer.ts';
import { noPages } from '../../src/render/page-book.ts';
import { createReply } from '../../src/render/reply.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { idealOf } from './reply/ideal.ts';
import { geometricMean, meanOf, measure, percentile, type Seen } from './reply/measures.ts';
import { type BenchPlatform, platforms } from './reply/platforms.ts';
import { type Answer, arrivalsOf, type Scenario, scenarios, tokensOf } from './reply/scenarios.ts';
import { createSimulated } from './reply/simulated.ts';

const mostFirstRatio = 1.25;
const mostRatio = 2;
const mostFinalMs = 180;
const mostCpuRatio = 2;

interface Played {
  readonly seen: readonly (readonly Seen[])[];
  readonly calls: number;
  readonly refusals: number;
  /** What is wrong with what people could read: "a fence was open". */
  readonly faults: ReadonlySet<string>;
  readonly cpuMs: number;
}

export async function benchReply(print: (line: string) => void): Promise<boolean> {
  let isMet = true;
  print(
    '| platform | scenario | calls | 429s | first text | staleness: mean | 95 % | final text | CPU a token | times the ideal |',
  );
  print('|---|---|---|---|---|---|---|---|---|---|');
  for (const platform of platforms) {
    const ratios: number[] = [];
    for (const scenario of scenarios) {
      const { row, ratio, isGood } = await compare(scenario, platform);
      print(row);
      ratios.push(ratio);
      isMet &&= isGood;
    }
    const mean = geometricMean(ratios);
    const isGood = mean <= platform.goal && Math.max(...ratios) <= mostRatio;
    isMet &&= isGood;
    print(
      `| ${platform.name} | geometric mean | | | | | | | | **${mean.toFixed(2)}** (goal ${platform.goal}: ${isGood ? 'met' : 'missed'}) |`,
    );
  }
  const cpu = await cpuRatio();
  isMet &&= cpu <= mostCpuRatio;
  print('');
  print(
    `CPU a token of a 100,000-character reply: ${cpu.toFixed(2)} times that of one of 1,000 (goal ${mostCpuRatio}: ${cpu <= mostCpuRatio ? 'met' : 'missed'}).`,
  );
  return isMet;
}

async function compare(
  scenario: Scenario,
  platform: BenchPlatform,
): Promise<{ readonly row: string; readonly ratio: number; readonly isGood: boolean }> {
  const played = await play(scenario, platform);
  const ours = figuresOf(scenario, played.seen);
  const ideal = figuresOf(scenario, idealOf(scenario, platform));
  const ratio = ours.meanMs / ideal.meanMs;
  const firstRatio = ours.firstMs / ideal.firstMs;
  const isOne = scenario.answers.length === 1;
  const faults = [
    ...played.faults,
    ...(played.refusals > 0 ? ['429s'] : []),
    ...(firstRatio > mostFirstRatio ? ['first text late'] : []),
    // Text that the limits do not let through is late whoever sends it.
    ...(isOne && ours.finalMs > Math.max(mostFinalMs, ideal.finalMs * mostRatio)
      ? ['final text late']
      : []),
  ];
  const tokens = scenario.answers.reduce((sum, answer) => sum + answer.tokens.length, 0);
  const cells = [
    ...[platform.name, scenario.name, String(played.calls), String(played.refusals)],
    `${ours.firstMs.toFixed(0)} ms (${firstRatio.toFixed(2)})`,
    `${ours.meanMs.toFixed(0)} ms`,
    `${ours.p95Ms.toFixed(0)} ms`,
    `${ours.finalMs.toFixed(0)} ms`,
    `${((played.cpuMs * 1000) / tokens).toFixed(0)} µs`,
    `${ratio.toFixed(2)}${faults.length > 0 ? ` (${faults.join(', ')})` : ''}`,
  ];
  return { row: `| ${cells.join(' | ')} |`, ratio, isGood: faults.length === 0 };
}

interface Figures {
  readonly meanMs: number;
  readonly p95Ms: number;
  readonly firstMs: number;
  readonly finalMs: number;
}

function figuresOf(scenario: Scenario, seen: readonly (readonly Seen[])[]): Figures {
  const all = scenario.answers.map((answer, index) =>
    measure(arrivalsOf(answer), seen[index] ?? []),
  );
  return {
    meanMs: meanOf(all.map(({ meanMs }) => meanMs)),
    p95Ms: percentile(
      all.flatMap(({ samples }) => samples),
      0.95,
    ),
    firstMs: meanOf(all.map(({ firstMs }) => firstMs)),
    finalMs: meanOf(all.map(({ finalMs }) => finalMs)),
  };
}

async function play(scenario: Scenario, platform: BenchPlatform): Promise<Played> {
  const clock = createFakeClock(0);
  const seen = new Map<string, Seen[]>(scenario.answers.map(({ thread }) => [thread, []]));
  const texts = new Map<string, readonly string[]>();
  const faults = new Set<string>();
  const simulated = createSimulated(clock, platform, (thread, messages) => {
    const shown = messages.map(({ text }) => text);
    texts.set(thread, shown);
    seen.get(thread)?.push({ at: clock.now(), words: wordsIn(shown.join('\n')) });
    // What grows by appending has its last fence closed by the reader's client.
    const closed = messages.filter(({ isOpen }) => !isOpen);
    if (closed.some(({ text }) => fencesIn(text) % 2 === 1)) faults.add('a fence was open');
  });
  const pacer = createPacer({ clock }, platform.capabilities.budgets);
  const before = process.cpuUsage();
  const ends = scenario.answers.map((answer) =>
    playAnswer(answer, { clock, platform, simulated, pacer }),
  );
  await clock.advance(10 * 60_000);
  await Promise.all(ends);
  const { user, system } = process.cpuUsage(before);
  for (const { thread, tokens } of scenario.answers) {
    const words = (texts.get(thread) ?? []).join('\n').match(/w\d+/gu) ?? [];
    const isExact =
      words.length === tokens.length && words.every((word, index) => word === `w${index}`);
    if (!isExact) faults.add('text not exact');
  }
  return {
    seen: scenario.answers.map(({ thread }) => seen.get(thread) ?? []),
    calls: simulated.calls,
    refusals: simulated.refusals,
    faults,
    cpuMs: (user + system) / 1000,
  };
}

async function playAnswer(
  answer: Answer,
  stage: {
    readonly clock: FakeClock;
    readonly platform: BenchPlatform;
    readonly simulated: ReturnType<typeof createSimulated>;
    readonly pacer: ReturnType<typeof createPacer>;
  },
): Promise<void> {
  const { clock, platform, simulated, pacer } = stage;
  await at(clock, answer.startMs);
  const { channel, thread } = answer;
  const conversation = { adapter: 'bench', space: 's', channel, thread };
  const reply = createReply(
    {
      ...{ clock, pacer, log: silentLog, capabilities: platform.capabilities },
      surface: watchedSurface(simulated.surfaceOf(conversation), pacer, conversation),
      redactor: createRedactor([]),
      savePages: async () => {},
    },
    {
      ...{ replyId: thread, conversation, pages: noPages, steps: [], mentionable: [] },
      asker: 'slack:U1',
    },
  );
  for (const [index, token] of answer.tokens.entries()) {
    await at(clock, answer.startMs + (index * 1000) / answer.perSecond);
    reply.apply({ kind: 'text_delta', text: token });
  }
  await reply.finish({});
}

function at(clock: FakeClock, time: number): Promise<void> | undefined {
  const leftMs = time - clock.now();
  if (leftMs <= 0) return undefined;
  return new Promise((resolve) => {
    clock.setTimer(leftMs, resolve);
  });
}

/** How many of the numbered words can be read, from the first on. */
function wordsIn(text: string): number {
  const last = text.lastIndexOf('w');
  const number = /^w(\d+)/u.exec(text.slice(last))?.[1];
  return number === undefined ? 0 : Number(number) + 1;
}

function fencesIn(text: string): number {
  return text.match(/^ {0,3}```/gmu)?.length ?? 0;
}

/** What the reply takes beyond the mere passing of tokens, for a long reply against short ones. */
async function cpuRatio(): Promise<number> {
  const [, edits] = platforms;
  if (!edits) throw new Error('there is no platform');
  const cpuOf = async (tokens: number): Promise<number> => {
    const answer = {
      thread: 't',
      channel: 'c',
      startMs: 0,
      tokens: tokensOf(tokens),
      perSecond: 50,
    };
    const { cpuMs } = await play({ name: 'cpu', answers: [answer] }, edits);
    return cpuMs / tokens;
  };
  const short: number[] = [];
  for (let round = 0; round < 40; round += 1) short.push(await cpuOf(170));
  const long: number[] = [];
  for (let round = 0; round < 3; round += 1) long.push(await cpuOf(16_000));
  return percentile(long, 0.5) / percentile(short, 0.5);
}
