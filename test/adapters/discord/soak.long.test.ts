/**
 * Many replies of random Markdown at once, while Discord limits, fails and loses: what people read at
 * the end is what the model wrote, and no call breaks a limit. SOAK_SEED plays a run again.
 */

import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createRedactor } from '../../../src/base/redaction.ts';
import { watchedSurface } from '../../../src/render/pacing/paced-surface.ts';
import { createPacer, type Pacer } from '../../../src/render/pacing/pacer.ts';
import { noPages } from '../../../src/render/page-book.ts';
import { createReply } from '../../../src/render/reply.ts';
import type { Fault } from '../../emulators/discord/faults.ts';
import { createKeptLog } from '../../support/log.ts';
import { keepDiscordLimits } from '../../support/platform-limits.ts';
import { createRandom, type Random, seedOf } from '../../support/random.ts';
import { randomDeltas, randomMarkdown } from '../../support/random-markdown.ts';
import { anna, type DiscordSetUp, ops, setUpDiscord } from './set-up.ts';

const replies = 80;
const atOnce = 10;
const posts = 'POST /channels/:id/messages';
const edits = 'PATCH /channels/:id/messages/:id';

/** Tables are drawn in other words (names of columns in each row): their tests are elsewhere. */
function answer(random: Random, title: string): string {
  return randomMarkdown(random, title, random.oneOf([1, 2, 4, 8, 14]))
    .split('\n\n')
    .filter((block) => !block.startsWith('|'))
    .join('\n\n');
}

function disturb(random: Random, { guild }: DiscordSetUp): void {
  const fault = random.oneOf<Fault>([
    { kind: 'rate_limited', retryAfterSeconds: 0.7 },
    { kind: 'status', status: 500 },
    { kind: 'status', status: 503 },
    { kind: 'answer_lost' },
    { kind: 'cut' },
    { kind: 'slow', ms: 400 },
  ]);
  const when = { nth: random.between(1, 3) };
  if (random.isLucky(0.6)) guild.fault(random.oneOf([posts, edits, edits]), fault, when);
}

async function play(
  discord: DiscordSetUp,
  pacer: Pacer,
  random: Random,
  number: number,
): Promise<string | undefined> {
  const { guild, adapter } = discord;
  const root = guild.say(anna, ops, `${guild.mention} write`);
  await discord.heard(root);
  const conversation = discord.conversation(ops, root);
  const text = answer(random, `r${number}`);
  const reply = createReply(
    {
      ...{ clock: systemClock, log: createKeptLog(), redactor: createRedactor([]), pacer },
      surface: watchedSurface(adapter.surfaceOf(conversation), pacer, conversation),
      capabilities: adapter.capabilities,
      savePages: async () => {},
    },
    { replyId: `r.${number}`, conversation, pages: noPages, steps: [], mentionable: [] },
  );
  disturb(random, discord);
  for (const delta of randomDeltas(random, text, random.oneOf([30, 200, 2000]))) {
    reply.apply({ kind: 'text_delta', text: delta });
    if (random.isLucky(0.2)) await wait(random.between(10, 600));
  }
  await reply.finish({});
  const shown = guild.ofBot(root).map(({ content }) => content);
  if (shown.some((content) => fences(content) % 2 === 1)) return `r${number}: a fence is open`;
  const wanted = lettersOf(text);
  const read = lettersOf(shown.join('\n'));
  if (wanted === read) return undefined;
  let same = 0;
  while (wanted[same] === read[same]) same += 1;
  const around = (letters: string): string => letters.slice(Math.max(0, same - 40), same + 40);
  const name = /r\d+b\d+[a-z]?\d*/u.exec(read.slice(same))?.[0] ?? '';
  const raw = shown.join('\n').split(name)[0]?.slice(-80);
  return `r${number} differs at ${same}: ${around(wanted)}, shown ${around(read)}, as ${JSON.stringify(raw)}`;
}

/**
 * Letters and digits in order: without fence lines (they are repeated) and numbers of lists (Markdown
 * counts on in a list that follows a list).
 */
function lettersOf(text: string): string {
  const lines = text.split('\n').filter((line) => !/^ {0,3}(?:`{3,}|~{3,})\w*$/u.test(line));
  const plain = lines.map((line) => line.replace(/^\s*\d+\\?\.(?:\s|$)/u, '')).join('\n');
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).join('');
}

const fences = (text: string): number => text.match(/^ {0,3}```/gmu)?.length ?? 0;

describe('a soak of random replies on Discord', { timeout: 300_000 }, () => {
  it(`shows ${replies} replies as they were written, within the limits`, async () => {
    const seed = seedOf('SOAK_SEED');
    const random = createRandom(seed);
    const discord = await setUpDiscord();
    keepDiscordLimits(discord.guild);
    const pacer = createPacer({ clock: systemClock }, discord.adapter.capabilities.budgets);
    const wrong: string[] = [];
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < replies) {
        const number = next;
        next += 1;
        const found = await play(discord, pacer, random, number);
        if (found !== undefined) wrong.push(found);
        if (number % 10 === 9) process.stderr.write(`soak: ${number + 1} replies on Discord\n`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    const outcomes = new Set(
      discord.guild.calls.filter(({ route }) => [posts, edits].includes(route)).map(outcomeOf),
    );
    await discord.close();
    expect(wrong, `SOAK_SEED=${seed}`).toEqual([]);
    for (const outcome of outcomes) expect(['ok', '429', '500', '503', 'cut']).toContain(outcome);
  });
});

function outcomeOf({ outcome }: { readonly outcome: string }): string {
  return outcome;
}
