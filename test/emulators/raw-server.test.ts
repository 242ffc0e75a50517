/** The raw server does what its users rely on: pieces arrive as pieces, and ends are what they say. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerOf, openRawServer, type RawAnswer, type RawServer } from './raw-server.ts';

const bytesOf = (text: string): Uint8Array => Buffer.from(text);

describe('openRawServer', () => {
  const answers: RawAnswer[] = [];
  const paths: string[] = [];
  let server: RawServer;
  beforeEach(async () => {
    answers.length = 0;
    paths.length = 0;
    server = await openRawServer(({ path, body }) => {
      paths.push(`${path} ${body}`);
      return answers.shift() ?? answerOf([]);
    });
  });
  afterEach(() => server.close());

  /** The pieces as the client read them, and how the body ended. */
  const read = async (answer: RawAnswer): Promise<{ pieces: string[]; ended: string }> => {
    answers.push(answer);
    const response = await fetch(`${server.url}/a`, { method: 'POST', body: 'ask' });
    const pieces: string[] = [];
    try {
      for await (const piece of response.body ?? []) pieces.push(Buffer.from(piece).toString());
      return { pieces, ended: 'in order' };
    } catch (error) {
      return { pieces, ended: String(error) };
    }
  };

  it.each(['close', 'chunked'] as const)('sends each piece by itself (%s)', async (framing) => {
    const words = ['a', 'bc', 'd', 'e', 'fghi'];
    const { pieces, ended } = await read({ ...answerOf(words.map(bytesOf)), framing });
    expect(pieces).toEqual(words);
    expect(ended).toBe('in order');
    expect(paths).toEqual(['/a ask']);
  });

  it('ends with FIN, which only a chunked body shows, and with RST', async () => {
    const steps = [{ kind: 'bytes', bytes: bytesOf('half') }, { kind: 'cut' }] as const;
    expect(await read({ steps })).toEqual({ pieces: ['half'], ended: 'in order' });
    expect(await read({ steps, framing: 'chunked' })).toMatchObject({
      pieces: ['half'],
      ended: 'TypeError: terminated',
    });
    const torn = [steps[0], { kind: 'reset' }] as const;
    expect((await read({ steps: torn, framing: 'chunked' })).ended).toBe('TypeError: terminated');
  });

  it('waits, and notices a client that hangs up', async () => {
    let isClosed = false;
    const silent = await openRawServer(({ closed }) => {
      void closed.then(() => {
        isClosed = true;
      });
      return { steps: [{ kind: 'wait', until: new Promise(() => undefined) }] };
    });
    const controller = new AbortController();
    const response = await fetch(silent.url, { method: 'POST', signal: controller.signal });
    expect(response.status).toBe(200);
    expect(isClosed).toBe(false);
    controller.abort();
    await expect.poll(() => isClosed).toBe(true);
    await silent.close();
  });

  it('answers one request on each connection', async () => {
    await read(answerOf([bytesOf('x')]));
    await read(answerOf([bytesOf('y')]));
    expect(server.connections).toBe(2);
  });
});
