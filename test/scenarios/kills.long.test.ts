/**
 * The process is killed at random moments of a run with a tool call, again and again: each mention
 * ends in one whole answer, each tool call has one result. KILLS_SEED plays a run again.
 */

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AnswerPiece, call, message } from '../emulators/model/script.ts';
import { createRandom, type Random, seedOf } from '../support/random.ts';
import { until } from '../support/until.ts';
import { askWhere, createSlackBench, type SlackBench } from './slack-bench.ts';

const rounds = 25;
const mostMsAlive = 2500;
/** Every few rounds the run asks a person before it goes on. */
const roundsBetweenQuestions = 4;

const requestSchema = z.object({
  messages: z.array(
    z.looseObject({
      role: z.string(),
      content: z.unknown(),
      tool_call_id: z.string().optional(),
      tool_calls: z.array(z.looseObject({ id: z.string() })).optional(),
    }),
  ),
});

/** What the model says in the round: first words and a tool call, then perhaps a question, the end. */
function scriptRound(bench: SlackBench, random: Random, name: string, asks: boolean): void {
  const slow = (text: string): readonly AnswerPiece[] =>
    text.split(/(?<= )/u).flatMap((word): readonly AnswerPiece[] => [
      { kind: 'text', text: word },
      // Begins to wait when the answer is made.
      { kind: 'wait', until: wait(random.between(0, 1200)) },
    ]);
  bench.model.otherwise(({ body }) => {
    const { messages } = requestSchema.parse(body);
    const turn = messages.findLastIndex(
      ({ role, content }) => role === 'user' && JSON.stringify(content).includes(`round ${name}.`),
    );
    const called = messages.slice(turn).flatMap(({ tool_calls }) => tool_calls ?? []);
    const has = (id: string): boolean => called.some((one) => one.id === id);
    const write = `write_${name}`;
    if (!has(write)) {
      const input = { path: `notes-${name}.md`, content: `notes of ${name}\n`.repeat(200) };
      return message(...slow(`Let me write that down, ${name}. `), call(write, 'FileWrite', input));
    }
    if (asks && !has(askWhere.id)) return message(...slow(`Written. `), askWhere);
    return message(...slow(`All of round ${name} is done and well.`));
  });
}

/** Ids of tool calls that have not exactly one result in a request. */
function wronglyAnswered(body: unknown): readonly string[] {
  const { messages } = requestSchema.parse(body);
  const ids = messages.flatMap(({ tool_calls }) => tool_calls ?? []).map(({ id }) => id);
  const results = messages.flatMap(({ tool_call_id }) => tool_call_id ?? []);
  return [...new Set([...ids, ...results])].filter(
    (id) =>
      ids.filter((one) => one === id).length !== 1 ||
      results.filter((one) => one === id).length !== 1,
  );
}

/** What people read in a thread: the model's words, question cards, and lines of the bot's own. */
function readIn(bench: SlackBench, thread: string) {
  const all = bench.answers(thread);
  const cards = all.filter((shown) => shown.includes('Where to?'));
  const lines = all.filter((shown) => !cards.includes(shown)).flatMap((one) => one.split('\n'));
  const notices = lines.filter((line) => line.startsWith('▸ '));
  const words = lines.filter((line) => line.trim() !== '' && !notices.includes(line));
  return { words: words.map((line) => line.trim()), cards, notices };
}

const isCard = (shown: string): boolean => shown.includes('[Other…]');

interface Round {
  readonly name: string;
  readonly thread: string;
  readonly asks: boolean;
}

/** The one end state of a round; throws what is wrong with it. */
function expectEnd(bench: SlackBench, { name, thread, asks }: Round): void {
  const { words, cards, notices } = readIn(bench, thread);
  expect(words).toEqual([
    `Let me write that down, ${name}.`,
    ...(asks ? ['Written.'] : []),
    `All of round ${name} is done and well.`,
  ]);
  for (const notice of notices) expect(notice).toContain('I was restarted');
  expect(cards.length).toBeLessThanOrEqual(asks ? 1 : 0);
  for (const card of cards) {
    expect(isCard(card)).toBe(false);
    expect(card).toMatch(/Anna/u);
  }
}

describe('kills at random moments', { timeout: 300_000 }, () => {
  it(`end in one whole answer each, ${rounds} times`, async () => {
    const seed = seedOf('KILLS_SEED');
    const random = createRandom(seed);
    const bench = await createSlackBench({
      workspace: { ackTimeoutMs: 1000, retryDelaysMs: [100, 300, 1000, 1000, 3000, 3000] },
    });
    await writeFile(
      path.join(bench.folder.path, 'config/deckhand.yaml'),
      'permissions: { rules: [{ allow: FileWrite }] }\n',
    );
    const done: Round[] = [];
    let takenUp = 0;
    const began = Date.now();
    try {
      let bot = await bench.start();
      for (let number = 1; number <= rounds; number += 1) {
        const asks = number % roundsBetweenQuestions === 0;
        const name = `r${number}`;
        scriptRound(bench, random, name, asks);
        const asked = bench.model.requests.length;
        const thread = bench.mention(`round ${name}.`);
        const round = { name, thread, asks };
        const aliveMs = random.between(0, mostMsAlive);
        await wait(aliveMs);
        await bot.kill('SIGKILL');
        bot = await bench.start();
        const isOver = (shown: readonly string[]): boolean =>
          shown.some((one) => one.includes(`All of round ${name}`) && !one.includes('[Stop]'));
        await bench.untilAnswers(thread, (shown) => isOver(shown) || shown.some(isCard), 40_000);
        if (bench.answers(thread).some(isCard)) {
          bench.press('U_ANNA', thread, '2. Production');
          await bench.untilAnswers(thread, isOver, 40_000);
        }
        await until(() => {
          expectEnd(bench, round);
          return true;
        }).catch((thrown: unknown) => {
          const shown = JSON.stringify(bench.answers(thread));
          throw new Error(`KILLS_SEED=${seed}, ${name}, killed after ${aliveMs} ms: ${shown}`, {
            cause: thrown,
          });
        });
        const requests = bench.model.requests.slice(asked);
        const wrong = requests.flatMap(({ body }) => wronglyAnswered(body));
        expect(wrong, `KILLS_SEED=${seed}, ${name}`).toEqual([]);
        takenUp += bot.lines.filter(({ event }) => event === 'run_taken_up').length;
        done.push(round);
        const seconds = Math.round((Date.now() - began) / 1000);
        if (number % 5 === 0) process.stderr.write(`kills: ${number} rounds, ${seconds} s\n`);
      }
      await bench.workspace.settled();
      for (const round of done) expectEnd(bench, round);
      // Enough kills hit the middle of a run for this to mean something.
      expect(takenUp, `KILLS_SEED=${seed}`).toBeGreaterThanOrEqual(5);
      const objections = bench.model.requests.flatMap(({ objection }) => objection ?? []);
      expect(objections, `KILLS_SEED=${seed}`).toEqual([]);
    } finally {
      await bench.close();
    }
  });
});
