/** Files that come with Slack messages. */

import { createServer, type IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createDownload } from '../../../adapters/slack/download.ts';
import { directTransport } from '../../../adapters/slack/transport.ts';
import type { InboundFile } from '../../../src/surface/inbound.ts';
import { type SlackSetUp, setUpSlack } from './set-up.ts';

async function sent(
  slack: SlackSetUp,
  file: Parameters<SlackSetUp['workspace']['addFile']>[0],
): Promise<InboundFile> {
  slack.workspace.say('U_ANNA', 'C1', '', { files: [slack.workspace.addFile(file)] });
  const [found] = (await slack.first('message')).files;
  if (found === undefined) throw new Error('The file did not come.');
  return found;
}

const csv = { name: 'a b.csv', mimetype: 'text/csv', content: '0123456789' };
const surfaceOf = (slack: SlackSetUp) => slack.adapter.surfaceOf(slack.conversation('C1', '1.1'));

/** Another host: it keeps the headers of its visitors. */
async function openElsewhere(): Promise<{
  readonly url: string;
  readonly visits: readonly IncomingHttpHeaders[];
  close(): Promise<void>;
}> {
  const visits: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    visits.push(request.headers);
    response.writeHead(200, { 'Content-Type': 'text/csv' }).end('from elsewhere');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port was given.');
  return {
    url: `http://127.0.0.1:${address.port}/cdn`,
    visits,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

describe('downloads', () => {
  it('send the bot token', async () => {
    const slack = await setUpSlack();
    const file = await sent(slack, csv);
    expect(file).toMatchObject({ name: 'a b.csv', mediaType: 'text/csv', bytes: 10 });
    const bytes = await surfaceOf(slack).download(file, 100);
    expect(Buffer.from(bytes).toString()).toBe('0123456789');
    expect(
      slack.workspace.calls
        .filter((call) => call.method === 'file_download')
        .map((call) => call.args),
    ).toEqual([{ id: file.id, authorization: `Bearer ${slack.workspace.botToken}` }]);
    await slack.close();
  });

  it('know a stub of another workspace for what it is', async () => {
    const slack = await setUpSlack();
    const image = { name: 'shot.png', mimetype: 'image/png', content: 'png!', isStub: true };
    const file = await sent(slack, image);
    expect(file).toMatchObject({ name: 'shot.png', mediaType: 'image/png', bytes: 4 });
    expect(Buffer.from(await surfaceOf(slack).download(file, 100)).toString()).toBe('png!');
    const asked = slack.workspace.calls.filter((call) => call.method === 'files.info');
    expect(asked).toHaveLength(1);
    await slack.close();
  });

  it.each([
    ['does not tell', { kind: 'status', status: 500 }],
    ['takes too long', { kind: 'slow', ms: 2_000 }],
  ] as const)('look up a stub later when Slack %s at first', async (_, fault) => {
    const slack = await setUpSlack();
    slack.workspace.fault('files.info', fault);
    const file = await sent(slack, { ...csv, isStub: true });
    expect(file).toMatchObject({ url: '', mediaType: 'application/octet-stream', bytes: 0 });
    expect(Buffer.from(await surfaceOf(slack).download(file, 100)).toString()).toBe('0123456789');
    expect(slack.workspace.deliveries[0]?.attempts).toBe(1);
    await slack.close();
  });

  it('leave the token out after a redirect elsewhere', async () => {
    const slack = await setUpSlack();
    const elsewhere = await openElsewhere();
    const file = await sent(slack, { ...csv, redirectTo: elsewhere.url });
    const bytes = await surfaceOf(slack).download(file, 100);
    expect(Buffer.from(bytes).toString()).toBe('from elsewhere');
    expect(elsewhere.visits.map((headers) => headers.authorization)).toEqual([undefined]);
    await elsewhere.close();
    await slack.close();
  });

  it.each([
    ['a file kept elsewhere', 'https://evil.example.com/x', 'message_refused'],
    ['a look-alike host', 'https://files.slack.com.evil.example/x', 'message_refused'],
    ['Slack without encryption', 'http://files.slack.com/x', 'message_refused'],
    ['no address at all', 'not a url', 'message_refused'],
  ])('never send the token to %s', async (_what, url, code) => {
    const slack = await setUpSlack();
    const file: InboundFile = { id: 'F9', name: 'x', mediaType: 'text/csv', bytes: 1, url };
    await expect(surfaceOf(slack).download(file, 100)).rejects.toMatchObject({ code });
    await slack.close();
  });

  it.each([
    ['http://slack.com/files-pri/T1-F1/a.csv', false],
    ['https://slack.com:8443/files-pri/T1-F1/a.csv', true],
    ['https://files.slack.com/files-pri/T1-F1/a.csv', true],
    ['https://acme.enterprise.slack.com/files-pri/T1-F1/a.csv', true],
    ['https://slack.com@evil.example/a.csv', false],
    ['https://notslack.com/a.csv', false],
  ])('of the real Slack send the token to %s: %s', async (url, isSent) => {
    const sentTo: string[] = [];
    const download = createDownload({
      call: () => Promise.reject(new Error('not asked')),
      transport: {
        ...directTransport,
        fetch: async (address) => {
          sentTo.push(address);
          throw new Error('no network here');
        },
      },
      ...{ botToken: 'xoxb-1', apiUrl: 'https://slack.com/api/' },
    });
    const file: InboundFile = { id: 'F1', name: 'a.csv', mediaType: 'text/csv', bytes: 1, url };
    const code = isSent ? 'surface_unavailable' : 'message_refused';
    await expect(download(file, 100)).rejects.toMatchObject({ code });
    expect(sentTo).toEqual(isSent ? [url] : []);
  });

  it('know the sign-in page from the file', async () => {
    const slack = await setUpSlack();
    const signIn = `${new URL(slack.workspace.apiUrl).origin}/sign-in`;
    const file = await sent(slack, { ...csv, redirectTo: signIn });
    const download = surfaceOf(slack).download(file, 100);
    await expect(download).rejects.toThrow('files:read');
    await expect(download).rejects.toMatchObject({ code: 'surface_gone' });
    await slack.close();
  });

  it.each([
    ['a table', csv, 'application/octet-stream'],
    ['an image', { ...csv, name: 'a.png', mimetype: 'image/png' }, 'image/png'],
    ['a page', { ...csv, name: 'a.html', mimetype: 'text/html' }, 'text/html'],
    ['a stub that nobody described', { ...csv, isStub: true }, 'text/plain'],
  ])('know the sign-in page by its bytes from %s', async (_what, given, type) => {
    const slack = await setUpSlack();
    if ('isStub' in given) slack.workspace.fault('files.info', { kind: 'status', status: 500 });
    const signIn = new URL(`/sign-in?as=${type}`, slack.workspace.apiUrl).href;
    const file = await sent(slack, { ...given, redirectTo: signIn });
    await expect(surfaceOf(slack).download(file, 1_000)).rejects.toMatchObject({
      code: 'surface_gone',
    });
    await slack.close();
  });

  it.each(['text/html', 'text/plain'])('give a page that a person sent as %s', async (mimetype) => {
    const slack = await setUpSlack();
    const content = '<!DOCTYPE html><title>How we use Slack</title>';
    const file = await sent(slack, { name: 'page.html', mimetype, content });
    const bytes = await surfaceOf(slack).download(file, 1_000);
    expect(Buffer.from(bytes).toString()).toBe(content);
    await slack.close();
  });

  it.each([
    ['hidden_by_limit', 'hidden by the storage limit'],
    ['access_denied', 'does not give'],
  ] as const)('say why Slack gives a file to nobody: %s', async (withheld, sentence) => {
    const slack = await setUpSlack();
    const file = await sent(slack, { ...csv, withheld });
    const download = surfaceOf(slack).download(file, 100);
    await expect(download).rejects.toMatchObject({ code: 'message_gone' });
    await expect(download).rejects.toThrow(sentence);
    await slack.close();
  });

  it('take exactly the most bytes and not one more', async () => {
    const slack = await setUpSlack();
    const file = await sent(slack, csv);
    expect(await surfaceOf(slack).download(file, 10)).toHaveLength(10);
    await expect(surfaceOf(slack).download(file, 9)).rejects.toMatchObject({
      code: 'message_too_long',
    });
    await slack.close();
  });

  it('say that a file was deleted', async () => {
    const slack = await setUpSlack();
    const file = await sent(slack, csv);
    slack.workspace.model.files.delete(file.id);
    await expect(surfaceOf(slack).download(file, 100)).rejects.toMatchObject({
      code: 'message_gone',
    });
    await slack.close();
  });
});
