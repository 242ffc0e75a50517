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
  ): AsyncIterable<ChatStreamEvent>;
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
  /** Tries until more than a start comes: then the server has taken the request. */
  const begin = async (
    request: ChatRequest,
    attempt: Parameters<Adaptations['stream']>[1],
  ): Promise<Begun> => {
    const { model } = request;
    const learned = new Set(await deps.learned.read(endpoint, model));
    const cureOf = createCures(all, request);
    const keep = async (names: readonly string[]): Promise<void> => {
      for (const name of names) await deps.learned.add(endpoint, model, name);
    };
    const learn = async ({ names, lasts }: Cure): Promise<void> => {
      for (const name of names) learned.add(name);
      deps.log.warn('model_request_adapted', { model, endpoint, cure: names.join(' ') });
      if (lasts === 'model') await keep(names);
    };
    let last: Cure | undefined;
    for (let cures = 0; ; cures += 1) {
      const events = attempt(learned)[Symbol.asyncIterator]();
      const begun = await begunWith(events);
      if (begun.failure === undefined) {
        // A guess is remembered when it helped; guesses before it did not.
        if (last?.lasts === 'if_it_helps') await keep(last.names);
        return begun;
      }
      last = cures < mostCures ? cureOf(begun.failure.thrown, learned) : undefined;
      if (last === undefined) return begun;
      await learn(last);
    }
  };
  return {
    stream: (request, attempt) => ({
      [Symbol.asyncIterator]: () => iteratorOf(() => begin(request, attempt)),
    }),
  };
}

/** The first events of an attempt, up to one that is more than a start, or what was thrown there. */
interface Begun {
  readonly events: AsyncIterator<ChatStreamEvent>;
  readonly head: IteratorResult<ChatStreamEvent>[];
  readonly failure?: { readonly thrown: unknown };
}

async function begunWith(events: AsyncIterator<ChatStreamEvent>): Promise<Begun> {
  const head: IteratorResult<ChatStreamEvent>[] = [];
  try {
    for (;;) {
      const next = await events.next();
      head.push(next);
      if (next.done || next.value.kind !== 'message_start') return { events, head };
    }
  } catch (thrown) {
    return { events, head, failure: { thrown } };
  }
}

const over = { done: true, value: undefined } as const;

/** Hands the events through as they are: a generator around a generator is slow. */
function iteratorOf(begin: () => Promise<Begun>): AsyncIterator<ChatStreamEvent> {
  let begun: Begun | undefined;
  let isOver = false;
  const next = async (): Promise<IteratorResult<ChatStreamEvent>> => {
    if (isOver) return over;
    begun ??= await begin();
    const first = begun.head.shift();
    if (first !== undefined) return first;
    if (begun.failure === undefined) return begun.events.next();
    isOver = true;
    throw begun.failure.thrown;
  };
  return {
    next: () => {
      const isFlowing = begun !== undefined && begun.head.length === 0 && !begun.failure;
      return begun !== undefined && isFlowing && !isOver ? begun.events.next() : next();
    },
    return: async () => {
      isOver = true;
      await begun?.events.return?.();
      return over;
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
