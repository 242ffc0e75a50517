/** Replies against a platform that fails at random: what people can read equals what was written. */

import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../src/base/errors.ts';
import { createRedactor } from '../../src/base/redaction.ts';
import { watchedSurface } from '../../src/render/pacing/paced-surface.ts';
import { createPacer } from '../../src/render/pacing/pacer.ts';
import { noPages, type ReplyPages } from '../../src/render/page-book.ts';
import { createReply, type Reply } from '../../src/render/reply.ts';
import { createFakeAdapter, type FakeAdapter } from '../support/fake-adapter.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';

/** Mulberry32: small, seeded. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const codes: readonly ErrorCode[] = [
  'rate_limited',
  'surface_unavailable',
  'message_uneditable',
  'message_too_long',
  'message_refused',
];

/** Numbered words, so that a lost or doubled one is seen. */
function wordsOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `w${index}`);
}

/** Constructs that are open for a while, so that messages end within them. */
function markedUp(word: string, random: () => number): string {
  const lot = random();
  if (lot < 0.03) return `**${word}`;
  return lot < 0.06 ? `${word}**` : word;
}

interface Round {
  readonly shown: string;
  readonly words: readonly string[];
}

async function play(seed: number): Promise<Round> {
  const random = randomOf(seed);
  const clock = createFakeClock();
  // Every other platform has streaming of its own.
  const streams = seed % 2 === 0 ? { streamsAt: () => clock.now() } : {};
  const adapter = createFakeAdapter({ mostMessageLength: 700, ...streams });
  const log = createKeptLog();
  let pages: ReplyPages = noPages;
  const conversation = { adapter: 'web', space: 'local', channel: 'c', thread: 't' };
  const pacer = createPacer({ clock }, adapter.capabilities.budgets);
  const surface = watchedSurface(adapter.surfaceOf(conversation), pacer, conversation);
  const create = (steps: readonly string[]): Reply =>
    createReply(
      {
        clock,
        log,
        surface,
        capabilities: adapter.capabilities,
        pacer,
        redactor: createRedactor([]),
        savePages: async (next) => {
          pages = next;
        },
      },
      {
        replyId: 'r.1',
        conversation,
        pages,
        steps: steps.map((text) => ({ text, goesOn: false })),
        mentionable: [],
      },
    );
  breakAtRandom(adapter, random);

  const words = wordsOf(150 + Math.floor(random() * 400));
  const steps: string[] = [];
  let reply = create(steps);
  let step = 1;
  let live = '';
  for (const [index, word] of words.entries()) {
    const piece = `${markedUp(word, random)}${random() < 0.06 ? '\n\n' : ' '}`;
    reply.apply({ kind: 'text_delta', text: piece });
    live += piece;
    if (random() < 0.2) await clock.advance(Math.floor(random() * 4000));
    if (random() < 0.01) {
      await reply.abandon();
      reply = create(steps);
      live = await remake(reply, step, live, random, clock);
    }
    if (random() < 0.02) {
      reply.apply({ kind: 'step_finished', step, text: live, goesOn: false });
      steps.push(live);
      live = '';
      step += 1;
      // Sometimes the process dies between two steps, and the next life takes the pages up.
      if (random() < 0.5 && index > 20) {
        await reply.abandon();
        reply = create(steps);
      }
    }
  }
  const done = reply.finish({});
  await clock.advance(60 * 60_000);
  await done;
  return { shown: adapter.texts('t').join(' '), words };
}

/** The process died in the middle of a step: it is made anew, with other gaps between its words. */
async function remake(
  reply: Reply,
  step: number,
  live: string,
  random: () => number,
  clock: FakeClock,
): Promise<string> {
  const again = live.replace(/\s+/gu, () => (random() < 0.1 ? '\n\n' : ' '));
  reply.apply({ kind: 'step_started', step });
  for (const part of again.match(/\S+\s*/gu) ?? []) {
    reply.apply({ kind: 'text_delta', text: part });
    if (random() < 0.3) await clock.advance(Math.floor(random() * 3000));
  }
  return again;
}

const calls = ['post', 'edit', 'remove', 'stream_start', 'stream_append', 'stream_stop'] as const;
/** What a refusal leaves to other calls: a post that is refused has no text but the refusal. */
const refusable = new Set<string>(['stream_append', 'stream_stop']);

function mayFailSo(call: (typeof calls)[number], code: ErrorCode, random: () => number): boolean {
  if (call === 'remove') return code === 'surface_unavailable';
  const isNew = call === 'post' || call === 'stream_start';
  if (code === 'message_uneditable') return !isNew;
  if (code === 'message_refused') return refusable.has(call);
  // Too long is a matter of length, not of chance: at most a few times.
  return code !== 'message_too_long' || random() <= 0.05;
}

function breakAtRandom(adapter: FakeAdapter, random: () => number): void {
  for (const call of calls) {
    for (let nth = 1; nth < 400; nth += 1) {
      if (random() > 0.15) continue;
      const code = codes[Math.floor(random() * codes.length)] ?? 'rate_limited';
      if (!mayFailSo(call, code, random)) continue;
      const afterEffect = code === 'surface_unavailable' && random() < 0.5;
      adapter.fail({
        call,
        nth,
        code,
        retryAfterMs: 500 + Math.floor(random() * 5000),
        afterEffect,
      });
    }
  }
}

describe('a reply with random faults', () => {
  it('shows every word once and in order, over 45 rounds', { timeout: 120_000 }, async () => {
    for (let seed = 1; seed <= 45; seed += 1) {
      const { shown, words } = await play(seed);
      expect(shown.match(/w\d+/gu) ?? [], `seed ${seed}`).toEqual(words);
    }
  });
});
