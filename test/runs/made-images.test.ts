/** Images that a model makes, as files in the thread. */

import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import type { Life } from '../support/mortal.ts';
import { inThread, usingWorlds, type World } from '../support/world.ts';

const setUp = usingWorlds();
const question = { question: 'Go?', header: 'Go', options: [{ label: 'Yes' }, { label: 'No' }] };

const drawing = (side: number, compressionLevel = 9) =>
  sharp({ create: { width: side, height: side, channels: 3, background: '#336699' } })
    .png({ compressionLevel })
    .toBuffer();
const base64Of = async (side: number, compressionLevel?: number) =>
  (await drawing(side, compressionLevel)).toString('base64');

async function answered(world: World): Promise<void> {
  await world.say('draw');
  await world.atRest();
}

/** Asks for an image; the first life dies at the given call. */
async function liveThrough(dieAt: Life['dieAt']): Promise<World> {
  const world = await setUp({ tools: [], ...(dieAt ? { dieAt } : {}) });
  const image = await base64Of(8);
  for (let time = 0; time < 3; time += 1) world.model.answer({ text: 'Here.' }, { image });
  let isAcknowledged = false;
  const said = world.say('draw', { messageId: 'u1' }).then(() => {
    isAcknowledged = true;
  });
  await Promise.race([said, world.clock.settle()]);
  for (let turn = 0; turn < 20; turn += 1) await world.clock.advance(250);
  if (!dieAt) return world;
  world.restart();
  await world.clock.settle();
  // Delivered again, as a platform does.
  if (!isAcknowledged) await world.say('draw', { messageId: 'u1' });
  for (let turn = 0; turn < 40; turn += 1) await world.clock.advance(500);
  return world;
}

describe('an image that the model made', () => {
  it('is a file in the thread, behind the text it belongs to', async () => {
    const world = await setUp();
    const content = await drawing(8);
    world.model.answer({ text: 'Here it is.' }, { image: content.toString('base64') });
    await answered(world);
    expect(world.adapter.texts('u1')).toEqual(['Here it is.']);
    expect(world.adapter.uploads).toMatchObject([
      {
        thread: 'u1',
        comment: '',
        isNameUnique: true,
        name: expect.stringMatching(/^image-[0-9a-f]{8}\.png$/u),
      },
    ]);
    expect(Buffer.from(world.adapter.uploads[0]?.content ?? []).equals(content)).toBe(true);
    expect(world.adapter.calls.at(-1)).toBe('upload');
  });

  it('is an answer by itself: nothing is said beside it', async () => {
    const world = await setUp();
    world.model.answer({ image: await base64Of(8) });
    await answered(world);
    expect(world.adapter.texts('u1')).toEqual([]);
    expect(world.adapter.uploads).toHaveLength(1);
  });

  it('comes with all others of its run, in order, and never with those of earlier runs', async () => {
    const world = await setUp();
    const [one, two, three] = await Promise.all([base64Of(1), base64Of(2), base64Of(3)]);
    world.model.answer({ image: one }, { text: 'and' }, { image: two });
    await answered(world);
    world.model.answer({ image: three });
    await world.say('again', inThread('u1'));
    await world.atRest();
    const sent = world.adapter.uploads.map(({ content }) =>
      Buffer.from(content).toString('base64'),
    );
    expect(sent).toEqual([one, two, three]);
    expect(new Set(world.adapter.uploads.map(({ name }) => name)).size).toBe(3);
  });

  it('stands before the question that follows it, and is not posted again after the answer', async () => {
    const world = await setUp();
    world.model.answer(
      { image: await base64Of(8) },
      { call: 'AskUserQuestion', input: { questions: [question] } },
    );
    world.model.answer({ text: 'Going.' });
    await world.say('draw');
    await world.until(() => world.adapter.texts('u1').some((text) => text.includes('Go?')));
    expect(world.adapter.uploads).toHaveLength(1);
    await world.say('1', inThread('u1'));
    await world.until(() => world.adapter.texts('u1').includes('Going.'));
    await world.clock.advance(5_000);
    expect(world.adapter.uploads).toHaveLength(1);
  });

  it('goes back to the model with its message', async () => {
    const world = await setUp();
    const base64 = await base64Of(8);
    world.model.answer({ image: base64 });
    await answered(world);
    await world.say('make it blue', inThread('u1'));
    await world.atRest();
    const [, made] = world.model.requests.at(-1)?.messages ?? [];
    expect(made).toEqual({
      role: 'assistant',
      parts: [{ kind: 'image', mediaType: 'image/png', base64 }],
    });
  });

  it('is posted once, whatever crash comes', { timeout: 60_000 }, async () => {
    const whole = await liveThrough(undefined);
    expect(whole.adapter.uploads).toHaveLength(1);
    const { calls } = whole.life;
    const deaths = Array.from({ length: calls }, (_, index) => index + 1).flatMap((call) => [
      { call, when: 'before' } as const,
      { call, when: 'after' } as const,
    ]);
    for (const death of deaths) {
      const world = await liveThrough(death);
      const where = `death ${death.when} call ${death.call} of ${calls}`;
      expect(world.adapter.uploads, where).toHaveLength(1);
      expect(world.adapter.texts('u1').join('|'), where).toContain('Here.');
      expect(await world.store.get('run:web:local:general:u1'), where).toBeUndefined();
    }
  });

  it('that came before its stream broke is kept, and not asked for again', async () => {
    const world = await setUp();
    const lost = new BotError('connection_lost', 'The connection was lost.');
    world.model.answer({ image: await base64Of(8) }, { fail: lost });
    world.model.answer({ text: 'There.' });
    await answered(world);
    expect(world.model.requests).toHaveLength(2);
    expect(JSON.stringify(world.model.requests[1])).toContain('Go on exactly where it stopped');
    expect(world.adapter.texts('u1')).toEqual(['There.']);
    expect(world.adapter.uploads).toHaveLength(1);
  });

  it('is waited for while the platform is out', async () => {
    const world = await setUp();
    world.adapter.fail({ call: 'upload', nth: 1, code: 'rate_limited', retryAfterMs: 5_000 });
    world.adapter.fail({ call: 'upload', nth: 2, code: 'surface_unavailable', afterEffect: true });
    world.model.answer({ image: await base64Of(8) });
    await world.say('draw');
    await world.until(() => world.adapter.calls.filter((call) => call === 'upload').length === 3);
    await world.atRest();
    expect(world.adapter.uploads).toHaveLength(1);
  });

  it('that is too large for the platform is scaled down, and says so', async () => {
    const world = await setUp();
    world.model.answer({ image: await base64Of(1_300, 0) });
    await answered(world);
    await world.until(() => world.adapter.uploads.length > 0);
    const [upload] = world.adapter.uploads;
    expect(upload?.comment).toBe(
      'Scaled down: as it was made it has 5.1 MB, more than can be posted here.',
    );
    expect(upload?.content.length).toBeLessThan(1_000_000);
  });

  it.each([
    ['message_refused', 'a fault of the test'],
    ['message_too_long', 'a fault of the test'],
  ] as const)(
    'that the platform does not take (%s) leaves one line with why',
    async (code, why) => {
      const world = await setUp();
      for (const nth of [1, 2]) world.adapter.fail({ call: 'upload', nth, code });
      world.model.answer({ text: 'Here.' }, { image: await base64Of(8) });
      await answered(world);
      await world.until(() => world.adapter.texts('u1').length === 2);
      await world.atRest();
      expect(world.adapter.texts('u1')).toEqual([
        'Here.',
        `> I made an image, but it could not be posted: ${why}`,
      ]);
      expect(world.adapter.uploads).toEqual([]);
    },
  );

  it('whose thread is gone ends the run all the same', async () => {
    const world = await setUp();
    world.adapter.fail({ call: 'upload', nth: 1, code: 'surface_gone' });
    world.model.answer({ text: 'Here.' }, { image: await base64Of(8) });
    await answered(world);
    expect(world.log.lines.map(({ event }) => event)).toContain('image_not_posted');
    world.model.answer({ text: 'Back.' });
    await world.say('hello?', inThread('u1'));
    await world.until(() => world.adapter.texts('u1').includes('Back.'));
  });
});
