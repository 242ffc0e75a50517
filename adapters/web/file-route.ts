/**
 * A file of the room, to be saved: never shown in the page's origin, whatever its bytes look like.
 * The type is always that of plain bytes, the browser may not guess another one, and a page made of
 * them could run nothing.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpRoute } from '../../src/surface/adapter.ts';
import type { RoomFiles } from './files.ts';
import type { Guard, Refusal } from './guard.ts';
import type { Room } from './room.ts';

export interface FileRouteDeps {
  readonly room: Room;
  readonly files: RoomFiles;
  readonly guard: Guard;
  readonly safety: Readonly<Record<string, string>>;
  refuse(response: ServerResponse, refusal: NonNullable<Refusal>): void;
}

const prefix = '/files/';

export function createFileRoute(deps: FileRouteDeps): HttpRoute {
  return {
    method: 'GET',
    path: `${prefix}*`,
    handle: async (request, response) => {
      const refusal = deps.guard.api(request);
      if (refusal) return deps.refuse(response, refusal);
      const id = idOf(request);
      const known = deps.room
        .messages()
        .flatMap(({ files }) => files)
        .find((file) => file.id === id);
      const content = deps.files.get(id);
      if (!known || !content) {
        return deps.refuse(response, { status: 404, told: 'This file is not kept any more.' });
      }
      response.writeHead(200, {
        ...deps.safety,
        'content-security-policy': "sandbox; default-src 'none'",
        'content-type': 'application/octet-stream',
        'content-disposition': dispositionOf(known.name),
        'content-length': content.byteLength,
        'cache-control': 'private, no-store',
      });
      response.end(content);
    },
  };
}

/** `/files/<id>/<name>`: the name is for the reader of the address. */
function idOf(request: IncomingMessage): string {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  return pathname.slice(prefix.length).split('/')[0] ?? '';
}

/** RFC 6266, with the name in UTF-8 (RFC 8187) and an ASCII stand-in for old readers. */
function dispositionOf(name: string): string {
  const plain = name.replace(/[^\w. -]/gu, '_');
  const encoded = encodeURIComponent(name).replace(
    /['()*]/gu,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
