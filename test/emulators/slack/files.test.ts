/** The emulator takes files as Slack does, and refuses what Slack refuses. */

import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createSlackWorkspace, type SlackWorkspace } from './workspace.ts';

const open: SlackWorkspace[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((workspace) => workspace.close()));
});

async function setUp() {
  const workspace = await createSlackWorkspace();
  open.push(workspace);
  workspace.addUser({ id: 'U_ANNA', name: 'Anna' });
  workspace.addChannel({ id: 'C1', name: 'ops', members: ['U_ANNA'] });
  const api = async (method: string, args: object = {}): Promise<unknown> => {
    const response = await fetch(`${workspace.apiUrl}${method}`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${workspace.botToken}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify(args),
    });
    return await response.json();
  };
  const begin = async (bytes: number) => {
    const args = { filename: 'a.txt', length: bytes };
    return addressSchema.parse(await api('files.getUploadURLExternal', args));
  };
  const send = async (url: string, text: string): Promise<number> =>
    (await fetch(url, { method: 'POST', body: text })).status;
  const complete = async (id: string, more: object = {}): Promise<unknown> =>
    await api('files.completeUploadExternal', { files: [{ id, title: 'A' }], ...more });
  return { workspace, api, begin, send, complete };
}

const addressSchema = z.object({ upload_url: z.string(), file_id: z.string() });
const inChannel = { channel_id: 'C1' };

describe('an upload to the emulated Slack', () => {
  it('shows the file a while after its completion, and then tells where', async () => {
    const { workspace, api, begin, send, complete } = await setUp();
    const { upload_url: url, file_id: id } = await begin(3);
    expect(await send(url, 'abc')).toBe(200);
    expect(await complete(id, inChannel)).toMatchObject({ ok: true, files: [{ id, title: 'A' }] });
    expect(await api('files.info', { file: id })).toMatchObject({
      file: { id, title: 'A', size: 3, shares: { public: {}, private: {} } },
    });
    await workspace.until(() => workspace.ofBot('C1').length === 1);
    const [message] = workspace.ofBot('C1');
    expect(message).toMatchObject({ subtype: 'file_share', isOurs: true });
    expect(await api('files.info', { file: id })).toMatchObject({
      file: { shares: { public: { C1: [{ ts: message?.ts }] } } },
    });
  });

  it('takes the bytes once, of the length that was told, and not after its time', async () => {
    const { workspace, begin, send, complete } = await setUp();
    const { upload_url: url, file_id: id } = await begin(3);
    expect(await send(url, 'ab')).toBe(400);
    expect(await send(url, 'abcd')).toBe(400);
    expect(await complete(id, inChannel)).toMatchObject({ ok: false, error: 'file_not_found' });
    expect(await send(url, 'abc')).toBe(200);
    expect(await send(url, 'abc')).toBe(404);
    expect(await complete(id, inChannel)).toMatchObject({ ok: true });
    expect(await complete(id, inChannel)).toMatchObject({ ok: false, error: 'file_not_found' });
    workspace.fileRules.addressMs = -1;
    expect(await send((await begin(3)).upload_url, 'abc')).toBe(404);
  });

  it('is refused where it may not go, and for its size on both sides', async () => {
    const { workspace, api, begin, send, complete } = await setUp();
    workspace.fileRules.mostBytes = 3;
    const ask = (length: number): Promise<unknown> =>
      api('files.getUploadURLExternal', { filename: 'a.txt', length });
    expect(await ask(0)).toMatchObject({ error: 'missing_argument' });
    expect(await ask(3)).toMatchObject({ ok: true });
    expect(await ask(4)).toMatchObject({ error: 'file_upload_size_restricted' });
    const { upload_url: url, file_id: id } = await begin(3);
    await send(url, 'abc');
    workspace.addChannel({ id: 'C2', name: 'far', withBot: false });
    expect(await complete(id, { channel_id: 'C2' })).toMatchObject({ error: 'not_in_channel' });
    expect(await complete(id, { channel_id: 'C9' })).toMatchObject({ error: 'channel_not_found' });
  });

  it('does not know every emoji, and no group that is not there', async () => {
    const { workspace, api } = await setUp();
    const timestamp = workspace.say('U_ANNA', 'C1', 'hi');
    const add = (name: string): Promise<unknown> =>
      api('reactions.add', { channel: 'C1', timestamp, name });
    expect(await add('thumbs_up')).toMatchObject({ error: 'invalid_name' });
    expect(await add('+1')).toMatchObject({ ok: true });
    workspace.addGroup('S1', 'oncall', ['U_ANNA']);
    const list = (usergroup: string): Promise<unknown> =>
      api('usergroups.users.list', { usergroup });
    expect(await list('S1')).toMatchObject({ ok: true, users: ['U_ANNA'] });
    expect(await list('S2')).toMatchObject({ error: 'no_such_subteam' });
  });
});
