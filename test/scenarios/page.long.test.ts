/** The page as a person sees it, in a real Chromium. Screenshots go to artifacts/. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { say as answerOf } from '../emulators/model/script.ts';
import { createModelServer } from '../emulators/model-server.ts';
import { type BotFolder, createBotFolder } from '../support/bot-process.ts';
import { until } from '../support/until.ts';

const executablePath = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((file) => existsSync(file));
const isCi = process.env['CI'] === 'true';
if (!executablePath && !isCi)
  process.stderr.write('The page is not tested: no Chromium at /usr/bin/chromium.\n');

const artifacts = path.resolve(import.meta.dirname, '../../artifacts');

describe.skipIf(!executablePath && !isCi)('the page in Chromium', () => {
  let browser: Browser;
  let bot: BotFolder;

  beforeAll(async () => {
    mkdirSync(artifacts, { recursive: true });
    bot = await createBotFolder();
    browser = await chromium.launch({
      executablePath: executablePath ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    });
  });
  afterAll(async () => {
    await browser?.close();
    await bot.close();
  });

  async function open(
    address: string,
    options: { width?: number; height?: number; dark?: boolean } = {},
  ): Promise<Page> {
    const { width = 1200, height = 760, dark = false } = options;
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: dark ? 'dark' : 'light',
    });
    const page = await context.newPage();
    await page.goto(address);
    await page.locator('#channels button').first().waitFor();
    return page;
  }

  async function say(page: Page, composer: 'channel' | 'thread', text: string): Promise<void> {
    const field = page.locator(`#${composer}-composer textarea`);
    await field.fill(text);
    await field.press('Enter');
  }

  it('mention, stream, follow-up, question, restart, phone width, dark', {
    timeout: 120_000,
  }, async () => {
    const first = await bot.start();
    const page = await open(first.page);
    const failures: string[] = [];
    page.on('pageerror', (error) => failures.push(error.message));

    await say(page, 'channel', '@deckhand hello');
    const replies = page.locator('#replies');
    const answer = replies.locator('.message.bot .text').first();
    await answer.waitFor();
    // It streams: the text is seen to grow.
    const early = (await answer.innerText()).length;
    await until(async () => (await answer.innerText()).length > early, 10_000);
    await until(async () => (await answer.innerText()).includes('rehearsal'), 15_000);
    await page.locator('#working').waitFor({ state: 'hidden' });
    await page.screenshot({ path: path.join(artifacts, 'page-mention.png') });

    await say(page, 'thread', 'and again?');
    await until(async () => (await replies.locator('.message.bot').count()) === 2, 15_000);
    await page.locator('#working').waitFor({ state: 'hidden' });
    expect(await replies.locator('.message.bot').nth(1).innerText()).toMatch(/earlier message/iu);

    await say(page, 'thread', 'ask me whether to use tea or coffee');
    const tea = replies.getByRole('button', { name: /tea/iu });
    await tea.waitFor({ timeout: 15_000 });
    await page.screenshot({ path: path.join(artifacts, 'page-question.png') });

    // The process is stopped and started between question and click.
    expect(await first.kill('SIGTERM')).toBe(0);
    const port = new URL(first.page).port;
    await bot.start({ PORT: port });
    await page.reload();
    await page
      .locator('#replies')
      .getByRole('button', { name: /tea/iu })
      .click({ timeout: 15_000 });
    await until(
      async () =>
        /You/u.test(
          await replies
            .locator('.message.bot')
            .nth(3)
            .innerText()
            .catch(() => ''),
        ),
      15_000,
    );
    await until(
      async () => /tea/iu.test(await replies.locator('.message.bot').last().innerText()),
      15_000,
    );
    await page.locator('#working').waitFor({ state: 'hidden' });
    expect(await replies.getByRole('button', { name: /tea/iu }).count()).toBe(0);
    await page.screenshot({ path: path.join(artifacts, 'page-answered.png') });

    // After a reload everything is there.
    const before = await replies.innerText();
    await page.reload();
    await until(async () => (await replies.innerText()) === before, 10_000);

    const phone = await open(page.url(), { width: 380, height: 720, dark: true });
    await phone.locator('#replies .message').first().waitFor();
    const isWide = await phone.evaluate(
      'document.documentElement.scrollWidth > document.documentElement.clientWidth',
    );
    expect(isWide).toBe(false);
    await phone.screenshot({ path: path.join(artifacts, 'page-phone-dark.png') });
    await phone.locator('#close-thread').click();
    await phone.locator('#posts .message').first().waitFor();
    await phone.screenshot({ path: path.join(artifacts, 'page-phone-channel.png') });

    // Free text by a form, with the keyboard alone.
    await say(page, 'thread', 'ask me whether to use red or blue');
    const other = replies.getByRole('button', { name: 'Other…' });
    await other.waitFor({ timeout: 15_000 });
    await other.focus();
    await page.keyboard.press('Enter');
    await page.locator('#form-text').fill('green');
    await page.screenshot({ path: path.join(artifacts, 'page-form.png') });
    await page.locator('#form-dialog button[value=send]').click();
    await until(
      async () => /green/u.test(await replies.locator('.message.bot').last().innerText()),
      15_000,
    );

    await say(page, 'thread', 'a long answer please');
    await until(
      async () => (await replies.locator('.message.bot').last().locator('pre, li').count()) > 1,
      30_000,
    );
    await page.locator('#working').waitFor({ state: 'hidden', timeout: 60_000 });
    await page.screenshot({ path: path.join(artifacts, 'page-long.png') });
    expect(failures).toEqual([]);
  });

  it('stop, continue, thumbs, details, an X', { timeout: 120_000 }, async () => {
    const other = await createBotFolder();
    try {
      const settings = 'reply: { feedback: "on" }\nruns: { receipt: always }\n';
      writeFileSync(path.join(other.path, 'config/deckhand.yaml'), settings);
      const page = await open((await other.start()).page);
      const failures: string[] = [];
      page.on('pageerror', (error) => failures.push(error.message));
      const replies = page.locator('#replies');
      const pressable = (label: string) => replies.getByRole('button', { name: label }).last();

      await say(page, 'channel', '@deckhand a long answer please');
      await pressable('Stop').waitFor({ timeout: 15_000 });
      await page.screenshot({ path: path.join(artifacts, 'page-stop.png') });
      await pressable('Stop').click();
      await pressable('Continue').waitFor({ timeout: 15_000 });
      expect(await replies.innerText()).toContain('Stopped by You.');
      expect(await replies.getByRole('button', { name: 'Stop', exact: true }).count()).toBe(0);
      await page.screenshot({ path: path.join(artifacts, 'page-stopped.png') });

      await pressable('Continue').click();
      await pressable('Good answer').waitFor({ timeout: 60_000 });
      await pressable('Good answer').click();
      await until(async () => (await replies.innerText()).includes('👍 Noted'), 10_000);
      await pressable('Details').click();
      await until(
        async () => (await replies.innerText()).includes('Details of this answer'),
        10_000,
      );
      expect(await replies.innerText()).toMatch(/only you see this/iu);
      await page.screenshot({ path: path.join(artifacts, 'page-details.png') });

      await say(page, 'thread', 'another long answer please');
      await pressable('Stop').waitFor({ timeout: 15_000 });
      const live = replies.locator('.message.bot').last();
      await live.hover();
      await live.getByRole('button', { name: 'React with ❌' }).click();
      await until(async () => (await live.innerText()).includes('Stopped by You.'), 15_000);
      await page.screenshot({ path: path.join(artifacts, 'page-crossed.png') });
      const phone = await open(page.url(), { width: 380, height: 720, dark: true });
      await phone.locator('#replies .message').first().waitFor();
      await phone.screenshot({ path: path.join(artifacts, 'page-controls-phone.png') });
      expect(failures).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it('a failure, Retry, and the message that tells of the end', { timeout: 120_000 }, async () => {
    const [other, model] = await Promise.all([createBotFolder(), createModelServer()]);
    try {
      const settings = 'reply: { notify: always }\n';
      writeFileSync(path.join(other.path, 'config/deckhand.yaml'), settings);
      model.script(
        { kind: 'status', status: 401, message: 'bad key' },
        answerOf('**Three** files, all well.'),
      );
      const bot = await other.start({
        COMPATIBLE_BASE_URL: model.baseUrl('compatible'),
        DECKHAND_MODEL: 'compatible/test-model',
      });
      const page = await open(bot.page);
      await say(page, 'channel', '@deckhand how many?');
      const replies = page.locator('#replies');
      await replies.getByRole('button', { name: 'Retry' }).click({ timeout: 15_000 });
      await until(async () => (await replies.innerText()).includes('@You done'), 15_000);
      expect(await replies.innerText()).toMatch(/reference run_[0-9a-z]{12}/u);
      await page.locator('#working').waitFor({ state: 'hidden' });
      await page.screenshot({ path: path.join(artifacts, 'page-retry.png') });
    } finally {
      await Promise.all([other.close(), model.close()]);
    }
  });
});
