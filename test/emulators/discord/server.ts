/** The HTTP side: REST v10 with rate limits and faults, file downloads, the upgrade to the gateway. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Faults } from '../faults.ts';
import { Refusal } from './checks.ts';
import type { Fault } from './faults.ts';
import type { Gateway } from './gateway.ts';
import type { Json, Model } from './model.ts';
import { appRoutes } from './routes-app.ts';
import {
  messageRoutes,
  type Route,
  type RouteAnswer,
  type RouteCall,
  type SentFile,
} from './routes-messages.ts';

export interface ApiCall {
  /** `POST /channels/:id/messages`. */
  readonly route: string;
  readonly path: string;
  readonly body: Json;
  readonly at: number;
  /** `ok`, the number of a refusal, or the fault. */
  readonly outcome: string;
}

export interface ServerDeps {
  readonly model: Model;
  readonly faults: Faults<Fault>;
  readonly gateway: Gateway;
  readonly token: string;
  readonly calls: ApiCall[];
  readonly limits: ReadonlyMap<string, { readonly calls: number; readonly windowMs: number }>;
  readonly call: Pick<RouteCall, 'rules' | 'announce' | 'dispatch'>;
  changed(): void;
}

export interface RunningServer {
  readonly port: number;
  close(): Promise<void>;
}

const routes: Readonly<Record<string, Route>> = { ...messageRoutes, ...appRoutes };
/** Calls whose token stands in the address. */
const withoutAuth = /^\/(?:interactions|webhooks)\//u;
const generousLimit = { calls: 1_000, windowMs: 1_000 };

export async function startServer(deps: ServerDeps): Promise<RunningServer> {
  /** Times of the calls of each bucket. */
  const buckets = new Map<string, number[]>();
  const server = createServer((request, response) => {
    answer(deps, buckets, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  server.on('upgrade', (request, socket, head) => deps.gateway.upgrade(request, socket, head));
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

async function answer(
  deps: ServerDeps,
  buckets: Map<string, number[]>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', `http://${request.headers.host ?? 'localhost'}`);
  if (url.pathname.startsWith('/attachments/')) {
    sendFile(deps.model, url, response);
    return;
  }
  const path = url.pathname.replace(/^\/api(?:\/v10)?/u, '');
  const route = `${request.method ?? 'GET'} ${routeOf(path)}`;
  const { body, files } = await bodyOf(request);
  const note = (outcome: string): void => {
    deps.calls.push({ route, path, body: jsonOf(body), at: Date.now(), outcome });
    deps.changed();
  };
  if (!withoutAuth.test(path) && request.headers.authorization !== `Bot ${deps.token}`) {
    note('401');
    send(response, { status: 401, body: { message: '401: Unauthorized', code: 0 } });
    return;
  }
  const headers = countedHeaders(deps, buckets, route, path);
  const fault = deps.faults.take(route) ?? headers.fault;
  if (fault !== null && (await isBroken(fault, request, response, note))) return;
  const result = run(deps, route, path, url, { body, files });
  note(result.outcome);
  if (fault?.kind === 'answer_lost') request.socket.destroy();
  else send(response, result.answer, headers.headers);
}

/** Breaks the call as the fault says; true when nothing more is to be done. */
async function isBroken(
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
  note: (outcome: string) => void,
): Promise<boolean> {
  switch (fault.kind) {
    case 'answer_lost':
      return false;
    case 'slow':
      await wait(fault.ms);
      return false;
    case 'cut':
      note('cut');
      request.socket.destroy();
      return true;
    case 'status':
      note(String(fault.status));
      response.writeHead(fault.status, { 'Content-Type': 'text/html' }).end('<html></html>');
      return true;
    case 'refused':
      note(String(fault.code));
      send(response, {
        status: fault.status ?? 400,
        body: { message: `Refused: ${fault.code}`, code: fault.code },
      });
      return true;
    case 'rate_limited': {
      note('429');
      const isGlobal = fault.global === true;
      send(
        response,
        {
          status: 429,
          body: {
            message: 'You are being rate limited.',
            retry_after: fault.retryAfterSeconds,
            global: isGlobal,
          },
        },
        {
          'Retry-After': String(fault.retryAfterSeconds),
          'X-RateLimit-Scope': isGlobal ? 'global' : 'user',
          ...(isGlobal ? { 'X-RateLimit-Global': 'true' } : {}),
        },
      );
      return true;
    }
  }
}

function countedHeaders(
  deps: ServerDeps,
  buckets: Map<string, number[]>,
  route: string,
  path: string,
): { readonly headers: Readonly<Record<string, string>>; readonly fault: Fault | null } {
  const limit = deps.limits.get(route) ?? generousLimit;
  const major = path.split('/').slice(1, 3).join('/');
  const bucket = `${route} ${major}`;
  const now = Date.now();
  const times = (buckets.get(bucket) ?? []).filter((at) => at > now - limit.windowMs);
  const resetMs = Math.max(1, (times[0] ?? now) + limit.windowMs - now);
  const isOver = times.length >= limit.calls;
  if (!isOver) times.push(now);
  buckets.set(bucket, times);
  return {
    headers: {
      'X-RateLimit-Limit': String(limit.calls),
      'X-RateLimit-Remaining': String(limit.calls - times.length),
      'X-RateLimit-Reset-After': (resetMs / 1000).toFixed(3),
      'X-RateLimit-Bucket': Buffer.from(route).toString('hex').slice(0, 32),
    },
    fault: isOver ? { kind: 'rate_limited', retryAfterSeconds: resetMs / 1000 } : null,
  };
}

function run(
  deps: ServerDeps,
  route: string,
  path: string,
  url: URL,
  sent: Sent,
): { readonly answer: RouteAnswer; readonly outcome: string } {
  if (route === 'GET /gateway/bot') {
    return { outcome: 'ok', answer: { status: 200, body: gatewayInformation(url) } };
  }
  const handler = routes[route];
  if (handler === undefined) {
    return {
      outcome: '404',
      answer: { status: 404, body: { message: '404: Not Found', code: 0 } },
    };
  }
  try {
    const call: RouteCall = {
      ...deps.call,
      model: deps.model,
      baseUrl: url.origin,
      ids: idsOf(path),
      query: url.searchParams,
      ...sent,
    };
    return { outcome: 'ok', answer: handler(call) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return {
      outcome: String(error.code),
      answer: {
        status: error.status,
        body: {
          message: error.message,
          code: error.code,
          ...(error.errors === undefined ? {} : { errors: error.errors }),
        },
      },
    };
  }
}

function gatewayInformation(url: URL): Json {
  return {
    url: `ws://${url.host}/gateway`,
    shards: 1,
    session_start_limit: {
      total: 1000,
      remaining: 999,
      reset_after: 3_600_000,
      max_concurrency: 1,
    },
  };
}

function sendFile(model: Model, url: URL, response: ServerResponse): void {
  const [, , , fileId = ''] = url.pathname.split('/');
  const file = model.files.get(fileId);
  if (file === undefined || url.searchParams.get('hm') !== file.signature) {
    response.writeHead(404).end('This content is no longer available.');
    return;
  }
  response.writeHead(200, { 'Content-Type': file.mediaType ?? 'application/octet-stream' });
  response.end(file.content);
}

function send(
  response: ServerResponse,
  { status, body }: RouteAnswer,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (body === undefined) {
    response.writeHead(status, headers).end();
    return;
  }
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** `/channels/1/messages/2` → `/channels/:id/messages/:id`. */
function routeOf(path: string): string {
  return path
    .split('/')
    .map((piece, index, pieces) => {
      if (/^\d+$/u.test(piece)) return ':id';
      const before = pieces[index - 1] ?? '';
      if (before === 'reactions') return ':emoji';
      const isToken = index === 3 && /^(?:interactions|webhooks)$/u.test(pieces[1] ?? '');
      return isToken ? ':token' : piece;
    })
    .join('/');
}

function idsOf(path: string): string[] {
  const pieces = path.split('/');
  const named = routeOf(path).split('/');
  return pieces.filter((_piece, index) => named[index]?.startsWith(':') === true);
}

type Sent = Pick<RouteCall, 'body' | 'files'>;

/** JSON, or a form whose `payload_json` is the JSON beside the files. */
async function bodyOf(request: IncomingMessage): Promise<Sent> {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  await once(request, 'end');
  const bytes = new Uint8Array(Buffer.concat(parts));
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('multipart/form-data')) return await formOf(bytes, type);
  const text = Buffer.from(bytes).toString('utf8');
  return { body: text === '' ? undefined : JSON.parse(text), files: [] };
}

async function formOf(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<Sent> {
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData();
  const files: SentFile[] = [];
  let body: unknown;
  for (const [name, value] of form) {
    const number = /^files\[(\d+)\]$/u.exec(name)?.[1];
    if (typeof value !== 'string' && number !== undefined) {
      const content = new Uint8Array(await value.arrayBuffer());
      files.push({ number: Number(number), name: value.name, content });
    } else if (name === 'payload_json' && typeof value === 'string') {
      body = JSON.parse(value);
    } else {
      throw new Error(`Discord knows no field ${name}.`);
    }
  }
  return { body, files };
}

function jsonOf(body: unknown): Json {
  return typeof body === 'object' && body !== null ? { ...body } : {};
}
