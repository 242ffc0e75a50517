/** The emulated Discord takes files as a form, and refuses what Discord refuses. */

import { afterEach, describe, expect, it } from 'vitest';
import { createDiscordGuild, type DiscordGuild } from './guild.ts';

const channel = '600000000000000001';
const open: DiscordGuild[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((guild) => guild.close()));
});

interface Form {
  readonly payload: object;
  /** Contents by field. */
  readonly files: Readonly<Record<string, Uint8Array<ArrayBuffer>>>;
}

async function send(form: Form, prepare: (guild: DiscordGuild) => void = () => undefined) {
  const guild = await createDiscordGuild();
  open.push(guild);
  guild.addChannel({ id: channel, name: 'ops' });
  prepare(guild);
  const body = new FormData();
  body.append('payload_json', JSON.stringify(form.payload));
  for (const [field, content] of Object.entries(form.files)) {
    body.append(field, new Blob([content]), 'my name.txt');
  }
  const response = await fetch(`${guild.apiUrl}/v10/channels/${channel}/messages`, {
    method: 'POST',
    headers: { Authorization: `Bot ${guild.token}` },
    body,
  });
  const [message] = guild.ofBot(channel);
  return { status: response.status, answer: await response.text(), files: message?.files ?? [] };
}

const abc = new Uint8Array([97, 98, 0, 99]);

describe('a form with files', () => {
  it('needs no content, and names its files by their numbers', async () => {
    const payload = { attachments: [{ id: 0, filename: 'a b.txt' }] };
    const { status, files } = await send({ payload, files: { 'files[0]': abc } });
    expect(status).toBe(200);
    expect(files.map(({ name }) => name)).toEqual(['a_b.txt']);
    expect(Buffer.from(files[0]?.content ?? []).equals(abc)).toBe(true);
  });

  it.each<[string, Form, number, string]>([
    [
      'a name for a file that did not come',
      { payload: { attachments: [{ id: 1, filename: 'a.txt' }] }, files: { 'files[0]': abc } },
      400,
      'ATTACHMENT_NOT_FOUND',
    ],
    ['neither file nor content', { payload: {}, files: {} }, 400, '50006'],
    [
      'content that is too long',
      { payload: { content: 'x'.repeat(2_001) }, files: {} },
      400,
      '50035',
    ],
  ])('is refused with %s', async (_what, form, status, word) => {
    const refused = await send(form);
    expect(refused.status).toBe(status);
    expect(refused.answer).toContain(word);
    expect(refused.files).toEqual([]);
  });

  it('is refused for its size, and without the permission', async () => {
    const form: Form = { payload: {}, files: { 'files[0]': abc } };
    const limit = (bytes: number) => (guild: DiscordGuild) => {
      guild.rules.mostFileBytes = bytes;
    };
    expect((await send(form, limit(4))).status).toBe(200);
    const large = await send(form, limit(3));
    expect([large.status, large.answer]).toEqual([413, expect.stringContaining('40005')]);
    const denied = await send(form, (guild) => guild.deny(channel, 'files'));
    expect([denied.status, denied.answer]).toEqual([403, expect.stringContaining('50013')]);
  });
});
