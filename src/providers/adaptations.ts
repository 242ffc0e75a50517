/**
 * What a server refuses is dropped once and remembered for its endpoint and model: optional fields
 * (a summary of thoughts, a token limit's name, one tool's schema) must never make a model unusable,
 * nor an image a conversation (media-refusals.ts). Nothing else is repeated here. `deckhand doctor`
 * shows what was learned.
 */

import { isBotError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { ChatRequest, ChatStreamEvent } from '../messages/chat.ts';
import type { Adaptation } from './adaptation.ts';
import { WireError, type WireFailure } from './errors.ts';
import { createMediaCures, type MediaCure } from './media-refusals.ts';
import { outputLimit, outputRoom } from './output-limit.ts';

/** Names of adaptations by `endpoint model`, kept over restarts. */
export interface LearnedBook {
  read(endpoint: string, model: string): Promise<readonly string[]>;
  add(endpoint: string, model: string, name: string): Promise<void>;
}

export interface Adaptations {
  /**
   * Streams with what is known so far (`learned` holds names of adaptations); on a refusal with a
   * known cure it learns and streams again.
   */
  stream(
    request: ChatRequest,
    attempt: (learned: ReadonlySet<string>) => AsyncIterable<ChatStreamEvent>,
  ): AsyncGenerator<ChatStreamEvent, void>;
}

/** Each cure helps once; a server that refuses more than this has another problem. */
const mostCures = 12;

interface Cure {
  readonly names: readonly string[];
  readonly lasts: Adaptation['lasts'] | MediaCure['lasts'];
}

export function createAdaptations(
  deps: { readonly log: Log; readonly learned: LearnedBook },
  endpoint: string,
  known: readonly Adaptation[],
): Adaptations {
  const all = [...known, outputLimit, bareSchema];
  return {
    stream: async function* (request, attempt) {
      const { model } = request;
      const learned = new Set(await deps.learned.read(endpoint, model));
      const cureOf = createCures(all, request);
      const keep = async (names: readonly string[]): Promise<void> => {
        for (const name of names) await deps.learned.add(endpoint, model, name);
      };
      const learn = async (cure: Cure): Promise<void> => {
        for (const name of cure.names) learned.add(name);
        deps.log.warn('model_request_adapted', { model, endpoint, cure: cure.names.join(' ') });
        if (cure.lasts === 'model') await keep(cure.names);
      };
      const seen: Seen = { start: false, more: false };
      let last: Cure | undefined;
      // A guess is remembered when the server takes the request; guesses before it did not help.
      const onAccepted = () => keep(last?.lasts === 'if_it_helps' ? last.names : []);
      for (let cures = 0; ; cures += 1) {
        try {
          yield* watched(attempt(learned), seen, onAccepted);
          return;
        } catch (thrown) {
          // Once more was seen something may have been shown, or a tool may have run.
          last = cures < mostCures && !seen.more ? cureOf(thrown, learned) : undefined;
          if (last === undefined) throw thrown;
          await learn(last);
        }
      }
    },
  };
}

/** The cures of one request: known ones first, then leaving out an image or a document. */
function createCures(
  all: readonly Adaptation[],
  request: ChatRequest,
): (thrown: unknown, learned: ReadonlySet<string>) => Cure | undefined {
  const mediaCure = createMediaCures(request);
  return (thrown, learned) => {
    const curedBy = (some: readonly Adaptation[], failed: WireFailure): Cure | undefined => {
      for (const one of some) {
        const name = one.cureOf(failed, request);
        if (name !== undefined && !learned.has(name)) return { names: [name], lasts: one.lasts };
      }
      return undefined;
    };
    const failure = failureOf(thrown);
    if (failure === undefined) return undefined;
    if (isBotError(thrown, 'context_overflow')) return curedBy([outputRoom], failure);
    // Without a status it came inside a stream, and says nothing about a field.
    if (failure.status === undefined || !isBotError(thrown, 'bad_request')) {
      return mediaCure(failure, learned);
    }
    return curedBy(all, failure) ?? mediaCure(failure, learned);
  };
}

/** What of a message has come, over all attempts. */
interface Seen {
  start: boolean;
  more: boolean;
}

/** The events, with one start however many attempts there are. */
async function* watched(
  events: AsyncIterable<ChatStreamEvent>,
  seen: Seen,
  onAccepted: () => Promise<void>,
): AsyncGenerator<ChatStreamEvent, void> {
  for await (const event of events) {
    if (event.kind === 'message_start') {
      if (seen.start) continue;
      seen.start = true;
    } else if (!seen.more) {
      seen.more = true;
      await onAccepted();
    }
    yield event;
  }
}

/** What the server said, where that is about this request. */
function failureOf(thrown: unknown): WireFailure | undefined {
  const isAbout = isBotError(thrown, 'bad_request', 'refused', 'overloaded', 'context_overflow');
  return isAbout && thrown.cause instanceof WireError ? thrown.cause.failure : undefined;
}

const barePrefix = 'bare_schema:';

/** A schema that a server does not take costs its tool the schema, and the other tools nothing. */
const bareSchema: Adaptation = {
  lasts: 'model',
  cureOf: (failure, { tools }) => {
    const tool = refusedTool(
      failure,
      tools.map(({ name }) => name),
    );
    return tool === undefined ? undefined : barePrefix + tool;
  },
};

/** Is this tool to be declared without its schema? */
export function isBareTool(learned: ReadonlySet<string>, tool: string): boolean {
  return learned.has(barePrefix + tool);
}

/** By its place in the list (`tools.3.…`, `function_declarations[3]`), else by its name. */
function refusedTool(
  { message, param }: WireFailure,
  names: readonly string[],
): string | undefined {
  const text = `${param ?? ''} ${message}`;
  const place = /\b(?:tools|function_declarations|functions)(?:\.|\[)(\d+)/iu.exec(text)?.[1];
  // Gemini nests its declarations: the innermost number counts.
  const inner = /function_declarations\[(\d+)\]/iu.exec(text)?.[1] ?? place;
  if (inner !== undefined) return names[Number(inner)];
  if (!/schema|parameters|tool|function/iu.test(text)) return undefined;
  return names.find((name) => new RegExp(`(?<![\\w-])${name}(?![\\w-])`, 'u').test(text));
}
