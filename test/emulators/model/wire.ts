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

export function dataFrame(event: unknown, name?: string): Frame {
  const head = name === undefined ? '' : `event: ${name}\n`;
  return { kind: 'data', text: `${head}data: ${JSON.stringify(event)}\n\n` };
}
