/**
 * A model server that speaks four wire formats from one script: Anthropic Messages, OpenAI
 * Responses, Chat Completions and Gemini streamGenerateContent. It refuses what the real APIs
 * refuse, and breaks in the ways they break when the script says so.
 */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { anthropicWire } from './model/anthropic.ts';
import { chatWire } from './model/chat.ts';
import { geminiWire } from './model/gemini.ts';
import { listAnswer } from './model/lists.ts';
import { responsesWire } from './model/responses.ts';
import type { Answer, ByteControl, EventsAnswer, MessageAnswer } from './model/script.ts';
import { createStrictChecker } from './model/strict.ts';
import {
  type Frame,
  type JsonObject,
  type ModelWire,
  objectOf,
  SealBook,
  stringOf,
} from './model/wire.ts';

export type WireName = ModelWire['name'];

const modelWires: Readonly<Record<WireName, ModelWire>> = {
  anthropic: anthropicWire,
  openai: responsesWire,
  compatible: chatWire,
  gemini: geminiWire,
};

interface SeenRequest {
  readonly wire: WireName;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: JsonObject;
  /** Resolves when the client's connection for this request is closed. */
  readonly closed: Promise<void>;
  /** What was wrong with it, where the server refused it by itself. */
  readonly objection: string | undefined;
}

/** An answer, or how to make one of the request. */
type ScriptedAnswer = Answer | ((request: SeenRequest) => Answer);

export interface ModelServer {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  /** The base address for a provider's settings. */
  baseUrl(wire: WireName): string;
  /** All requests for messages, refused ones included. */
  readonly requests: readonly SeenRequest[];
  /** Adds answers; each request takes the next one. */
  script(...answers: readonly ScriptedAnswer[]): void;
  /** Answers when the script is used up; without it such a request gets 500. */
  otherwise(answer: ScriptedAnswer): void;
  close(): Promise<void>;
}

export async function createModelServer(): Promise<ModelServer> {
  const requests: SeenRequest[] = [];
  const queue: ScriptedAnswer[] = [];
  const seals = new SealBook();
  const strict = createStrictChecker(seals);
  let fallback: ScriptedAnswer | undefined;

  const answerTo = (request: SeenRequest): Answer => {
    if (request.objection !== undefined) {
      return { kind: 'status', status: 400, message: request.objection };
    }
    const next = queue.shift() ?? fallback;
    if (next === undefined) return { kind: 'status', status: 500, message: 'Nothing is scripted.' };
    return typeof next === 'function' ? next(request) : next;
  };
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = new URL(incoming.url ?? '/', 'http://localhost').pathname;
    const list = listAnswer(incoming);
    if (list !== undefined) {
      response.writeHead(list.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(list.body));
      return;
    }
    const wire = Object.values(modelWires).find((one) => one.serves(path));
    const body = objectOf(JSON.parse((await readText(incoming)) || '{}'));
    if (wire === undefined) {
      response.writeHead(404).end('Not found');
      return;
    }
    const request: SeenRequest = {
      wire: wire.name,
      path,
      headers: incoming.headers,
      body,
      closed: once(response, 'close').then(() => undefined),
      objection: strict.objection(wire, body, path),
    };
    requests.push(request);
    const hear = strict.listen(wire, body);
    await send(wire, answerTo(request), request, response, { seals, hear });
  };
  const server = createServer((incoming, response) => {
    // A client that goes away in the middle is part of the game.
    response.on('error', () => undefined);
    serve(incoming, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end(String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${portOf(server.address())}`;
  return {
    url,
    baseUrl: (wire) => (wire === 'openai' || wire === 'compatible' ? `${url}/v1` : url),
    requests,
    script: (...answers) => queue.push(...answers),
    otherwise: (answer) => {
      fallback = answer;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function send(
  wire: ModelWire,
  answer: Answer,
  request: SeenRequest,
  response: ServerResponse,
  { seals, hear }: { readonly seals: SealBook; readonly hear: (text: string) => void },
): Promise<void> {
  if (answer.kind === 'hang') {
    await Promise.race([answer.until, request.closed]);
    response.destroy();
    return;
  }
  if (answer.kind === 'status') {
    const contentType = answer.contentType ?? 'application/json';
    response.writeHead(answer.status, { 'content-type': contentType, ...answer.headers });
    response.end(answer.body ?? wire.errorBody(answer));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  const model = stringOf(request.body['model']);
  for (const frame of framesOf(wire, answer, seals, model)) {
    if (response.destroyed) return;
    if (frame.kind === 'wait') await Promise.race([frame.until, request.closed]);
    else if (frame.kind === 'data') {
      hear(frame.text);
      await write(response, frame.text, answer.bytes);
    } else if (frame.kind === 'cut') {
      response.destroy();
      return;
    } else break;
  }
  response.end();
}

/** The frames of an answer on a wire. */
function framesOf(
  wire: ModelWire,
  answer: MessageAnswer | EventsAnswer,
  seals: SealBook,
  model: string,
): Iterable<Frame> {
  return answer.kind === 'events' ? wire.eventFrames(answer) : wire.frames(answer, seals, model);
}

/** The bytes of an answer that neither waits nor breaks. */
export function bytesOf(wireName: WireName, answer: MessageAnswer | EventsAnswer): Uint8Array {
  let whole = '';
  for (const frame of framesOf(modelWires[wireName], answer, new SealBook(), 'model')) {
    if (frame.kind === 'data') whole += frame.text;
  }
  return Buffer.from(withLineEnds(whole, answer.bytes));
}

function withLineEnds(text: string, bytes: ByteControl | undefined): string {
  return bytes?.lineEnd === '\r\n' ? text.replaceAll('\n', '\r\n') : text;
}

async function write(
  response: ServerResponse,
  text: string,
  control: ByteControl | undefined,
): Promise<void> {
  const bytes = Buffer.from(withLineEnds(text, control));
  for (const piece of piecesOf(bytes, control?.cutAt ?? [])) {
    response.write(piece);
    if (control?.cutAt !== undefined) await turn();
  }
}

/** Bytes cut at offsets. */
export function piecesOf(
  bytes: Uint8Array,
  cutAt: readonly number[] | 'each',
): readonly Uint8Array[] {
  const offsets = cutAt === 'each' ? [...bytes.keys()].slice(1) : cutAt;
  const ends = [...offsets.filter((offset) => offset > 0 && offset < bytes.length), bytes.length];
  let start = 0;
  return ends.map((end) => {
    const piece = bytes.subarray(start, end);
    start = end;
    return piece;
  });
}
