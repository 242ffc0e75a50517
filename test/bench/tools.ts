/**
 * What it takes to run the tools of a step while the model still writes: three calls become complete
 * 300 ms apart, each tool takes 500 ms, two may run beside each other and one may not. The whole
 * loop runs, by the real clock; the ideal is computed.
 */

import { setTimeout as realWait, setImmediate as turn } from 'node:timers/promises';
import { run } from '../../src/agent/run.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLog } from '../../src/base/log.ts';
import type { Entry } from '../../src/messages/entries.ts';
import type { CompletionEvent } from '../../src/providers/completion.ts';
import type { RegisteredTool } from '../../src/tools/contract.ts';
import { plainTool } from '../support/tools.ts';

const apartMs = 300;
const toolMs = 500;
const rounds = 9;
const mostRatio = 1.005;

type Name = 'Safe' | 'Alone';

const orders: readonly (readonly Name[])[] = [
  ['Safe', 'Safe', 'Alone'],
  ['Alone', 'Safe', 'Safe'],
];

export async function benchTools(print: (line: string) => void): Promise<boolean> {
  print('| order of the calls | ideal | while the model writes | ratio | after the message |');
  print('|---|---|---|---|---|');
  let isMet = true;
  for (const order of orders) {
    const ideal = idealMs(order);
    const during = await medianOf(() => measure(order, (index) => index * apartMs));
    const end = (order.length - 1) * apartMs;
    const after = await medianOf(() => measure(order, () => end));
    const ratio = during / ideal;
    isMet &&= ratio <= mostRatio;
    print(
      `| ${order.join(', ')} | ${ideal} ms | ${during.toFixed(1)} ms | ${ratio.toFixed(4)} | ${after.toFixed(1)} ms |`,
    );
  }
  print('');
  print(
    `Goal: at most ${mostRatio} times the ideal: ${isMet ? 'met' : 'missed'}. Medians of ${rounds} rounds.`,
  );
  return isMet;
}

/** Each as early as its completion and those before it allow. */
function idealMs(order: readonly Name[]): number {
  const slots: { readonly from: number; readonly to: number; readonly name: Name }[] = [];
  for (const [index, name] of order.entries()) {
    const clashing = slots.filter((other) => name === 'Alone' || other.name === 'Alone');
    const from = Math.max(
      index * apartMs,
      slots.at(-1)?.from ?? 0,
      ...clashing.map(({ to }) => to),
    );
    slots.push({ from, to: from + toolMs, name });
  }
  return Math.max(...slots.map(({ to }) => to));
}

/** Milliseconds from the first call's completion to the last result, through the whole loop. */
async function measure(
  order: readonly Name[],
  readyAtMs: (index: number) => number,
): Promise<number> {
  const entries: Entry[] = [];
  let begin = 0;
  let answers = 0;
  const answer = async function* (): AsyncGenerator<CompletionEvent> {
    answers += 1;
    yield { kind: 'message_start', origin: { provider: 'bench', endpoint: '', model: 'bench' } };
    if (answers > 1) {
      yield { kind: 'message_end', stop: 'end', reasoningMs: 0 };
      return;
    }
    begin = performance.now();
    for (const [index, name] of order.entries()) {
      await until(begin + readyAtMs(index));
      const callId = `call_${index}`;
      yield { kind: 'tool_call_start', callId, name };
      yield { kind: 'tool_call_ready', callId, name, input: {} };
    }
    yield { kind: 'message_end', stop: 'tool_calls', reasoningMs: 0 };
  };
  let end = 0;
  const steps = run(
    {
      clock: systemClock,
      log: silentLog,
      complete: answer,
      onUsed: async () => {},
      limitReached: async () => undefined,
      tooManySteps: async () => '',
      transcript: {
        read: () => entries,
        append: async (added) => {
          entries.push(...added);
        },
      },
      takeWaiting: async () => ({ messageIds: [], addressed: false }),
      tools: [toolOf('Safe'), toolOf('Alone')],
      permit: async () => ({ kind: 'run', isReadOnly: true }),
      redact: (text) => text,
    },
    {
      runId: 'run_1',
      conversationKey: 'bench',
      workspace: { folder: '/tmp', mounts: [] },
      modelName: 'bench/bench',
      system: '',
      toolSpecs: [],
      reasoning: {},
      webSearch: false,
      mostSteps: 2,
      toolTimeoutMs: 60_000,
      toolsAtOnce: 8,
      addressed: true,
    },
    new AbortController().signal,
  );
  for await (const event of steps) if (event.kind === 'tool_finished') end = performance.now();
  return end - begin;
}

function toolOf(name: Name): RegisteredTool {
  return plainTool({
    name,
    concurrencyOf: async () => (name === 'Safe' ? 'always' : 'never'),
    invoke: async () => {
      await until(performance.now() + toolMs);
      return { kind: 'done', parts: [{ kind: 'text', text: 'done' }] };
    },
  });
}

/** Timers are late by a millisecond or two: the end of the wait is watched closely, so that what is
 * measured is the loop and not the timer. */
async function until(at: number): Promise<void> {
  const leftMs = at - performance.now();
  if (leftMs > 4) await realWait(leftMs - 3);
  while (performance.now() < at) await turn();
}

async function medianOf(measureOnce: () => Promise<number>): Promise<number> {
  const found: number[] = [];
  for (let round = 0; round < rounds; round += 1) found.push(await measureOnce());
  return found.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN;
}
