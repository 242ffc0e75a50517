/**
 * What a person can rely on, on every platform: the whole process, the platform's emulator with the
 * real client library, and a model server. Each platform plugs in a stage.
 */

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AnswerPiece } from '../emulators/model/script.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import { type BotFolder, type BotProcess, createBotFolder } from '../support/bot-process.ts';
import { until } from '../support/until.ts';
import type { PlatformStage } from './stages.ts';

const question = {
  questions: [
    {
      question: 'Where to?',
      header: 'Target',
      options: [
        { label: 'Staging', description: 'safe' },
        { label: 'Production', description: 'live' },
      ],
      multiSelect: false,
    },
  ],
};

const text = (...pieces: readonly string[]): AnswerPiece => ({ kind: 'text', text: pieces });
const ask: AnswerPiece = { kind: 'call', id: 'call_ask', name: 'AskUserQuestion', input: question };

/** A piece that waits until the test lets it go. */
function gate(): { readonly piece: AnswerPiece; readonly open: () => void } {
  let open = (): void => {};
  const wait = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { piece: { kind: 'wait', until: wait }, open };
}

/** What the platform has: tests of what it has not are not registered. */
export interface PlatformFeatures {
  /** It limits edits (`limitEdit`). */
  readonly limits: boolean;
  /** It has a connection that can break (`drop`). */
  readonly connection: boolean;
  /** It is part of the process: nobody speaks while it is down. */
  readonly livesInProcess?: true;
}

export function describePlatform(
  name: string,
  createStage: () => Promise<PlatformStage>,
  features: PlatformFeatures,
): void {
  describe(`${name}, the whole process`, { timeout: 90_000 }, () => {
    let stage: PlatformStage;
    let model: ModelServer;
    let folder: BotFolder;

    beforeEach(async () => {
      [stage, model, folder] = await Promise.all([
        createStage(),
        createModelServer(),
        createBotFolder(),
      ]);
    });
    afterEach(async () => {
      await folder.close();
      await Promise.all([stage.close(), model.close()]);
    });

    const start = (more: Readonly<Record<string, string>> = {}): Promise<BotProcess> =>
      folder.start({
        ...stage.environment,
        ...more,
        COMPATIBLE_BASE_URL: model.baseUrl('compatible'),
        DECKHAND_MODEL: 'compatible/test-model',
      });
    const answer = (...pieces: readonly AnswerPiece[]): void =>
      model.script({ kind: 'message', pieces });
    const untilAnswers = async (
      thread: string,
      isSo: (answers: readonly string[]) => boolean,
    ): Promise<readonly string[]> => {
      let last: readonly string[] = [];
      await until(async () => {
        last = await stage.answers(thread);
        return isSo(last);
      }, 25_000).catch((thrown: unknown) => {
        throw new Error(`the answers stayed ${JSON.stringify(last)}`, { cause: thrown });
      });
      return last;
    };
    const sent = (index: number): string => JSON.stringify(model.requests[index]?.body ?? null);

    it('lets people choose the model by a button; the next answer is from it', async () => {
      await start({
        ANTHROPIC_API_KEY: 'key-1',
        ANTHROPIC_BASE_URL: model.baseUrl('anthropic'),
      });
      answer(text('From the first.'));
      const thread = await stage.say('anna', 'hello', { mention: true });
      await untilAnswers(thread, (all) => all[0] === 'From the first.');
      await stage.say('anna', '!model', { thread });
      await untilAnswers(thread, (all) => all[1]?.includes('compatible/test-model') === true);
      await stage.press('anna', thread, 'sonnet');
      await untilAnswers(thread, (all) => all[1]?.includes('answers here from the next') === true);
      answer(text('From the second.'));
      await stage.say('anna', 'and now?', { thread });
      await untilAnswers(thread, (all) => all[2] === 'From the second.');
      expect(model.requests.map(({ wire }) => wire)).toEqual(['compatible', 'anthropic']);
      expect(sent(1)).toContain('From the first.');
      expect(model.requests.map(({ objection }) => objection)).toEqual([undefined, undefined]);
    });

    it('answers a mention in its thread, streamed, once for five deliveries, and follows up with context', async () => {
      await start();
      const held = gate();
      answer(text('Hello '), held.piece, text('Anna, ', 'all is well.'));
      const thread = await stage.say('anna', 'how are things?', { mention: true });
      await untilAnswers(thread, (all) => all.length === 1 && all[0]?.startsWith('Hello') === true);
      await stage.redeliver?.(thread, 4);
      held.open();
      await untilAnswers(thread, (all) => all[0] === 'Hello Anna, all is well.');
      answer(text('Still well.'));
      await stage.say('ben', 'and now?', { thread });
      const answers = await untilAnswers(thread, (all) => all[1] === 'Still well.');
      expect(answers).toEqual(['Hello Anna, all is well.', 'Still well.']);
      expect(model.requests).toHaveLength(2);
      expect(sent(0)).toMatch(/(Anna|You): how are things\?/u);
      expect(sent(1)).toContain('Hello Anna, all is well.');
      expect(sent(1)).toMatch(/(Ben|You): and now\?/u);
    });

    it('reads the history of an older thread once, with names', async () => {
      await start();
      const thread = await stage.say('ben', 'the export is slow');
      await stage.say('anna', 'since Monday', { thread });
      answer(text('Noted.'));
      await stage.say('anna', 'can you help?', { thread, mention: true });
      await untilAnswers(thread, (all) => all.includes('Noted.'));
      expect(sent(0)).toMatch(/(Ben|You): the export is slow/u);
      expect(sent(0)).toMatch(/(Anna|You): since Monday/u);
      expect(sent(0).match(/can you help/gu)).toHaveLength(1);
    });

    it('asks with buttons, waits over a restart, takes one click and shows who chose', async () => {
      const first = await start();
      answer(text('One thing first.'), ask);
      const thread = await stage.say('anna', 'deploy', { mention: true });
      await untilAnswers(thread, (all) => all.length === 2 && all[1]?.includes('Other…') === true);
      expect(await first.kill('SIGTERM')).toBe(0);
      await start();
      answer(text('Deployed.'));
      await stage.press('anna', thread, '2. Production');
      const answers = await untilAnswers(
        thread,
        (all) => all.length === 3 && all[2] === 'Deployed.',
      );
      expect(answers[1]).toMatch(/Production/u);
      expect(answers[1]).toMatch(/Anna|You/u);
      expect(answers[1]).not.toContain('Other…');
      expect(sent(1)).toMatch(/Production \(answered by (Anna|You)\)/u);
    });

    it('takes a typed line as the answer', async () => {
      await start();
      answer(ask);
      const thread = await stage.say('anna', 'deploy', { mention: true });
      await untilAnswers(thread, (all) => all.some((shown) => shown.includes('Other…')));
      answer(text('Staging it is.'));
      await stage.say('anna', '1', { thread });
      await untilAnswers(thread, (all) => all.includes('Staging it is.'));
      expect(sent(1)).toContain('Staging (answered by');
    });

    it('ends in exactly one answer after kill -9 in the middle of a run', async () => {
      const first = await start();
      const held = gate();
      answer(text('Part one. '), held.piece, text('never sent'));
      const thread = await stage.say('anna', 'report', { mention: true });
      await untilAnswers(thread, (all) => all.length === 1);
      await first.kill('SIGKILL');
      held.open();
      answer(text('The whole report.'));
      await start();
      const answers = await untilAnswers(thread, (all) => all.includes('The whole report.'));
      expect(answers).toEqual(['The whole report.']);
    });

    it('loses nothing when SIGTERM comes in the middle of a run, and ends with 0 within 10 s', async () => {
      const first = await start();
      const held = gate();
      answer(text('Part one. '), held.piece, text('never sent'));
      const thread = await stage.say('anna', 'report', { mention: true });
      await untilAnswers(thread, (all) => all.length === 1);
      const began = Date.now();
      expect(await first.kill('SIGTERM')).toBe(0);
      expect(Date.now() - began).toBeLessThan(12_000);
      held.open();
      answer(text('The whole report.'));
      await start();
      await untilAnswers(thread, (all) => all.length === 1 && all[0] === 'The whole report.');
    });

    const independent = features.livesInProcess ? undefined : it;
    independent?.('reads back what was said while it was down', async () => {
      const first = await start();
      answer(text('First.'));
      const thread = await stage.say('anna', 'hello', { mention: true });
      await untilAnswers(thread, (all) => all.includes('First.'));
      expect(await first.kill('SIGTERM')).toBe(0);
      await stage.say('ben', 'still there?', { thread });
      const other = await stage.say('anna', 'a new matter', { mention: true });
      model.otherwise({ kind: 'message', pieces: [text('Here again.')] });
      await start();
      await untilAnswers(thread, (all) => all.length === 2 && all[1] === 'Here again.');
      await untilAnswers(other, (all) => all.length === 1 && all[0] === 'Here again.');
    });

    it('takes edits and deletions: noted later, stopped at once', async () => {
      await start();
      answer(text('Done.'));
      const thread = await stage.say('anna', 'use the blue one', { mention: true });
      await untilAnswers(thread, (all) => all.includes('Done.'));
      await stage.edit(thread, 'use the green one');
      answer(text('Green then.'));
      await stage.say('anna', 'go', { thread });
      await untilAnswers(thread, (all) => all.includes('Green then.'));
      expect(sent(1)).toContain('It now reads: use the green one');

      const held = gate();
      answer(text('Working on it'), held.piece, text(' for ever'));
      const doomed = await stage.say('anna', 'dig', { mention: true });
      await untilAnswers(doomed, (all) => all.length === 1);
      await stage.remove(doomed);
      await untilAnswers(doomed, (all) => all.some((shown) => shown.includes('was deleted')));
      held.open();
    });

    it('is stopped by !stop: the partial answer stays and names who', async () => {
      await start();
      const held = gate();
      answer(text('Partial'), held.piece, text(' never'));
      const thread = await stage.say('anna', 'count', { mention: true });
      await untilAnswers(thread, (all) => all.length === 1);
      await stage.say('ben', '!stop', { thread });
      const answers = await untilAnswers(thread, (all) => all[0]?.includes('Stopped by') === true);
      expect(answers[0]).toMatch(/^Partial[\s\S]*Stopped by (Ben|You)/u);
      held.open();
    });

    it('is stopped by its button or an X, goes on, is tried again, rated and explained', async () => {
      const settings = 'reply: { feedback: "on" }\nruns: { receipt: always }\n';
      await writeFile(path.join(folder.path, 'config/deckhand.yaml'), settings);
      await start();
      const [first, second] = [gate(), gate()];
      answer(text('Partial'), first.piece, text(' never'));
      const thread = await stage.say('anna', 'count', { mention: true });
      await untilAnswers(thread, (all) => all[0]?.includes('[Stop]') === true);
      await stage.press('ben', thread, 'Stop');
      const stopped = await untilAnswers(thread, (all) => all[0]?.includes('[Continue]') === true);
      expect(stopped[0]).toMatch(/^Partial[\s\S]*Stopped by (Ben|You)/u);
      expect(stopped[0]).not.toContain('[Stop]');

      answer(text('Counted on'), second.piece, text(' never'));
      await stage.press('ben', thread, 'Continue');
      await untilAnswers(thread, (all) => all[1]?.includes('[Stop]') === true);
      await stage.cross('anna', thread);
      const crossed = await untilAnswers(thread, (all) => all[1]?.includes('Stopped') === true);
      expect(crossed[1]).toMatch(/^Counted on[\s\S]*Stopped by (Anna|You)/u);

      model.script({ kind: 'status', status: 401, message: 'bad key' });
      await stage.say('anna', 'again', { thread });
      await untilAnswers(thread, (all) => all[2]?.includes('[Retry]') === true);
      answer(text('All counted.'));
      await stage.press('ben', thread, 'Retry');
      await untilAnswers(thread, (all) => all[3]?.includes('[👎]') === true);
      const isTold = (words: string) => async (): Promise<boolean> =>
        (await stage.privateLines('anna')).some((line) => line.includes(words));
      await stage.press('anna', thread, '👎');
      await until(isTold('👎 Noted'), 20_000);
      await stage.press('anna', thread, 'Details');
      await until(isTold('Details of this answer'), 20_000);
      first.open();
      second.open();
    });

    it('reads exactly as the model wrote over a long answer in several messages', async () => {
      await start();
      const paragraphs = Array.from(
        { length: 60 },
        (_, index) => `Paragraph ${index}: ${'lorem ipsum '.repeat(25).trim()}.`,
      );
      const code = [
        '```ts',
        ...Array.from({ length: 120 }, (_, index) => `const value${index} = ${index};`),
        '```',
      ].join('\n');
      answer(text(...paragraphs.map((paragraph) => `${paragraph}\n\n`), code, '\n\nThe end.'));
      const thread = await stage.say('anna', 'write', { mention: true });
      const answers = await untilAnswers(
        thread,
        (all) => all.at(-1)?.trimEnd().endsWith('The end.') === true,
      );
      const shown = answers.join('\n');
      for (const paragraph of paragraphs) expect(shown.split(paragraph)).toHaveLength(2);
      for (let line = 0; line < 120; line += 1)
        expect(shown.split(`const value${line} = ${line};`)).toHaveLength(2);
    });

    const limited = features.limits ? it : undefined;
    limited?.('obeys a 429 on the third edit and still lands the last state', async () => {
      await start();
      stage.limitEdit?.(3, 2);
      const gates = Array.from({ length: 5 }, gate);
      answer(...gates.flatMap(({ piece }, index) => [text(`word${index} `), piece]), text('end.'));
      const thread = await stage.say('anna', 'stream', { mention: true });
      for (const [index, { open }] of gates.entries()) {
        await untilAnswers(thread, (all) => all[0]?.includes(`word${index}`) === true);
        open();
      }
      await untilAnswers(
        thread,
        (all) => all.length === 1 && all[0] === 'word0 word1 word2 word3 word4 end.',
      );
    });

    const connected = features.connection ? it : undefined;
    connected?.('goes on after the connection broke', async () => {
      await start();
      answer(text('First.'));
      const thread = await stage.say('anna', 'hello', { mention: true });
      await untilAnswers(thread, (all) => all.includes('First.'));
      stage.drop?.();
      answer(text('Second.'));
      await stage.say('anna', 'still there?', { thread });
      await untilAnswers(thread, (all) => all.length === 2 && all[1] === 'Second.');
    });
  });
}

/** Platforms with other people than the owner. */
export function describeStrangers(
  name: string,
  createStage: () => Promise<PlatformStage>,
  /** What the guest is told, and the configuration by which it is one. */
  refusal: { readonly told: string; readonly config?: string },
): void {
  describe(`${name}, strangers and bots`, { timeout: 60_000 }, () => {
    it('tells a guest once in private, and lets bots and a stranger’s click change nothing', async () => {
      const [stage, model, folder] = await Promise.all([
        createStage(),
        createModelServer(),
        createBotFolder(),
      ]);
      try {
        if (refusal.config) {
          await writeFile(path.join(folder.path, 'config/deckhand.yaml'), refusal.config);
        }
        await folder.start({
          ...stage.environment,
          COMPATIBLE_BASE_URL: model.baseUrl('compatible'),
          DECKHAND_MODEL: 'compatible/test-model',
        });
        model.script(
          { kind: 'message', pieces: [ask] },
          { kind: 'message', pieces: [text('Done.')] },
        );
        const thread = await stage.say('anna', 'deploy', { mention: true });
        await until(
          async () => (await stage.answers(thread)).some((shown) => shown.includes('Other…')),
          20_000,
        );
        await stage.say('bot', 'me too', { thread, mention: true });
        await stage.say('guest', 'me as well', { thread, mention: true });
        await until(async () => (await stage.privateLines('guest')).length === 1, 20_000);
        expect(await stage.privateLines('guest')).toEqual([expect.stringContaining(refusal.told)]);
        await stage.say('guest', 'me as well, please', { thread, mention: true });
        await stage.press('ben', thread, '1. Staging');
        await until(async () => (await stage.privateLines('ben')).length === 1, 20_000);
        expect((await stage.privateLines('ben'))[0]).toContain('for somebody else');
        expect((await stage.answers(thread)).at(-1)).toContain('Other…');
        await stage.press('anna', thread, '1. Staging');
        await until(async () => (await stage.answers(thread)).includes('Done.'), 20_000);
        expect(model.requests).toHaveLength(2);
        expect(JSON.stringify(model.requests)).not.toMatch(/me too|me as well/u);
        expect(await stage.privateLines('guest')).toHaveLength(1);
      } finally {
        await folder.close();
        await Promise.all([stage.close(), model.close()]);
      }
    });
  });
}
