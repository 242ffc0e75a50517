/** What a wire format must tell the model server. */

import { z } from 'zod';
import type { EventsAnswer, MessageAnswer, StatusAnswer } from './script.ts';

/** What goes onto the socket, one thing after the other. */
export type Frame =
  | { readonly kind: 'data'; readonly text: string }
  | { readonly kind: 'wait'; readonly until: Promise<void> }
  /** The socket is destroyed. */
  | { readonly kind: 'cut' }
  /** The body ends here. */
  | { readonly kind: 'end' };

/** Seals the server has given out, with what they were given for; a request may use only these. */
export class SealBook {
  readonly #sealed = new Map<string, string>();
  readonly #thoughtOf = new Map<string, string>();
  readonly #callIds = new Set<string>();
  #items = 0;

  /** A new seal for a content. */
  give(content: string): string {
    const seal = Buffer.from(`seal-${this.#sealed.size + 1}`).toString('base64');
    this.#sealed.set(seal, content);
    return seal;
  }

  /** What the seal was given for; undefined when it is none of ours. */
  contentOf(seal: string): string | undefined {
    return this.#sealed.get(seal);
  }

  /** The wire has given a call this id: it takes it back, whatever it looks like. */
  issueCallId(wire: string, id: string): void {
    this.#callIds.add(`${wire} ${id}`);
  }

  hasIssuedCallId(wire: string, id: string): boolean {
    return this.#callIds.has(`${wire} ${id}`);
  }

  /** A name for an item that no other answer of this server has. */
  newItemId(prefix: string): string {
    this.#items += 1;
    return `${prefix}_${this.#items}`;
  }

  /** From now on the item is taken only together with this thought. */
  bind(itemId: string, thoughtId: string): void {
    this.#thoughtOf.set(itemId, thoughtId);
  }

  /** The thought that the item was given out with, if any. */
  thoughtOf(itemId: string): string | undefined {
    return this.#thoughtOf.get(itemId);
  }

  /** The seal that was given for this content, if any. */
  sealOf(content: string): string | undefined {
    return [...this.#sealed].find(([, sealed]) => sealed === content)?.[0];
  }
}

export interface ModelWire {
  readonly name: 'anthropic' | 'openai' | 'compatible' | 'gemini';
  /** Is this the path of a streamed message? */
  serves(path: string): boolean;
  /** What the real API would say against the request; undefined when it takes it. */
  objection(body: JsonObject, seals: SealBook, path: string): string | undefined;
  frames(answer: MessageAnswer, seals: SealBook, model: string): Iterable<Frame>;
  eventFrames(answer: EventsAnswer): Iterable<Frame>;
  errorBody(answer: StatusAnswer): string;
}

export type JsonObject = Readonly<Record<string, unknown>>;

const objectSchema = z.record(z.string(), z.unknown());

/** An object, or an empty one. */
export function objectOf(value: unknown): JsonObject {
  return objectSchema.safeParse(value).data ?? {};
}

/** The objects of a list, or none. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return z.array(objectSchema).safeParse(value).data ?? [];
}

/** A text, or an empty one. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The first field that the API does not know. */
export function unknownField(body: JsonObject, known: readonly string[]): string | undefined {
  return Object.keys(body).find((key) => !known.includes(key));
}

/** What the vendors say against a text that does not have the form they want. */
export function patternObjection(
  field: string,
  value: unknown,
  mostChars: number,
): string | undefined {
  const text = stringOf(value);
  if (!/^[A-Za-z0-9_-]+$/u.test(text)) {
    return `${field}: String should match pattern '^[a-zA-Z0-9_-]+$'`;
  }
  return text.length > mostChars
    ? `${field}: string too long. Expected a string with maximum length ${mostChars}`
    : undefined;
}

export function dataFrame(event: unknown, name?: string): Frame {
  const head = name === undefined ? '' : `event: ${name}\n`;
  return { kind: 'data', text: `${head}data: ${JSON.stringify(event)}\n\n` };
}
