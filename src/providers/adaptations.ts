/**
 * What a server refuses is dropped once and remembered for its endpoint and model: optional fields
 * (a summary of thoughts, a token limit's name, one tool's schema) must never make a model unusable.
 * Nothing else is repeated here. `deckhand doctor` shows what was learned.
 */

import { isBotError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { ChatRequest, ChatStreamEvent } from '../messages/chat.ts';
import { WireError, type WireFailure } from './errors.ts';

/** Names of adaptations by `endpoint model`, kept over restarts. */
export interface LearnedBook {
  read(endpoint: string, model: string): Promise<readonly string[]>;
  add(endpoint: string, model: string, name: string): Promise<void>;
}

export interface Adaptation {
  /** Whether the model is known to be so from now on, or only this request was. */
  readonly lasts: 'model' | 'request';
  /** The name of what to change (`reasoning_summary`), where this refusal complains about it. */
  cureOf(failure: WireFailure, request: ChatRequest): string | undefined;
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

export function createAdaptations(
  deps: { readonly log: Log; readonly learned: LearnedBook },
  endpoint: string,
  known: readonly Adaptation[],
): Adaptations {
  const all = [...known, bareSchema];
  const learn = (
    request: ChatRequest,
    learned: Set<string>,
    thrown: unknown,
  ): { readonly name: string; readonly lasts: Adaptation['lasts'] } | undefined => {
    if (!isBotError(thrown, 'bad_request') || !(thrown.cause instanceof WireError))
      return undefined;
    const { failure } = thrown.cause;
    // Without a status it came inside a stream, where something may have been shown already.
    if (failure.status === undefined) return undefined;
    for (const one of all) {
      const name = one.cureOf(failure, request);
      if (name !== undefined && !learned.has(name)) return { name, lasts: one.lasts };
    }
    return undefined;
  };
  /** Tries until a first event comes: no refusal with a status comes later than that. */
  const begin = async (
    request: ChatRequest,
    attempt: Parameters<Adaptations['stream']>[1],
  ): Promise<Begun> => {
    const { model } = request;
    const learned = new Set(await deps.learned.read(endpoint, model));
    for (let cures = 0; ; cures += 1) {
      const events = attempt(learned)[Symbol.asyncIterator]();
      try {
        return { events, first: await events.next() };
      } catch (thrown) {
        const cure = cures < mostCures ? learn(request, learned, thrown) : undefined;
        if (cure === undefined) throw thrown;
        learned.add(cure.name);
        deps.log.warn('model_request_adapted', { model, endpoint, cure: cure.name });
        if (cure.lasts === 'model') await deps.learned.add(endpoint, model, cure.name);
      }
    }
  };
  return {
    stream: (request, attempt) => ({
      [Symbol.asyncIterator]: (): AsyncIterator<ChatStreamEvent> => {
        let events: AsyncIterator<ChatStreamEvent> | undefined;
        let isOver = false;
        const start = async (): Promise<IteratorResult<ChatStreamEvent>> => {
          // Where no attempt succeeds, there is nothing more to ask for.
          isOver = true;
          const begun = await begin(request, attempt);
          ({ events } = begun);
          return begun.first;
        };
        return {
          // Handed through as they are: a generator around a generator is slow.
          next: () => {
            if (events !== undefined) return events.next();
            return isOver ? Promise.resolve(over) : start();
          },
          return: async () => {
            isOver = true;
            await events?.return?.();
            return over;
          },
        };
      },
    }),
  };
}

interface Begun {
  readonly events: AsyncIterator<ChatStreamEvent>;
  readonly first: IteratorResult<ChatStreamEvent>;
}

const over = { done: true, value: undefined } as const;

/** An adaptation that is due when the refusal's text or its field's name matches. */
export function dueWhen(
  name: string,
  pattern: RegExp,
  lasts: Adaptation['lasts'] = 'model',
): Adaptation {
  return {
    lasts,
    cureOf: ({ message, param, code }) =>
      pattern.test(message) || pattern.test(param ?? '') || pattern.test(code ?? '')
        ? name
        : undefined,
  };
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
