/**
 * What our reading of a stream costs over the bare SDK: CPU for each 1,000 raw events, and the time
 * to the first event. Both read the same bytes from a fetch in this process, an event a piece, in
 * turns, so that a busy machine troubles both alike; medians are given.
 */

import type { ChatProvider } from '../../src/messages/chat.ts';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import type { ProviderDeps } from '../../src/providers/deps.ts';
import { createGeminiProvider } from '../../src/providers/gemini/provider.ts';
import { createOpenaiProvider } from '../../src/providers/openai/provider.ts';
import type { ModelFetch } from '../../src/providers/transport.ts';
import { call, message } from '../emulators/model/script.ts';
import { bytesOf, type WireName } from '../emulators/model-server.ts';
import { chatRequestOf, createTestDeps, pieceFetch } from '../support/providers.ts';
import { bareStreams } from './bare-sdk.ts';

const goalRatio = 1.3;
const goalFirstMs = 1;
const warmUpRounds = 3;
const rounds = 21;
const firstRounds = 300;

const baseUrl = 'http://127.0.0.1:1/v1';
const apiKey = 'key-1';
const models: Readonly<Record<WireName, string>> = {
  anthropic: 'claude-sonnet-5-5',
  openai: 'gpt-6.2-sol',
  compatible: 'some-model',
  gemini: 'gemini-3.6-flash',
};
const makers: Readonly<Record<WireName, (deps: ProviderDeps) => ChatProvider>> = {
  anthropic: (deps) => createAnthropicProvider(deps, { apiKey, baseUrl }),
  openai: (deps) => createOpenaiProvider(deps, { apiKey, baseUrl }),
  compatible: (deps) => createCompatibleProvider(deps, { apiKey, baseUrl }),
  gemini: (deps) => createGeminiProvider(deps, { apiKey, baseUrl }),
};
const wires = ['anthropic', 'openai', 'compatible', 'gemini'] as const;

interface Measured {
  readonly wire: WireName;
  /** Milliseconds of CPU for each 1,000 raw events. */
  readonly bareMs: number;
  readonly ourMs: number;
  readonly ratio: number;
  readonly addedFirstMs: number;
}

/** Prints the table; true when every goal is met. */
export async function benchProviders(print: (line: string) => void): Promise<boolean> {
  print(`| provider | SDK alone, CPU ms per 1,000 events | ours | ratio | first event added |`);
  print(`| --- | ---: | ---: | ---: | ---: |`);
  let isMet = true;
  for (const wire of wires) {
    const { bareMs, ourMs, ratio, addedFirstMs } = await measure(wire);
    isMet &&= ratio <= goalRatio && addedFirstMs < goalFirstMs;
    const columns = [wire, bareMs.toFixed(2), ourMs.toFixed(2), `${ratio.toFixed(2)} ×`];
    print(`| ${columns.join(' | ')} | ${addedFirstMs.toFixed(2)} ms |`);
  }
  print('');
  print(
    `Goal: at most ${goalRatio} ×, first event under ${goalFirstMs} ms: ${isMet ? 'met' : 'missed'}.`,
  );
  return isMet;
}

async function measure(wire: WireName): Promise<Measured> {
  const pieces = piecesOfLongAnswer(wire);
  const request = chatRequestOf(models[wire]);
  const ours = async (fetch: ModelFetch): Promise<AsyncIterable<unknown>> => {
    return makers[wire](createTestDeps(fetch)).stream(request, new AbortController().signal);
  };
  const bare = (fetch: ModelFetch): Promise<AsyncIterable<unknown>> =>
    bareStreams[wire]({ fetch, baseUrl, apiKey, model: models[wire] });

  const cost = async (open: typeof ours): Promise<number> => {
    const before = process.cpuUsage();
    await countOf(await open(pieceFetch(pieces)));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / pieces.length;
  };
  const first = async (open: typeof ours): Promise<number> => {
    const startMs = performance.now();
    for await (const _ of await open(pieceFetch(pieces.slice(0, 50)))) break;
    return performance.now() - startMs;
  };
  // What the compiler does at first is not what a process that runs for weeks pays.
  await inTurns(
    warmUpRounds,
    () => cost(bare),
    () => cost(ours),
  );
  const costs = await inTurns(
    rounds,
    () => cost(bare),
    () => cost(ours),
  );
  const firsts = await inTurns(
    firstRounds,
    () => first(bare),
    () => first(ours),
  );
  return {
    wire,
    bareMs: median(costs.left),
    ourMs: median(costs.right),
    // Of neighbours in time: what else the machine does troubles both.
    ratio: median(costs.right.map((ours, place) => ours / (costs.left[place] ?? Number.NaN))),
    addedFirstMs: median(firsts.right) - median(firsts.left),
  };
}

/** Measures two ways in turns, and who begins changes too. */
async function inTurns(
  times: number,
  left: () => Promise<number>,
  right: () => Promise<number>,
): Promise<{ readonly left: readonly number[]; readonly right: readonly number[] }> {
  const found: { left: number[]; right: number[] } = { left: [], right: [] };
  for (let round = 0; round < times; round += 1) {
    if (round % 2 === 0) found.left.push(await left());
    found.right.push(await right());
    if (round % 2 === 1) found.left.push(await left());
  }
  return found;
}

async function countOf(stream: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of stream) count += 1;
  return count;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Mostly text, some thoughts and calls, as long answers are; one event a piece. */
function piecesOfLongAnswer(wire: WireName): readonly Uint8Array[] {
  const words = Array.from({ length: 10_000 }, (_, place) => ` wörd-${place}`);
  const thoughts = Array.from({ length: 20 }, (_, place) => ({
    kind: 'reasoning' as const,
    text: `Thought number ${place}.`,
  }));
  const calls = Array.from({ length: 20 }, (_, place) =>
    call(`call_${place}`, 'weather', { city: `City ${place}`, note: 'x'.repeat(200) }),
  );
  const answer = message(...thoughts, { kind: 'text', text: words }, ...calls);
  return Buffer.from(bytesOf(wire, answer))
    .toString()
    .split(/(?<=\n\n)/u)
    .map((event) => Buffer.from(event));
}
