/** How a provider’s stream ends: well, stopped, silent, refused or broken. */

import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { BotError } from '../../src/base/errors.ts';
import { type Answer, message, say } from '../emulators/model/script.ts';
import { collect, collectUntilThrow } from '../support/providers.ts';
import type { DeclareCapability } from './capabilities.ts';
import { asking, benchOf, never, type ProviderUnderTest } from './provider-bench.ts';

export function describeProviderEnds(
  under: ProviderUnderTest,
  capability: DeclareCapability,
): void {
  const { model } = under;
  const bench = benchOf(under);
  const ask = asking(under);
  const failureAfter = async (answer: Answer): Promise<unknown> => {
    const { server, provider } = bench();
    server.script(answer);
    return (await collectUntilThrow(provider.stream(ask(), never))).thrown;
  };

  it.each([
    ['output_limit', 'output_limit'],
    ['refused', 'refused'],
  ] as const)('reports the stop %s', async (stop, expected) => {
    const { server, provider } = bench();
    server.script({ ...say('So far'), stop });
    const events = await collect(provider.stream(ask(), never));
    expect(events.at(-1)).toMatchObject({ kind: 'message_end', stop: expected });
  });

  it('ends with the signal’s reason when aborted before headers, and hangs up', async () => {
    const { server, provider } = bench();
    server.script({ kind: 'hang', until: new Promise(() => undefined) });
    const controller = new AbortController();
    const reason = new BotError('stopped', 'Anna stopped it.');
    const reading = collectUntilThrow(provider.stream(ask(), controller.signal));
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort(reason);
    expect((await reading).thrown).toBe(reason);
    await server.requests[0]?.closed;
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  capability(
    'stop in the middle',
    'ends with the signal’s reason when aborted in the stream, and hangs up',
    async () => {
      const { server, provider } = bench();
      server.script(
        message(
          { kind: 'text', text: 'One' },
          { kind: 'wait', until: new Promise(() => undefined) },
        ),
      );
      const controller = new AbortController();
      const reason = new BotError('stopped', 'Anna stopped it.');
      const seen: string[] = [];
      const reading = (async () => {
        for await (const event of provider.stream(ask(), controller.signal)) {
          seen.push(event.kind);
          if (event.kind === 'text_delta') controller.abort(reason);
        }
      })();
      await expect(reading).rejects.toBe(reason);
      expect(seen).not.toContain('message_end');
      await server.requests[0]?.closed;
    },
  );

  it('does not call when aborted before', async () => {
    const { server, provider } = bench();
    const reason = new BotError('stopped', 'Too late.');
    const { thrown } = await collectUntilThrow(provider.stream(ask(), AbortSignal.abort(reason)));
    expect(thrown).toBe(reason);
    expect(server.requests).toHaveLength(0);
  });

  it('closes the connection when the reader leaves, and leaves no listener', async () => {
    const { server, deps, provider } = bench();
    server.script(
      message({ kind: 'text', text: 'One' }, { kind: 'wait', until: new Promise(() => undefined) }),
    );
    const controller = new AbortController();
    for await (const event of provider.stream(ask(), controller.signal)) {
      if (event.kind === 'text_delta') break;
    }
    await server.requests[0]?.closed;
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    expect(deps.clock.pending).toBe(0);
  });

  it('gives up on a silent stream after the idle time, not before', async () => {
    const { server, deps, provider } = bench();
    server.script(
      message({ kind: 'text', text: 'One' }, { kind: 'wait', until: new Promise(() => undefined) }),
    );
    let hasText = false;
    const reading = (async () => {
      for await (const event of provider.stream(ask(), never)) {
        if (event.kind === 'text_delta') hasText = true;
      }
    })();
    const failing = reading.catch((thrown: unknown) => thrown);
    await expect.poll(() => hasText).toBe(true);
    await deps.clock.advance(599_999);
    expect(deps.clock.pending).toBe(1);
    await deps.clock.advance(1);
    expect(await failing).toMatchObject({ code: 'connection_lost' });
    await server.requests[0]?.closed;
  });

  it.each([
    [429, 'model_rate_limited'],
    [401, 'auth_failed'],
    [403, 'auth_failed'],
    [402, 'quota_exhausted'],
    [400, 'bad_request'],
    [408, 'connection_lost'],
    [409, 'connection_lost'],
    [500, 'overloaded'],
    [502, 'overloaded'],
    [503, 'overloaded'],
    [504, 'overloaded'],
    [529, 'overloaded'],
  ])('makes HTTP %i %s', async (status, code) => {
    const { server } = bench();
    const thrown = await failureAfter({ kind: 'status', status, message: 'No.' });
    expect(thrown).toMatchObject({ code, facts: { status, model } });
    expect(server.requests).toHaveLength(1);
  });

  capability('waits that the provider asks for', 'reads the wait of its headers', async () => {
    const waits = [
      [{ 'retry-after': '7' }, 7_000],
      [{ 'retry-after-ms': '1500', 'retry-after': '7' }, 1_500],
    ] as const;
    for (const [headers, retryAfterMs] of waits) {
      const thrown = await failureAfter({ kind: 'status', status: 429, headers });
      expect(thrown).toMatchObject({ code: 'model_rate_limited', retryAfterMs });
    }
  });

  capability('overflow recognised', 'recognises a prompt that is too long', async () => {
    expect(await failureAfter(under.overflow)).toMatchObject({ code: 'context_overflow' });
  });

  it('takes an overflow for a rate limit when it is one', async () => {
    const text = 'Rate limit reached: too many tokens per min, maximum context length unaffected';
    const thrown = await failureAfter({ kind: 'status', status: 429, message: text });
    expect(thrown).toMatchObject({ code: 'model_rate_limited' });
  });

  it('reports an error inside the stream after what was shown', async () => {
    const { server, provider } = bench();
    server.script(
      message(
        { kind: 'text', text: 'The answer is' },
        { kind: 'error', type: 'overloaded_error', message: 'Overloaded' },
      ),
    );
    const { events, thrown } = await collectUntilThrow(provider.stream(ask(), never));
    expect(events.map((event) => event.kind)).toContain('text_delta');
    expect(events.map((event) => event.kind)).not.toContain('message_end');
    expect(thrown).toMatchObject({ code: 'overloaded' });
    expect(String(thrown)).not.toContain('[object Object]');
  });

  capability('lost connections noticed', 'reports a connection that breaks off', async () => {
    const thrown = await failureAfter(message({ kind: 'text', text: 'One' }, { kind: 'cut' }));
    expect(thrown).toMatchObject({ code: 'connection_lost' });
  });

  it('reports a stream that ends in order without its terminal event', async () => {
    const { server, provider } = bench();
    server.script(message({ kind: 'text', text: 'One' }, { kind: 'end' }));
    const { events, thrown } = await collectUntilThrow(provider.stream(ask(), never));
    const stops = events.flatMap((event) => (event.kind === 'message_end' ? [event.stop] : []));
    const ending = thrown instanceof BotError ? [thrown.code] : stops;
    expect(ending).toEqual([under.unmarkedEnd]);
    expect(stops).toHaveLength(thrown === undefined ? 1 : 0);
  });

  it('reports a stream that ends with nothing in it', async () => {
    const thrown = await failureAfter({ kind: 'events', events: [], doneMark: false });
    expect(thrown).toMatchObject({ code: 'connection_lost' });
  });

  it.each([
    ['text/html', '<html><body>Please log in</body></html>'],
    ['application/json', '{"ok":true}'],
  ])('reports a 200 with %s', async (contentType, body) => {
    const { server } = bench();
    const thrown = await failureAfter({ kind: 'status', status: 200, contentType, body });
    expect(thrown).toMatchObject({ code: 'connection_lost' });
    expect(server.requests).toHaveLength(1);
  });

  it('reports a server that cannot be reached', async () => {
    const { server, provider } = bench();
    await server.close();
    const { thrown } = await collectUntilThrow(provider.stream(ask(), never));
    expect(thrown).toMatchObject({ code: 'connection_lost' });
  });
}
