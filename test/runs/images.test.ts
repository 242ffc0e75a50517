/** Images from the people who send them to a server that is strict about them, and back. */

import sharp from 'sharp';
import { afterEach, describe, expect, it } from 'vitest';
import { createAnthropicProvider } from '../../src/providers/anthropic/provider.ts';
import { imageObjection, imagesIn } from '../emulators/model/image-limits.ts';
import { say } from '../emulators/model/script.ts';
import { objectOf } from '../emulators/model/wire.ts';
import { createModelServer } from '../emulators/model-server.ts';
import { createTestDeps, testCatalog } from '../support/providers.ts';
import { createWorld, inThread } from '../support/world.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

/** Runs that speak to an Anthropic server which refuses images as the real one does. */
async function setUp() {
  const server = await createModelServer();
  const model = 'claude-sonnet-5-5';
  const provider = createAnthropicProvider(createTestDeps(), {
    apiKey: 'k',
    baseUrl: server.baseUrl('anthropic'),
  });
  const { abilities } = testCatalog.factsOf(`anthropic/${model}`);
  const objections: (string | undefined)[] = [];
  server.otherwise(({ body }) => {
    const objection = imageObjection(body);
    objections.push(objection);
    return objection === undefined
      ? say(`answer ${server.requests.length}`)
      : { kind: 'status', status: 400, message: objection };
  });
  const world = await createWorld({
    modelOf: () => ({
      ...{ name: `anthropic/${model}`, why: 'a test', efforts: [], hasWebSearch: false },
      complete: (prompt, signal) =>
        provider.stream({ ...prompt, model, abilities, mostOutputTokens: 1_000 }, signal),
    }),
  });
  closers.push(
    () => server.close(),
    () => world.close(),
  );
  world.runs.start();
  const file = (name: string, content: Buffer) =>
    world.adapter.addFile({ name, mediaType: 'image/png', content });
  return { server, world, file, objections };
}

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#224466' } });

describe('a conversation with many images', () => {
  it('goes on after a large screenshot and twenty more images (B109)', async () => {
    const { server, world, file, objections } = await setUp();
    const screenshot = await picture(2500, 1400).png().toBuffer();
    await world.say('look', { files: [file('screenshot.png', screenshot)] });
    await world.atRest();
    const small = await picture(40, 30).png().toBuffer();
    for (const count of [8, 8, 4]) {
      const files = Array.from({ length: count }, (_, index) => file(`${index}.png`, small));
      await world.say('and these', { ...inThread('u1'), files });
      await world.atRest();
    }
    await world.say('just text', inThread('u1'));
    await world.atRest();
    expect(objections).toEqual(Array(5).fill(undefined));
    expect(server.requests.map(({ body }) => imagesIn(body).length)).toEqual([1, 9, 17, 21, 21]);
    expect(world.adapter.texts('u1').join('\n')).toContain('answer 5');
  });

  it('goes on after a photograph of 4 MB, and after a JPEG called PNG (B110)', async () => {
    const { server, world, file, objections } = await setUp();
    const noise = sharp({
      create: {
        ...{ width: 2000, height: 2000, channels: 3, background: '#888888' },
        noise: { type: 'gaussian', mean: 128, sigma: 80 },
      },
    });
    const photo = await noise.jpeg({ quality: 95 }).toBuffer();
    const jpeg = await picture(40, 30).jpeg().toBuffer();
    await world.say('look', { files: [file('photo.png', photo), file('small.png', jpeg)] });
    await world.atRest();
    await world.say('just text', inThread('u1'));
    await world.atRest();
    expect(photo.length).toBeGreaterThan(3.8 * 1024 * 1024);
    expect(objections).toEqual([undefined, undefined]);
    const types = imagesIn(server.requests[1]?.body ?? {}).map(
      ({ block }) => objectOf(block['source'])['media_type'],
    );
    expect(types).toEqual(['image/jpeg', 'image/jpeg']);
  });
});

describe('the strict server', () => {
  const bodyOf = (...images: readonly (readonly [mediaType: string, content: Buffer])[]) => ({
    messages: [
      {
        role: 'user',
        content: images.map(([mediaType, content]) => ({
          type: 'image',
          source: { type: 'base64', media_type: mediaType, data: content.toString('base64') },
        })),
      },
    ],
  });

  it('refuses what is too wide among more than twenty, and no sooner', async () => {
    const wide = ['image/png', await picture(2001, 10).png().toBuffer()] as const;
    const small = ['image/jpeg', await picture(10, 10).jpeg().toBuffer()] as const;
    const many = (count: number) => bodyOf(wide, ...Array.from({ length: count }, () => small));
    expect(imageObjection(many(19))).toBeUndefined();
    expect(imageObjection(many(20))).toMatch(
      /^messages\.0\.content\.0\.image\.source\.base64\.data: .*2000 pixels$/u,
    );
  });

  it('refuses 5 MB of base64, other types than the bytes say, and what is no image', async () => {
    const small = await picture(10, 10).jpeg().toBuffer();
    const padded = Buffer.concat([small, Buffer.alloc(3_932_160 - small.length)]);
    expect(imageObjection(bodyOf(['image/jpeg', padded]))).toBeUndefined();
    expect(imageObjection(bodyOf(['image/jpeg', Buffer.concat([padded, small])]))).toContain(
      'image exceeds 5 MB maximum',
    );
    expect(imageObjection(bodyOf(['image/png', small]))).toContain('appears to be image/jpeg');
    expect(imageObjection(bodyOf(['image/png', Buffer.from('hello')]))).toBe(
      'Could not process image',
    );
  });
});
