/** Files and emoji on the page: who gets a file, as what, and how long it is kept. */

import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createRoomFiles } from '../../../adapters/web/files.ts';
import type { OutboundFile } from '../../../src/surface/outbound.ts';
import type { Surface } from '../../../src/surface/surface.ts';
import { closeAll, own, type Page, setUp } from './set-up.ts';

afterEach(closeAll);

const html: OutboundFile = {
  name: 'Bericht "März".html',
  content: Buffer.from('<script>alert(1)</script>'),
  comment: 'as asked',
};
const filesSchema = z.array(z.object({ id: z.string(), name: z.string(), isKept: z.boolean() }));

async function surfaceOf(page: Page): Promise<Surface> {
  const channel = (await page.state()).channels[0]?.id ?? '';
  return page.adapter.surfaceOf({ adapter: 'web', space: 'local', channel, thread: 'main' });
}

async function filesOf(page: Page): Promise<z.infer<typeof filesSchema>> {
  const { messages } = await page.state();
  return filesSchema.parse(messages.at(-1)?.['files']);
}

/** A page whose bot has posted a file, and the file's address. */
async function withFile(settings: object = {}): Promise<{ page: Page; path: string }> {
  const page = await setUp(settings);
  await (await surfaceOf(page)).upload(html, { key: 'f1', maybePosted: false });
  const [file] = await filesOf(page);
  return { page, path: `/files/${file?.id ?? ''}/${encodeURIComponent(html.name)}` };
}

describe('a file on the page', () => {
  it('is saved and never shown in the page’s origin', async () => {
    const { page, path } = await withFile();
    const answer = await page.call(path, { headers: own(page.port) });
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('<script>alert(1)</script>');
    expect(answer.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition':
        'attachment; filename="Bericht _M_rz_.html"; filename*=UTF-8\'\'Bericht%20%22M%C3%A4rz%22.html',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cross-origin-resource-policy': 'same-origin',
    });
  });

  it.each<[string, Record<string, string>, number]>([
    ['the page itself', { 'sec-fetch-site': 'same-origin' }, 200],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a foreign Origin', { origin: 'https://evil.example.com' }, 403],
    ['a foreign Host', { host: 'evil.example.com', 'sec-fetch-site': 'same-origin' }, 403],
    ['an address that was typed in', { 'sec-fetch-site': 'none' }, 403],
  ])('is asked for by %s', async (_who, headers, status) => {
    const { page, path } = await withFile();
    expect((await page.call(path, { headers })).status).toBe(status);
  });

  it('needs the page’s token where one is set', async () => {
    const page = await setUp({ token: 'a long page token' });
    const answer = await page.call('/files/x/y', { headers: { 'sec-fetch-site': 'same-origin' } });
    expect(answer.status).toBe(401);
  });

  it.each(['/files/', '/files/none/x', '/files/..%2fapp.js'])('is not at %s', async (path) => {
    const { page } = await withFile();
    expect((await page.call(path, { headers: own(page.port) })).status).toBe(404);
  });

  it('leaves its line after a restart, and says that it is not kept', async () => {
    const { page, path } = await withFile();
    expect((await filesOf(page))[0]).toMatchObject({ name: html.name, isKept: true });
    const later = await setUp({}, page.store);
    expect((await filesOf(later))[0]).toMatchObject({ name: html.name, isKept: false });
    expect((await later.call(path, { headers: own(later.port) })).status).toBe(404);
    // The key is known all the same.
    await (await surfaceOf(later)).upload(html, { key: 'f1', maybePosted: true });
    expect((await later.state()).messages).toHaveLength(1);
  });

  it('goes when its message is removed', async () => {
    const { page, path } = await withFile();
    const [message] = (await page.state()).messages;
    await (await surfaceOf(page)).remove(message?.id ?? '');
    expect((await page.call(path, { headers: own(page.port) })).status).toBe(404);
  });
});

describe('the files of a room', () => {
  it('drop the oldest where there is no more room', () => {
    const files = createRoomFiles({ mostBytes: 10 });
    files.put('a', new Uint8Array(4));
    files.put('b', new Uint8Array(6));
    expect([files.get('a')?.length, files.get('b')?.length]).toEqual([4, 6]);
    files.put('c', new Uint8Array(1));
    expect([files.get('a'), files.get('b')?.length]).toEqual([undefined, 6]);
    files.drop('b');
    files.drop('b');
    files.put('d', new Uint8Array(9));
    expect([files.get('c')?.length, files.get('d')?.length]).toEqual([1, 9]);
  });

  it('count a file that is put again once', () => {
    const files = createRoomFiles({ mostBytes: 10 });
    files.put('a', new Uint8Array(6));
    files.put('a', new Uint8Array(7));
    files.put('b', new Uint8Array(3));
    expect(files.get('a')?.length).toBe(7);
  });
});

describe('emoji on the page', () => {
  it('stay over a restart, each once, beside the sign of a message that waits', async () => {
    const page = await setUp();
    const channel = (await page.state()).channels[0]?.id ?? '';
    await page.post('/api/messages', { channel, thread: null, text: 'hi' });
    const id = (await page.state()).messages[0]?.id ?? '';
    const surface = await surfaceOf(page);
    const signs = ['👍', '🎉', '👍'].map((emoji) => surface.react(id, { emoji }, true));
    expect(await Promise.all(signs)).toEqual([true, true, true]);
    await surface.react(id, 'waiting', true);
    const later = await setUp({}, page.store);
    expect((await later.state()).messages[0]).toMatchObject({
      reactions: ['🎉', '👍'],
      isWaiting: true,
    });
  });
});
