/** What a request may wish for beyond words: effort, documents, the vendor's search, caching. */

import { expect } from 'vitest';
import type { ChatProvider, ChatRequest } from '../../src/messages/chat.ts';
import type { Abilities } from '../../src/messages/model.ts';
import { say, scriptUsage } from '../emulators/model/script.ts';
import type { JsonObject } from '../emulators/model/wire.ts';
import { chatRequestOf, collect } from '../support/providers.ts';
import type { DeclareCapability } from './capabilities.ts';
import { benchOf, never, type ProviderUnderTest } from './provider-bench.ts';

const pdf = Buffer.from('%PDF-1.7 a page').toString('base64');

/** Of a model of a server that takes all of it. */
const gifted: Partial<Abilities> = {
  thinking: ['effort'],
  efforts: ['low', 'high'],
  documents: true,
  webSearch: true,
};

export function describeProviderWishes(
  under: ProviderUnderTest,
  capability: DeclareCapability,
): void {
  const bench = benchOf(under);
  const { giftedServer } = under;

  /** The body of the one request, and the events of its answer. */
  const ask = async (rest: Partial<ChatRequest>) => {
    const { server, deps } = bench();
    const provider: ChatProvider = giftedServer ? giftedServer(deps, server.url) : bench().provider;
    const request = chatRequestOf(under.model, 'Hello', rest);
    const abilities = giftedServer ? { ...request.abilities, ...gifted } : request.abilities;
    server.script(say('Fine.'));
    const events = await collect(provider.stream({ ...request, abilities }, never));
    expect(server.requests.map(({ objection }) => objection)).toEqual([undefined]);
    const body: JsonObject = server.requests[0]?.body ?? {};
    return { body, events, text: JSON.stringify(body) };
  };
  const note = giftedServer ? 'where the server has it' : undefined;

  capability('thinking effort', 'asks for the effort that is wished', async () => {
    const { text } = await ask({ reasoning: { effort: 'high' } });
    expect(text).toMatch(/"(?:effort|thinkingLevel)":"high"/iu);
    return note;
  });

  capability('PDFs', 'sends the document of a person', async () => {
    const part = {
      kind: 'document',
      mediaType: 'application/pdf',
      name: 'a.pdf',
      base64: pdf,
    } as const;
    const { text } = await ask({ messages: [{ role: 'user', parts: [part] }] });
    expect(text).toContain(pdf);
    return note;
  });

  capability('web search of the vendor', 'declares it beside the own tools', async () => {
    const { text } = await ask({ webSearch: true });
    expect(text).toMatch(/web_search|googleSearch/u);
    expect(text).toContain('weather');
    return note;
  });

  capability(
    'prompt caching',
    'asks for it in the server’s way, and counts what it saved',
    async () => {
      const { body, text, events } = await ask({});
      const usage = events.findLast((event) => event.kind === 'usage');
      expect(usage).toMatchObject({ usage: { cacheRead: scriptUsage.cacheRead } });
      if (text.includes('"cache_control"')) return 'marks';
      return 'prompt_cache_key' in body ? 'key' : 'automatic';
    },
  );
}
