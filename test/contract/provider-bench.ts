/** A provider and the server it is tested against. */

import { afterEach, beforeEach } from 'vitest';
import type { ChatMessage, ChatProvider, ChatRequest } from '../../src/messages/chat.ts';
import type { ProviderDeps } from '../../src/providers/deps.ts';
import type { StatusAnswer } from '../emulators/model/script.ts';
import { createModelServer, type ModelServer, type WireName } from '../emulators/model-server.ts';
import { chatRequestOf, createTestDeps, type TestDeps } from '../support/providers.ts';

export interface ProviderUnderTest {
  readonly wire: WireName;
  readonly model: string;
  create(deps: ProviderDeps, baseUrl: string): ChatProvider;
  /** One of many servers of this wire, with more to offer than the plain one. */
  readonly giftedServer?: (deps: ProviderDeps, serverUrl: string) => ChatProvider;
  /** What an end without a terminal event after text means; see the provider. */
  readonly unmarkedEnd: 'connection_lost' | 'unknown';
  /** Its answer to a prompt that is too long. */
  readonly overflow: StatusAnswer;
}

export interface Bench {
  readonly server: ModelServer;
  readonly deps: TestDeps;
  readonly provider: ChatProvider;
}

/** A signal that never aborts. */
export const never = new AbortController().signal;

/** Opens a fresh bench for each test of the surrounding describe; `bench()` is the present one. */
export function benchOf(under: ProviderUnderTest): () => Bench {
  const state: { bench?: Bench } = {};
  beforeEach(async () => {
    const server = await createModelServer();
    const deps = createTestDeps();
    state.bench = { server, deps, provider: under.create(deps, server.baseUrl(under.wire)) };
  });
  afterEach(() => state.bench?.server.close());
  return () => {
    if (state.bench === undefined) throw new Error('The bench is open only within a test.');
    return state.bench;
  };
}

export function asking(
  under: ProviderUnderTest,
): (messages?: string | readonly ChatMessage[]) => ChatRequest {
  return (messages = 'Hello') => chatRequestOf(under.model, messages);
}
