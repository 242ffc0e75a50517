/** Files that the bot posts on Slack: the three steps, what goes wrong in each, and lost answers. */

import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import type { ErrorCode } from '../../../src/base/errors.ts';
import type { OutboundFile } from '../../../src/surface/outbound.ts';
import { openConnectProxy } from '../../support/connect-proxy.ts';
import { setUpSlack } from './set-up.ts';
import { addMessages, setUpThread, type ThreadSetUp } from './set-up-thread.ts';

const csv: OutboundFile = { name: 'may.csv', content: Buffer.from('day,load\n1,40\n') };
const first = { key: 'run_1.f1', maybePosted: false };
const again = { ...first, maybePosted: true };

/** The waits for Slack's own work, shortened fifty times. */
const hasty: Clock = {
  ...systemClock,
  setTimer: (delayMs, callback) => systemClock.setTimer(delayMs / 50, callback),
};

const ownOf = (slack: ThreadSetUp): readonly string[] =>
  slack.workspace.ofBot('C1').map(({ ts }) => ts);

describe('a file on Slack', () => {
  it('gets an address, sends the bytes there without the token, and is completed', async () => {
    const slack = await setUpThread();
    const { messageId } = await slack.surface.upload(
      { ...csv, comment: 'Load & <b>more</b>\nof May' },
      first,
    );
    expect(slack.callsOf('files.getUploadURLExternal')).toEqual([
      { filename: 'may.csv', length: '14' },
    ]);
    expect(slack.callsOf('file_upload')).toEqual([{ bytes: 14 }]);
    const [completion] = slack.callsOf('files.completeUploadExternal');
    const [file] = slack.workspace.filesOf(messageId);
    expect(completion).toEqual({
      files: JSON.stringify([{ id: file?.id, title: 'may.csv' }]),
      channel_id: 'C1',
      thread_ts: slack.root,
      initial_comment: 'Load &amp; &lt;b&gt;more&lt;/b&gt; of May',
    });
    await slack.workspace.settled();
    // Its own message comes back as an event and is no news.
    expect(slack.events.filter((event) => event.kind === 'message')).toHaveLength(1);
    await slack.close();
  });

  it('goes through the proxy, byte for byte', async () => {
    const proxy = await openConnectProxy();
    const slack = await setUpThread({ deps: { proxy: { httpsProxy: proxy.url, noProxy: '' } } });
    const content = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256);
    const { messageId } = await slack.surface.upload({ name: 'x.bin', content }, first);
    const [file] = slack.workspace.filesOf(messageId);
    expect(Buffer.from(file?.content ?? []).equals(content)).toBe(true);
    expect(proxy.targets.length).toBeGreaterThan(0);
    await slack.close();
    await proxy.close();
  });

  it('goes to the top level where there is no thread', async () => {
    const slack = await setUpThread();
    const surface = slack.adapter.surfaceOf(slack.conversation('C1', 'none'));
    await surface.upload(csv, first);
    expect(slack.workspace.ofBot('C1').map(({ threadTs }) => threadTs)).toEqual([undefined]);
    await slack.close();
  });

  it('waits for the message that Slack posts a while later', async () => {
    const slack = await setUpThread({ deps: { clock: hasty } });
    slack.workspace.fileRules.processingMs = 60;
    const { messageId } = await slack.surface.upload(csv, first);
    expect(ownOf(slack)).toEqual([messageId]);
    expect(slack.callsOf('files.info').length).toBeGreaterThan(1);
    await slack.close();
  });

  it('is named by its own id where Slack takes too long, and does not come again', async () => {
    const slack = await setUpThread({ deps: { clock: hasty } });
    slack.workspace.fileRules.processingMs = 60_000;
    const posted = await slack.surface.upload(csv, first);
    expect(posted.messageId).toMatch(/^F\d+$/u);
    expect(slack.log.lines.map(({ event }) => event)).toContain('slack_file_not_seen');
    expect(await slack.surface.upload(csv, again)).toEqual(posted);
    expect(slack.callsOf('files.completeUploadExternal')).toHaveLength(1);
    await slack.close();
  });

  it('is posted where its message may not be looked up', async () => {
    const slack = await setUpThread();
    slack.workspace.withhold('files.info', 'missing_scope');
    const { messageId } = await slack.surface.upload(csv, first);
    expect(messageId).toMatch(/^F\d+$/u);
    await slack.workspace.until(() => ownOf(slack).length === 1);
    expect(slack.log.lines.map(({ event }) => event)).toContain('slack_file_not_looked_up');
    await slack.close();
  });

  it('asks nothing more while Slack asks to wait, and is not posted twice for it', async () => {
    const slack = await setUpThread();
    slack.workspace.fault('files.info', { kind: 'rate_limited', retryAfterSeconds: 3 });
    await expect(slack.surface.upload(csv, first)).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 3_000,
    });
    expect(slack.callsOf('files.info')).toHaveLength(1);
    const { messageId } = await slack.surface.upload(csv, first);
    expect(ownOf(slack)).toEqual([messageId]);
    await slack.close();
  });

  it('does not stay in the channel when the thread’s root is gone', async () => {
    const slack = await setUpThread();
    slack.workspace.deleteMessage(slack.root);
    for (const options of [first, { ...again, key: 'run_1.f2' }, first]) {
      await expect(slack.surface.upload(csv, options)).rejects.toMatchObject({
        code: 'surface_gone',
      });
      expect(ownOf(slack)).toEqual([]);
    }
    await slack.close();
  });

  it('is refused without asking Slack when it is empty', async () => {
    const slack = await setUpThread();
    const empty = { name: 'a.txt', content: new Uint8Array() };
    await expect(slack.surface.upload(empty, first)).rejects.toMatchObject({
      code: 'message_refused',
    });
    expect(slack.callsOf('files.getUploadURLExternal')).toEqual([]);
    await slack.close();
  });

  it.each<[string, ErrorCode, string]>([
    ['file_uploads_disabled', 'message_refused', 'does not allow such uploads'],
    ['file_uploads_except_images_disabled', 'message_refused', 'does not allow such uploads'],
    ['file_upload_size_restricted', 'message_too_long', 'too large for this workspace'],
    ['missing_scope', 'surface_gone', 'files:write'],
    ['internal_error', 'surface_unavailable', 'internal_error'],
  ])('%s is %s', async (word, code, sentence) => {
    const slack = await setUpThread();
    slack.workspace.fault('files.getUploadURLExternal', { kind: 'refused', word });
    const attempt = slack.surface.upload(csv, first);
    await expect(attempt).rejects.toMatchObject({ code });
    await expect(attempt).rejects.toThrow(sentence);
    expect(ownOf(slack)).toEqual([]);
    await slack.close();
  });

  it.each<[number, ErrorCode]>([
    [404, 'surface_unavailable'],
    [413, 'message_too_long'],
    [503, 'surface_unavailable'],
  ])('whose bytes are answered with %i is %s', async (status, code) => {
    const slack = await setUpThread();
    slack.workspace.fault('file_upload', { kind: 'status', status });
    await expect(slack.surface.upload(csv, first)).rejects.toMatchObject({ code });
    const { messageId } = await slack.surface.upload(csv, again);
    expect(ownOf(slack)).toEqual([messageId]);
    await slack.close();
  });

  it('says how long to wait when its bytes are limited', async () => {
    const slack = await setUpThread();
    slack.workspace.fault('file_upload', { kind: 'rate_limited', retryAfterSeconds: 9 });
    await expect(slack.surface.upload(csv, first)).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 9_000,
    });
    await slack.close();
  });

  it('gets a new address when the old one ran out', async () => {
    const slack = await setUpThread();
    slack.workspace.fileRules.addressMs = -1;
    await expect(slack.surface.upload(csv, first)).rejects.toMatchObject({
      code: 'surface_unavailable',
      facts: { status: 404 },
    });
    slack.workspace.fileRules.addressMs = 60_000;
    await slack.surface.upload(csv, again);
    expect(slack.callsOf('files.getUploadURLExternal')).toHaveLength(2);
    await slack.close();
  });
});

describe('a file whose answer was lost', () => {
  it.each(['files.getUploadURLExternal', 'file_upload', 'files.completeUploadExternal'])(
    'at %s comes once',
    async (method) => {
      const slack = await setUpThread({ deps: { clock: hasty } });
      slack.workspace.fault(method, { kind: 'answer_lost' });
      await expect(slack.surface.upload(csv, first)).rejects.toMatchObject({
        code: 'surface_unavailable',
      });
      const { messageId } = await slack.surface.upload(csv, again);
      expect(ownOf(slack)).toEqual([messageId]);
      await slack.close();
    },
  );

  it('before the completion took effect is posted by the next try', async () => {
    const slack = await setUpThread({ deps: { clock: hasty } });
    slack.workspace.fault('files.completeUploadExternal', { kind: 'cut' });
    await expect(slack.surface.upload(csv, first)).rejects.toMatchObject({
      code: 'surface_unavailable',
    });
    const { messageId } = await slack.surface.upload(csv, again);
    expect(ownOf(slack)).toEqual([messageId]);
    await slack.close();
  });

  it('is found after a restart by its title and its bytes, in a long thread too', async () => {
    const slack = await setUpThread();
    addMessages(slack, 250, () => ({ threadTs: slack.root }));
    slack.workspace.fault('files.completeUploadExternal', { kind: 'answer_lost' });
    await expect(slack.surface.upload(csv, first)).rejects.toMatchObject({
      code: 'surface_unavailable',
    });
    await slack.workspace.until(() => ownOf(slack).length === 1);
    await slack.adapter.stop();
    await slack.adapter.start(() => Promise.resolve());
    const surface = slack.adapter.surfaceOf(slack.conversation('C1', slack.root));
    const { messageId } = await surface.upload(csv, again);
    expect(ownOf(slack)).toEqual([messageId]);
    await slack.close();
  });

  it('is found by a title of its own, also where Slack has changed its bytes', async () => {
    const slack = await setUpThread();
    const image = {
      name: 'image-1a2b3c4d.png',
      content: Buffer.from('as sent'),
      isNameUnique: true,
    };
    const { messageId } = await slack.surface.upload(image, first);
    for (const [id, file] of slack.workspace.model.files) {
      slack.workspace.model.files.set(id, { ...file, content: Buffer.from('as stored by Slack') });
    }
    await slack.adapter.stop();
    await slack.adapter.start(() => Promise.resolve());
    const surface = slack.adapter.surfaceOf(slack.conversation('C1', slack.root));
    expect(await surface.upload(image, again)).toEqual({ messageId });
    expect(ownOf(slack)).toEqual([messageId]);
    await slack.close();
  });

  it('is not taken for another one of the same name and size, nor for a person’s', async () => {
    const slack = await setUpThread();
    const other = { name: csv.name, content: Buffer.from('day,load\n1,41\n') };
    await slack.surface.upload(other, { key: 'run_0.f1', maybePosted: false });
    const theirs = slack.workspace.addFile({
      ...{ name: csv.name, mimetype: 'text/csv', content: csv.content },
    });
    slack.workspace.say('U_ANNA', 'C1', 'mine', { thread: slack.root, files: [theirs] });
    await slack.adapter.stop();
    await slack.adapter.start(() => Promise.resolve());
    const surface = slack.adapter.surfaceOf(slack.conversation('C1', slack.root));
    await surface.upload(csv, again);
    expect(ownOf(slack)).toHaveLength(2);
    await slack.close();
  });
});

describe('user groups', () => {
  it('tell their members, and are asked anew after a minute', async () => {
    let shiftMs = 0;
    const clock: Clock = { ...systemClock, now: () => systemClock.now() + shiftMs };
    const slack = await setUpSlack({
      deps: { clock },
      prepare: (workspace) => workspace.addGroup('S1', 'oncall', ['U_ANNA']),
    });
    const { workspace, adapter } = slack;
    const membersOf = async () => await adapter.groupMembers?.('slack:S1', workspace.teamId);
    expect(await membersOf()).toEqual(['slack:U_ANNA']);
    workspace.addGroup('S1', 'oncall', ['U_BO']);
    shiftMs = 59_000;
    expect(await membersOf()).toEqual(['slack:U_ANNA']);
    shiftMs = 61_000;
    expect(await membersOf()).toEqual(['slack:U_BO']);
    workspace.withhold('usergroups.users.list', 'missing_scope');
    shiftMs = 122_000;
    await expect(membersOf()).rejects.toThrow('usergroups:read');
    await slack.close();
  });

  it('of another workspace, or none at all, tell nobody', async () => {
    const slack = await setUpSlack({ prepare: (workspace) => workspace.addGroup('S1', 'oncall') });
    const { workspace, adapter } = slack;
    const ask = (group: string, space: string) => adapter.groupMembers?.(group, space);
    await expect(ask('slack:S1', 'T_OTHER')).rejects.toMatchObject({ code: 'message_refused' });
    await expect(ask('slack:U1', workspace.teamId)).rejects.toMatchObject({
      code: 'message_refused',
    });
    await expect(ask('slack:S2', workspace.teamId)).rejects.toMatchObject({
      code: 'message_refused',
    });
    expect(workspace.calls.map(({ method }) => method)).toContain('usergroups.users.list');
    await slack.close();
  });
});
