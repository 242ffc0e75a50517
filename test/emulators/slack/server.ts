/** The HTTP side: Web API, private answers, file downloads, and the upgrade to Socket Mode. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { WebSocketServer } from 'ws';
import { z } from 'zod';
import type { Faults } from '../faults.ts';
import { checkedBlocks, Refusal } from './blocks.ts';
import type { DeliveryDesk } from './delivery.ts';
import type { Fault } from './faults.ts';
import type { Json, Model } from './model.ts';
import type { Methods } from './web-methods.ts';

export interface ApiCall {
  readonly method: string;
  readonly args: Json;
  readonly at: number;
  /** `ok`, the refusal's word, or the fault. */
  readonly outcome: string;
}

export interface ResponseAddress {
  readonly user: string;
  readonly channel: string;
  readonly until: number;
  uses: number;
}

export interface ServerDeps {
  readonly model: Model;
  readonly methods: Methods;
  readonly faults: Faults<Fault>;
  readonly desk: DeliveryDesk;
  readonly calls: ApiCall[];
  readonly limits: ReadonlyMap<string, { readonly calls: number; readonly windowMs: number }>;
  readonly tokens: { readonly bot: string; readonly app: string };
  readonly responses: ReadonlyMap<string, ResponseAddress>;
  readonly tickets: Set<string>;
  refusesSockets(): boolean;
  /** Why a socket is turned away right after the greeting; null where it is not. */
  turnsAway(): string | null;
  /** What the bot token may do, as the header of every answer says; null: no header. */
  readonly scopes: readonly string[] | null;
  changed(): void;
}

export interface RunningServer {
  readonly port: number;
  close(): Promise<void>;
}

const mostResponses = 5;
const responseSchema = z.object({
  text: z.string().optional(),
  blocks: z.array(z.unknown()).optional(),
  thread_ts: z.string().optional(),
  response_type: z.string().optional(),
});

export async function startServer(deps: ServerDeps): Promise<RunningServer> {
  const server = createServer((request, response) => {
    route(deps, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  listenForSockets(deps, server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port was given.');
  return {
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listenForSockets(deps: ServerDeps, server: Server): void {
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    const ticket = new URL(request.url ?? '/', 'http://localhost').searchParams.get('ticket') ?? '';
    if (deps.refusesSockets() || !deps.tickets.delete(ticket)) {
      socket.destroy();
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => {
      opened.send(
        JSON.stringify({
          type: 'hello',
          num_connections: deps.desk.sockets().length + 1,
          connection_info: { app_id: deps.model.bot.appId },
        }),
      );
      deps.desk.attach(opened);
      const reason = deps.turnsAway();
      if (reason !== null) opened.send(JSON.stringify({ type: 'disconnect', reason }));
    });
  });
}

async function route(
  deps: ServerDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const [, first = '', second = ''] = url.pathname.split('/');
  if (first === 'api') await callMethod(deps, second, request, response);
  else if (first === 'response') await takeResponse(deps, second, request, response);
  else if (first === 'upload') await takeBytes(deps, second, request, response);
  else if (first === 'files-pri') sendFile(deps, second, request, response);
  else {
    // What an unknown visitor gets, whatever the address.
    const type = url.searchParams.get('as') ?? 'text/html; charset=utf-8';
    response.writeHead(200, { 'Content-Type': type });
    response.end('<!DOCTYPE html><html><title>Sign in | Slack</title></html>');
  }
}

async function callMethod(
  deps: ServerDeps,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const args = argsOf(request, await bodyOf(request));
  const fault = deps.faults.take(name) ?? overLimit(deps, name);
  const note = (outcome: string): void => {
    deps.calls.push({ method: name, args, at: Date.now(), outcome });
    deps.changed();
  };
  if (fault !== null && fault.kind !== 'slow' && fault.kind !== 'answer_lost') {
    note(fault.kind === 'refused' ? fault.word : fault.kind);
    answerFault(fault, response);
    return;
  }
  const { answer, outcome } = run(deps, name, args, request);
  note(outcome);
  if (fault?.kind === 'answer_lost') {
    response.socket?.destroy();
    return;
  }
  if (fault?.kind === 'slow') {
    await new Promise((resolve) => setTimeout(resolve, fault.ms));
  }
  if (deps.scopes !== null) response.setHeader('X-OAuth-Scopes', deps.scopes.join(','));
  sendJson(response, answer);
}

function run(
  deps: ServerDeps,
  name: string,
  args: Json,
  request: IncomingMessage,
): { readonly answer: Json; readonly outcome: string } {
  try {
    checkToken(deps, name, request, args);
    const method = deps.methods[name];
    if (method === undefined) throw new Refusal('unknown_method');
    return { answer: { ok: true, ...method(args) }, outcome: 'ok' };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { answer: { ok: false, error: error.word }, outcome: error.word };
  }
}

function checkToken(deps: ServerDeps, name: string, request: IncomingMessage, args: Json): void {
  const header = request.headers.authorization?.replace(/^Bearer /u, '');
  const token = typeof args['token'] === 'string' ? args['token'] : header;
  if (token === undefined) throw new Refusal('not_authed');
  const wanted = name === 'apps.connections.open' ? deps.tokens.app : deps.tokens.bot;
  if (token === wanted) return;
  const isKnown = token === deps.tokens.app || token === deps.tokens.bot;
  throw new Refusal(isKnown ? 'not_allowed_token_type' : 'invalid_auth');
}

function overLimit(deps: ServerDeps, name: string): Fault | null {
  const limit = deps.limits.get(name);
  if (limit === undefined) return null;
  const from = Date.now() - limit.windowMs;
  const recent = deps.calls.filter(
    (call) => call.method === name && call.at > from && call.outcome === 'ok',
  );
  const oldest = recent.at(-limit.calls);
  if (oldest === undefined) return null;
  const waitMs = oldest.at + limit.windowMs - Date.now();
  return { kind: 'rate_limited', retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
}

function answerFault(
  fault: Exclude<Fault, { readonly kind: 'slow' | 'answer_lost' }>,
  response: ServerResponse,
): void {
  switch (fault.kind) {
    case 'rate_limited':
      response.writeHead(429, { 'Retry-After': String(fault.retryAfterSeconds) });
      response.end(JSON.stringify({ ok: false, error: 'ratelimited' }));
      return;
    case 'status':
      response.writeHead(fault.status).end('upstream error');
      return;
    case 'refused':
      sendJson(response, { ok: false, error: fault.word });
      return;
    case 'cut':
      response.socket?.destroy();
  }
}

async function takeResponse(
  deps: ServerDeps,
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const address = deps.responses.get(id);
  const raw: unknown = JSON.parse(await bodyOf(request));
  if (address === undefined || address.until < Date.now()) {
    response.writeHead(404).end(JSON.stringify({ ok: false, error: 'expired_url' }));
    return;
  }
  if (address.uses >= mostResponses) {
    response.writeHead(404).end(JSON.stringify({ ok: false, error: 'used_url' }));
    return;
  }
  address.uses += 1;
  const said = responseSchema.parse(raw);
  deps.model.privateMessages.push({
    channel: address.channel,
    user: address.user,
    thread: said.thread_ts ?? null,
    text: said.text ?? '',
    blocks: said.blocks === undefined ? [] : checkedBlocks(said.blocks),
  });
  deps.calls.push({ method: 'response_url', args: said, at: Date.now(), outcome: 'ok' });
  deps.changed();
  response.writeHead(200).end('ok');
}

/** The bytes of a file, at the one-time address that was given out for them. */
async function takeBytes(
  deps: ServerDeps,
  ticket: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const content = await bytesOf(request);
  const fault = deps.faults.take('file_upload');
  const upload = deps.model.uploads.get(ticket);
  const note = (outcome: string): void => {
    const { authorization } = request.headers;
    const args = { bytes: content.byteLength, ...(authorization ? { authorization } : {}) };
    deps.calls.push({ method: 'file_upload', args, at: Date.now(), outcome });
    deps.changed();
  };
  if (fault !== null && fault.kind !== 'slow' && fault.kind !== 'answer_lost') {
    note(fault.kind);
    answerFault(fault, response);
    return;
  }
  if (upload === undefined || upload.content !== null || upload.until < Date.now()) {
    note('404');
    response.writeHead(404).end('not found');
    return;
  }
  if (content.byteLength !== upload.bytes) {
    note('400');
    response.writeHead(400).end('wrong length');
    return;
  }
  upload.content = content;
  note('ok');
  if (fault?.kind === 'answer_lost') response.socket?.destroy();
  else response.writeHead(200).end(`OK - ${content.byteLength}`);
}

function sendFile(
  deps: ServerDeps,
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const authorization = request.headers.authorization ?? '';
  deps.calls.push({
    method: 'file_download',
    args: { id, authorization },
    at: Date.now(),
    outcome: 'ok',
  });
  const file = deps.model.files.get(id);
  if (authorization !== `Bearer ${deps.tokens.bot}`) {
    response.writeHead(302, { Location: '/sign-in' }).end();
    return;
  }
  if (file === undefined) {
    response.writeHead(404).end();
    return;
  }
  if (file.redirectTo !== null) {
    response.writeHead(302, { Location: file.redirectTo }).end();
    return;
  }
  response.writeHead(200, { 'Content-Type': file.mimetype });
  response.end(file.content);
}

function argsOf(request: IncomingMessage, body: string): Json {
  if ((request.headers['content-type'] ?? '').startsWith('application/json')) {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(body));
  }
  return Object.fromEntries(new URLSearchParams(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  return (await bytesOf(request)).toString();
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => resolve(Buffer.concat(pieces)));
    request.on('error', reject);
  });
}

function sendJson(response: ServerResponse, answer: Json): void {
  response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(answer));
}
