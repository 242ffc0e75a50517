/** Slack, the whole process: direct messages, images, broadcasts, commands, other models. */

import { describe, expect, it } from 'vitest';
import { message, say } from '../emulators/model/script.ts';
import type { WireName } from '../emulators/model-server.ts';
import { until } from '../support/until.ts';
import { usingSlackBench } from './slack-bench.ts';

const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('Slack, more of the whole process', { timeout: 60_000 }, () => {
  it('answers direct messages, each top-level one in its own thread (B053)', () =>
    usingSlackBench(async ({ workspace, model, start }) => {
      await start();
      model.script(say('One.'), say('Two.'));
      const direct = workspace.directWith('U_ANNA');
      const first = workspace.say('U_ANNA', direct, 'first');
      await until(() => workspace.thread(direct, first).some(({ text }) => text === 'One.'));
      const second = workspace.say('U_ANNA', direct, 'second');
      await until(() => workspace.thread(direct, second).some(({ text }) => text === 'Two.'));
      expect(workspace.thread(direct, first).filter(({ isBot }) => isBot)).toHaveLength(1);
    }));

  it('shows an uploaded image to the model, also without a text (B043)', () =>
    usingSlackBench(async ({ workspace, model, start }) => {
      await start();
      model.script(say('A pixel.'));
      const file = workspace.addFile({ name: 'shot.png', mimetype: 'image/png', content: pixel });
      const direct = workspace.directWith('U_ANNA');
      const root = workspace.say('U_ANNA', direct, '', { files: [file], subtype: 'file_share' });
      await until(() => workspace.thread(direct, root).some(({ text }) => text === 'A pixel.'));
      const sent = JSON.stringify(model.requests[0]?.body);
      expect(sent).toContain(`data:image/png;base64,${pixel.toString('base64')}`);
    }));

  it('keeps an archive for the tools, and posts an image that the model makes', () =>
    usingSlackBench(async ({ workspace, model, start, mention, untilAnswers }) => {
      await start({
        GEMINI_API_KEY: 'test-key',
        GOOGLE_GEMINI_BASE_URL: model.baseUrl('gemini'),
        DECKHAND_MODEL: 'gemini/gemini-3-pro-image',
      });
      const base64 = pixel.toString('base64');
      model.script(
        message({ kind: 'text', text: 'Here.' }, { kind: 'image', mediaType: 'image/png', base64 }),
        say('Packed.'),
      );
      const thread = mention('draw a pixel');
      await untilAnswers(thread, (all) => all.includes('Here.'));
      await until(() => [...workspace.model.files.values()].length === 1);
      const [drawn] = workspace.model.files.values();
      expect(drawn?.name).toMatch(/^image-[0-9a-f]{8}\.png$/u);
      expect(Buffer.from(drawn?.content ?? []).equals(pixel)).toBe(true);
      const archive = { name: 'logs.zip', mimetype: 'application/zip', content: 'PK\x03\x04\0' };
      const files = [workspace.addFile(archive)];
      workspace.say('U_ANNA', 'C1', 'and these', { thread, files });
      await untilAnswers(thread, (all) => all.includes('Packed.'));
      expect(JSON.stringify(model.requests[1]?.body)).toMatch(
        /\[file logs\.zip \(application\/zip, 5 bytes\), kept as inbox\/logs-[0-9a-f]{8}\.zip: /u,
      );
    }));

  it('takes a thread message that was also sent to the channel as a message', () =>
    usingSlackBench(async ({ workspace, model, start, mention, untilAnswers }) => {
      await start();
      model.script(say('One.'), say('Two.'));
      const thread = mention('hello');
      await untilAnswers(thread, (all) => all.includes('One.'));
      workspace.say('U_BEN', 'C1', 'and for all', { thread, subtype: 'thread_broadcast' });
      await untilAnswers(thread, (all) => all.includes('Two.'));
      expect(JSON.stringify(model.requests[1]?.body)).toContain('Ben: and for all');
    }));

  it('is ended by Slack’s own stop, and tells a failure to the asker alone', () =>
    usingSlackBench(async ({ workspace, model, start, mention, untilAnswers }) => {
      await start();
      let goOn = (): void => {};
      const wait = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const half = { kind: 'text', text: 'Half.' } as const;
      model.script(message(half, { kind: 'wait', until: wait }));
      const thread = mention('report');
      await untilAnswers(thread, (all) => all[0]?.includes('[Stop]') === true);
      workspace.pressStop('U_BEN', 'C1', thread);
      await untilAnswers(thread, (all) => all[0]?.includes('Stopped by Ben.') === true);
      goOn();
      model.script(message(half, { kind: 'cut' }), {
        kind: 'status',
        status: 401,
        message: 'bad key',
      });
      workspace.say('U_ANNA', 'C1', 'again, with @Ben', { thread });
      await untilAnswers(thread, (all) => all.at(-1)?.startsWith('@Anna ⚠') === true);
      const [news] = workspace.thread('C1', thread).slice(-1);
      expect(workspace.notified(news?.ts ?? '')).toEqual(['U_ANNA']);
    }));

  it('answers slash commands to the one who asks', () =>
    usingSlackBench(async ({ workspace, start }) => {
      await start();
      workspace.slash('U_ANNA', 'C1', 'status');
      await until(() => workspace.privateLines('U_ANNA').length > 0);
      expect(workspace.privateLines('U_ANNA')[0]).toContain('compatible/test-model');
      expect(workspace.ofBot('C1')).toEqual([]);
    }));

  it.each<[WireName, Record<string, string>, string]>([
    ['anthropic', { ANTHROPIC_API_KEY: 'test-key' }, 'anthropic/claude-sonnet-5-5'],
    ['openai', { OPENAI_API_KEY: 'test-key' }, 'openai/gpt-6.2-sol'],
    ['gemini', { GEMINI_API_KEY: 'test-key' }, 'gemini/gemini-3.6-flash'],
  ])('runs on %s as soon as its key is set, with tools', (wire, keys, name) =>
    usingSlackBench(async ({ model, start, mention, press, untilAnswers, folder }) => {
      const base = {
        anthropic: 'ANTHROPIC_BASE_URL',
        openai: 'OPENAI_BASE_URL',
        gemini: 'GOOGLE_GEMINI_BASE_URL',
        compatible: '',
      }[wire];
      const bot = await start({
        ...keys,
        [base]: model.baseUrl(wire),
        DECKHAND_MODEL: '',
        COMPATIBLE_BASE_URL: '',
      });
      expect(bot.lines.map(({ says }) => says ?? '').join('\n')).toContain(
        `The model is ${name}: `,
      );
      const call = {
        kind: 'call',
        id: 'call_1',
        name: 'FileWrite',
        input: { path: 'a.txt', content: 'x' },
      } as const;
      model.script(
        { kind: 'message', pieces: [{ kind: 'text', text: 'I write.' }, call] },
        say('Written.'),
      );
      const thread = mention('write a file');
      await untilAnswers(thread, (all) => all.at(-1)?.includes('[Approve]') === true);
      press('U_ANNA', thread, 'Approve');
      const answers = await untilAnswers(thread, (all) => all.at(-1) === 'Written.');
      expect(answers).toEqual(['I write.', '✓ Writing `a.txt`: approved by Anna', 'Written.']);
      expect(model.requests).toHaveLength(2);
      expect(JSON.stringify(model.requests[1]?.body)).toContain('Created a.txt');
      expect(folder.path).not.toBe('');
    }),
  );
});
