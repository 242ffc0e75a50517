/** The secrets filter of what leaves: files too. */

import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/base/redaction.ts';
import type { OutboundFile } from '../../src/surface/outbound.ts';
import { redactedSurface } from '../../src/surface/redacted.ts';
import { createFakeAdapter } from '../support/fake-adapter.ts';

const secret = 'hunter2-hunter2';
const conversation = { adapter: 'web', space: 'local', channel: 'general', thread: 'u1' };

/** The file as it left. */
async function uploaded(file: OutboundFile) {
  const adapter = createFakeAdapter();
  const redactor = createRedactor([{ name: 'DB_PASSWORD', value: secret }]);
  const surface = redactedSurface(adapter.surfaceOf(conversation), redactor);
  await surface.upload(file, { key: 'f1', maybePosted: false });
  const [left] = adapter.uploads;
  if (left === undefined) throw new Error('Nothing was uploaded.');
  return left;
}

describe('a file behind the secrets filter', () => {
  it('loses the secret in its text, its name and its line', async () => {
    const left = await uploaded({
      name: `${secret}.txt`,
      content: Buffer.from(`täglich: ${secret}\n`),
      comment: `it is ${secret}`,
    });
    expect(left.text).toBe('täglich: [redacted: DB_PASSWORD]\n');
    expect(left.name).toBe('[redacted: DB_PASSWORD].txt');
    expect(left.comment).toBe('it is [redacted: DB_PASSWORD]');
  });

  it.each<[string, Uint8Array]>([
    ['text without a secret', Buffer.from('\uFEFFGrüße,\r\nwelt\0')],
    [
      'bytes that are no text',
      Buffer.concat([Buffer.from([0x89, 0xff, 0xfe]), Buffer.from(secret)]),
    ],
    ['nothing', new Uint8Array()],
  ])('stays the same bytes: %s', async (_what, content) => {
    const left = await uploaded({ name: 'a.bin', content });
    expect(Buffer.from(left.content).equals(content)).toBe(true);
    expect(left.comment).toBe('');
  });

  it('loses a secret between zero bytes too', async () => {
    const left = await uploaded({ name: 'a.tar', content: Buffer.from(`\0\0${secret}\0`) });
    expect(left.text).not.toContain(secret);
  });
});
