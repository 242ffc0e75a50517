/** The HTTP side of the page: itself, its state, its stream of changes, and what people do. */

import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { z } from 'zod';
import type { HttpRoute } from '../../src/surface/adapter.ts';
import type { CommandSummary } from '../../src/surface/command.ts';
import { parseMarkdown } from '../../src/surface/markdown/parse.ts';
import { thumbs } from '../../src/surface/outbound.ts';
import { isReactionEmoji } from '../../src/surface/reactions.ts';
import { createFileRoute } from './file-route.ts';
import type { RoomFiles } from './files.ts';
import type { Guard, Refusal } from './guard.ts';
import type { PageInbox } from './inbox.ts';
import type { Room, RoomChange, RoomMessage } from './room.ts';

export interface Routes {
  readonly list: readonly HttpRoute[];
  /** Ends the streams of the browsers that look. */
  close(): void;
}

export interface RoutesDeps {
  readonly room: Room;
  readonly files: RoomFiles;
  readonly inbox: PageInbox;
  readonly guard: Guard;
  readonly facts: () => {
    readonly botName: string;
    readonly handle: string;
    readonly commands: readonly CommandSummary[];
  };
}

const publicFolder = path.join(import.meta.dirname, 'public');
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const assets = ['app.js', 'markdown.js', 'view.js', 'style.css', 'icon.svg'];
const mostBodyBytes = 256 * 1024;

const safety = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

const id = z.string().min(1).max(100);
const text = z.string().trim().min(1).max(20_000);
const saidSchema = z.strictObject({ channel: id, thread: id.nullable(), text });
const editSchema = z.strictObject({ id, text });
const removalSchema = z.strictObject({ id });
const pressSchema = z.strictObject({
  messageId: id,
  controlId: z.string().min(1).max(255),
  values: z.array(z.string().max(100)).max(25).default([]),
  text: text.optional(),
});
const reactionSchema = z.strictObject({
  id,
  emoji: z.string().refine(isReactionEmoji),
  on: z.boolean(),
});
const channelSchema = z.strictObject({
  name: z
    .string()
    .trim()
    .regex(/^[a-z0-9][a-z0-9-]{0,39}$/u),
});

export function createRoutes(deps: RoutesDeps): Routes {
  const { room, inbox, guard } = deps;
  const streams = new Set<ServerResponse>();

  const post = <T>(
    where: string,
    schema: z.ZodType<T>,
    act: (input: T) => Promise<unknown>,
  ): HttpRoute => ({
    method: 'POST',
    path: where,
    handle: async (request, response) => {
      const refusal = guard.api(request);
      if (refusal) return refuse(response, refusal);
      const input = schema.safeParse(await readJson(request));
      if (!input.success) return sendJson(response, 400, { problem: z.prettifyError(input.error) });
      try {
        const result = await act(input.data);
        const isFound = result !== undefined && result !== false;
        sendJson(
          response,
          isFound ? 200 : 404,
          isFound ? { ok: true } : { problem: 'It is not there any more.' },
        );
      } catch {
        // The store did not take it: the page keeps the text and says so.
        sendJson(response, 503, { problem: 'It could not be saved. Please try again.' });
      }
    },
  });

  const list: readonly HttpRoute[] = [
    { method: 'GET', path: '/', handle: (request, response) => sendPage(guard, request, response) },
    {
      method: 'GET',
      path: '/assets/*',
      handle: (request, response) => sendAsset(guard, request, response),
    },
    {
      method: 'GET',
      path: '/api/state',
      handle: async (request, response) => {
        const refusal = guard.api(request);
        if (refusal) return refuse(response, refusal);
        sendJson(response, 200, {
          ...deps.facts(),
          channels: room.channels(),
          messages: room.messages().map((message) => drawn(message, deps.files)),
          working: room.working(),
        });
      },
    },
    {
      method: 'GET',
      path: '/api/events',
      handle: async (request, response) => {
        const refusal = guard.api(request);
        if (refusal) return refuse(response, refusal);
        response.writeHead(200, {
          ...safety,
          'content-type': 'text/event-stream',
          'cache-control': 'no-store',
        });
        response.write(': open\n\n');
        const end = room.watch((change) => {
          response.write(`data: ${JSON.stringify(drawnChange(change, deps.files))}\n\n`);
        });
        streams.add(response);
        request.on('close', () => {
          end();
          streams.delete(response);
        });
      },
    },
    post('/api/messages', saidSchema, ({ channel, thread, text: said }) =>
      inbox.say(channel, thread, said),
    ),
    post('/api/edits', editSchema, ({ id: messageId, text: said }) => inbox.edit(messageId, said)),
    post('/api/removals', removalSchema, ({ id: messageId }) => inbox.remove(messageId)),
    post('/api/presses', pressSchema, async (press) => inbox.press({ ...press, text: press.text })),
    post('/api/reactions', reactionSchema, ({ id: messageId, emoji, on }) =>
      inbox.react(messageId, emoji, on),
    ),
    post('/api/channels', channelSchema, ({ name }) => room.addChannel(name)),
    createFileRoute({ ...deps, safety, refuse }),
  ];
  return {
    list,
    close: () => {
      for (const response of streams) response.end();
    },
  };
}

/** A message with its Markdown parsed: the browser builds elements from the tree, never HTML. */
function drawn(message: RoomMessage, files: RoomFiles) {
  return {
    ...message,
    files: message.files.map((file) => ({ ...file, isKept: files.get(file.id) !== undefined })),
    source:
      message.author === 'person'
        ? message.blocks.flatMap((block) => ('text' in block ? [block.text] : [])).join('\n')
        : undefined,
    blocks: message.blocks.map(drawnBlock),
  };
}

function drawnBlock(block: RoomMessage['blocks'][number]) {
  switch (block.kind) {
    case 'markdown':
    case 'notice':
      return { kind: block.kind, tree: parseMarkdown(block.text) };
    case 'feedback':
      return { ...block, thumbs };
    case 'activity':
    case 'buttons':
    case 'choice':
      return block;
  }
}

function drawnChange(change: RoomChange, files: RoomFiles) {
  return change.kind === 'message' ? { ...change, message: drawn(change.message, files) } : change;
}

async function sendPage(
  guard: Guard,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const token = new URL(request.url ?? '/', 'http://localhost').searchParams.get('token');
  const cookie = token === null ? null : guard.cookieFor(token);
  const refusal = guard.page(request);
  if (cookie !== null && refusal?.status !== 403) {
    response.writeHead(303, { ...safety, location: '/', 'set-cookie': cookie });
    response.end();
    return;
  }
  if (refusal) return refuse(response, refusal);
  await sendFile(response, 'index.html');
}

async function sendAsset(
  guard: Guard,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refusal = guard.page(request);
  if (refusal) return refuse(response, refusal);
  const name = new URL(request.url ?? '/', 'http://localhost').pathname.slice('/assets/'.length);
  if (!assets.includes(name)) return refuse(response, { status: 404, told: 'Not found.' });
  await sendFile(response, name);
}

async function sendFile(response: ServerResponse, name: string): Promise<void> {
  const content = await readFile(path.join(publicFolder, name));
  response.writeHead(200, {
    ...safety,
    'content-type': types[path.extname(name)] ?? 'application/octet-stream',
    'cache-control': 'no-cache',
  });
  response.end(content);
}

function refuse(response: ServerResponse, refusal: NonNullable<Refusal>): void {
  response.writeHead(refusal.status, { ...safety, 'content-type': 'text/plain; charset=utf-8' });
  response.end(`${refusal.told}\n`);
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, {
    ...safety,
    'content-type': 'application/json',
    'cache-control': 'no-store',
  });
  response.end(JSON.stringify(value));
}

/** The body as JSON; undefined when it is none or too long. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    const buffer = Buffer.from(z.instanceof(Uint8Array).parse(piece));
    bytes += buffer.length;
    if (bytes > mostBodyBytes) return undefined;
    pieces.push(buffer);
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8'));
  } catch {
    return undefined; // the schema then says what is missing
  }
}
