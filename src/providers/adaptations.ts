/**
 * What a server refuses is dropped once and remembered for its endpoint and model: optional fields
 * (a summary of thoughts, a token limit's name, one tool's schema) must never make a model unusable,
 * nor an image a conversation (media-refusals.ts). Nothing is remembered before it has helped, and
 * nothing else is repeated here. `deckhand doctor` shows what was learned.
 */

import { isBotError } from '../base/errors.ts';
import { errorFacts, type Log } from '../base/log.ts';
import type { ChatRequest, ChatStreamEvent } from '../messages/chat.ts';
import { type Adaptation, isOfRequest, lastsAfter } from './adaptation.ts';
import { bareToolName, refusedSchema } from './bare-schemas.ts';
import { effortLevels } from './effort-levels.ts';
import { WireError, type WireFailure } from './errors.ts';
import { editsHistory } from './media.ts';
import { createMediaCures, isAboutSize, type MediaCure, textsOnlyCure } from './media-refusals.ts';
import { outputLimit, outputRoom } from './output-limit.ts';
import { createStaleThoughts, staleName } from './stale-thoughts.ts';

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

/**
 * How many cures one request is tried with; a server that refuses more has another problem. Eight
 * images left out one by one and then all others are the most that is worth it.
 */
const mostCures = 9;

interface Cure {
  readonly names: readonly string[];
  readonly lasts: Adaptation['lasts'] | MediaCure['lasts'];
}

/** A cure, and what the server had said that called for it. */
interface Tried extends Cure {
  readonly complaint: string;
}

export function createAdaptations(
  deps: { readonly log: Log; readonly learned: LearnedBook },
  endpoint: string,
  known: readonly Adaptation[],
): Adaptations {
  const all = [outputRoom, outputLimit, effortLevels, ...known];
  const book = forgivingBook(deps);
  const stale = createStaleThoughts();
  /** Tries until more than a start comes: then the server has taken the request. */
  const begin = async (
    request: ChatRequest,
    attempt: Parameters<Adaptations['stream']>[1],
  ): Promise<Begun> => {
    const { model } = request;
    const kept = await book.read(endpoint, model);
    const learned = new Set([...kept, ...stale.namesOf(request)]);
    const cureOf = createCures(all, request);
    let isEdited = false;
    const learn = (cure: Tried): void => {
      const before = new Set(learned);
      for (const name of cure.names) learned.add(name);
      const edits = editsHistory(request, before, learned);
      isEdited ||= edits || cure.lasts === 'history';
      const staleNow = edits ? staleName(request.messages) : undefined;
      if (staleNow !== undefined) learned.add(staleNow);
      deps.log.warn('model_request_adapted', { model, endpoint, cure: cure.names.join(' ') });
    };
    const tried: Tried[] = [];
    for (;;) {
      const events = attempt(learned)[Symbol.asyncIterator]();
      const begun = await begunWith(events);
      if (begun.failure === undefined) {
        for (const name of helpful(tried)) await book.add(endpoint, model, name);
        if (isEdited) stale.remember(request);
        return begun;
      }
      const cure = tried.length < mostCures ? cureOf(begun.failure.thrown, learned) : undefined;
      if (cure === undefined) return begun;
      learn(cure);
      tried.push(cure);
    }
  };
  return {
    stream: (request, attempt) => ({
      [Symbol.asyncIterator]: () => iteratorOf(() => begin(request, attempt)),
    }),
  };
}

/** A store that fails costs a refusal the next time, never the answer that is there. */
function forgivingBook({
  learned,
  log,
}: {
  readonly log: Log;
  readonly learned: LearnedBook;
}): LearnedBook {
  return {
    read: (endpoint, model) =>
      learned.read(endpoint, model).catch((thrown: unknown) => {
        log.warn('learned_read_failed', { model, endpoint, ...errorFacts(thrown) });
        return [];
      }),
    add: (endpoint, model, name) =>
      learned.add(endpoint, model, name).catch((thrown: unknown) => {
        log.warn('learned_write_failed', { model, endpoint, cure: name, ...errorFacts(thrown) });
      }),
  };
}

/**
 * What is worth remembering once the server has taken the request: the last cure, and those before it
 * after which the server complained of something else. Of guesses only the last one helped, and what
 * adds up helped together.
 */
function helpful(tried: readonly Tried[]): readonly string[] {
  const addsUp = tried.at(-1)?.lasts === 'together';
  const helped = tried.filter(({ lasts, complaint }, place) => {
    const next = tried[place + 1];
    if (lasts === 'request' || lasts === 'history') return false;
    if (next === undefined) return true;
    if (lasts === 'together') return addsUp;
    return lasts === 'model' && next.complaint !== complaint;
  });
  return helped.flatMap(({ names }) => names);
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
): (thrown: unknown, learned: ReadonlySet<string>) => Tried | undefined {
  const mediaCure = createMediaCures(request);
  const names = request.tools.map(({ name }) => name);
  const curedBy = (
    some: readonly Adaptation[],
    failure: WireFailure,
    learned: ReadonlySet<string>,
  ): Cure | undefined => {
    for (const one of some) {
      const name = one.cureOf(failure, request, learned);
      if (name !== undefined && !learned.has(name)) {
        return { names: [name], lasts: lastsAfter(failure, one) };
      }
    }
    return undefined;
  };
  const fieldCure = (failure: WireFailure, learned: ReadonlySet<string>): Cure | undefined => {
    const schema = refusedSchema(failure, names);
    const name = schema && bareToolName(schema.tool);
    const bare: Cure | undefined =
      name === undefined || learned.has(name) ? undefined : { names: [name], lasts: 'model' };
    if (schema?.isCertain) return bare;
    return (
      textsOnlyCure(failure, request, learned) ??
      curedBy(all, failure, learned) ??
      bare ??
      mediaCure(failure, learned)
    );
  };
  const cureOf = (thrown: unknown, failure: WireFailure, learned: ReadonlySet<string>) => {
    if (isBotError(thrown, 'context_overflow')) {
      const room = curedBy([outputRoom], failure, learned);
      return room ?? (isAboutSize(failure) ? mediaCure(failure, learned) : undefined);
    }
    // Without a status it came inside a stream, and says nothing about a field.
    if (failure.status === undefined || !isBotError(thrown, 'bad_request')) {
      return mediaCure(failure, learned);
    }
    return fieldCure(failure, learned);
  };
  return (thrown, learned) => {
    const failure = failureOf(thrown);
    if (failure === undefined) return undefined;
    const cure = cureOf(thrown, failure, learned);
    if (cure === undefined) return undefined;
    const lasts = cure.lasts !== 'history' && isOfRequest(failure) ? 'request' : cure.lasts;
    return { ...cure, lasts, complaint: complaintOf(failure) };
  };
}

/** What the server complains of; ids of requests and the like are no part of it. */
function complaintOf({ code, param, message }: WireFailure): string {
  return [code, param, message].join(' ').replace(/\b(?=[\w-]*\d)[\w-]{16,}\b/gu, '');
}

/** What the server said, where that is about this request. */
function failureOf(thrown: unknown): WireFailure | undefined {
  const isAbout = isBotError(thrown, 'bad_request', 'refused', 'overloaded', 'context_overflow');
  return isAbout && thrown.cause instanceof WireError ? thrown.cause.failure : undefined;
}
