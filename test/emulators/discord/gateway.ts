/**
 * The gateway: sessions with their events, so that a resumed connection gets what it missed
 * (events/gateway, topics/opcodes-and-status-codes).
 */

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import type { Json } from './model.ts';

const ops = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  reconnect: 7,
  invalidSession: 9,
  hello: 10,
  heartbeatAck: 11,
} as const;
const messageContentIntent = 1 << 15;
/** GUILD_MESSAGE_REACTIONS, DIRECT_MESSAGE_REACTIONS. */
const reactionIntents = { guild: 1 << 10, direct: 1 << 13 };

const sentSchema = z.discriminatedUnion('op', [
  z.object({ op: z.literal(ops.heartbeat), d: z.number().nullable() }),
  z.object({
    op: z.literal(ops.identify),
    d: z.object({ token: z.string(), intents: z.number() }),
  }),
  z.object({
    op: z.literal(ops.resume),
    d: z.object({ token: z.string(), session_id: z.string(), seq: z.number() }),
  }),
]);

interface Session {
  readonly id: string;
  readonly intents: number;
  readonly events: { readonly t: string; readonly d: Json; readonly s: number }[];
  socket: WebSocket | null;
}

export interface GatewayOptions {
  readonly heartbeatIntervalMs: number;
  /** The portal's switch "Message Content Intent". */
  readonly hasMessageContent: boolean;
}

export interface Gateway {
  /** Sends to every session; who lacks the intent gets the version without content. */
  dispatch(type: string, event: Json, withoutContent?: Json): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  readonly open: number;
  /** How sessions began: `identify` and `resume`, in order. */
  readonly starts: readonly ('identify' | 'resume')[];
  drop(): void;
  close(code: number): void;
  freeze(): void;
  askToReconnect(): void;
  invalidate(resumable: boolean): void;
  forgetSessions(): void;
  /** True: new connections are reset. `busy`: they are answered with HTTP 503. */
  refuse(how: boolean | 'busy'): void;
  end(): void;
}

export function createGateway(deps: {
  readonly token: string;
  readonly options: GatewayOptions;
  readonly nextId: () => string;
  readyOf(sessionId: string): Json;
  /** What follows READY. */
  guilds(): readonly Json[];
  changed(): void;
}): Gateway {
  const server = new WebSocketServer({ noServer: true });
  const sockets = new Set<WebSocket>();
  const sessions = new Map<string, Session>();
  const starts: ('identify' | 'resume')[] = [];
  let refuses: boolean | 'busy' = false;

  const send = (socket: WebSocket, packet: Json): void => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(packet));
  };
  const sendEvent = (session: Session, event: Session['events'][number]): void => {
    if (session.socket !== null) send(session.socket, { op: ops.dispatch, ...event });
  };
  const record = (session: Session, t: string, d: Json): void => {
    const event = { t, d, s: session.events.length + 1 };
    session.events.push(event);
    sendEvent(session, event);
  };

  const identify = (socket: WebSocket, token: string, intents: number): void => {
    if (token !== deps.token) {
      socket.close(4004, 'Authentication failed.');
      return;
    }
    if ((intents & messageContentIntent) !== 0 && !deps.options.hasMessageContent) {
      socket.close(4014, 'Disallowed intent(s).');
      return;
    }
    starts.push('identify');
    const session: Session = { id: deps.nextId(), intents, events: [], socket };
    sessions.set(session.id, session);
    record(session, 'READY', deps.readyOf(session.id));
    for (const guild of deps.guilds()) record(session, 'GUILD_CREATE', guild);
  };

  const resume = (socket: WebSocket, token: string, sessionId: string, seq: number): void => {
    const session = sessions.get(sessionId);
    if (token !== deps.token) socket.close(4004, 'Authentication failed.');
    else if (session === undefined) send(socket, { op: ops.invalidSession, d: false });
    else {
      starts.push('resume');
      session.socket = socket;
      for (const event of session.events) if (event.s > seq) sendEvent(session, event);
      record(session, 'RESUMED', {});
    }
  };

  const take = (socket: WebSocket, text: string): void => {
    const parsed = sentSchema.safeParse(JSON.parse(text));
    if (!parsed.success) {
      socket.close(4002, 'Decode error.');
      return;
    }
    const { data } = parsed;
    if (data.op === ops.heartbeat) send(socket, { op: ops.heartbeatAck });
    else if (data.op === ops.identify) identify(socket, data.d.token, data.d.intents);
    else resume(socket, data.d.token, data.d.session_id, data.d.seq);
    deps.changed();
  };

  const attach = (socket: WebSocket): void => {
    sockets.add(socket);
    socket.on('message', (bytes: Buffer) => take(socket, bytes.toString('utf8')));
    socket.on('close', () => {
      sockets.delete(socket);
      for (const session of sessions.values()) {
        if (session.socket === socket) session.socket = null;
      }
      deps.changed();
    });
    send(socket, {
      op: ops.hello,
      d: { heartbeat_interval: deps.options.heartbeatIntervalMs },
    });
  };

  return {
    dispatch: (type, event, withoutContent) => {
      for (const session of sessions.values()) {
        const intent = 'guild_id' in event ? reactionIntents.guild : reactionIntents.direct;
        if (type.startsWith('MESSAGE_REACTION') && (session.intents & intent) === 0) continue;
        const isBlind = (session.intents & messageContentIntent) === 0;
        record(session, type, isBlind ? (withoutContent ?? event) : event);
      }
      deps.changed();
    },
    upgrade: (request, socket, head) => {
      if (refuses === 'busy') socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n');
      // A broken connection: the client sees ECONNRESET.
      else if (refuses) socket.destroy();
      else server.handleUpgrade(request, socket, head, attach);
    },
    get open() {
      return sockets.size;
    },
    starts,
    drop: () => {
      for (const socket of [...sockets]) socket.terminate();
    },
    close: (code) => {
      for (const socket of [...sockets]) socket.close(code);
    },
    freeze: () => {
      for (const socket of sockets) socket.pause();
    },
    askToReconnect: () => {
      for (const socket of sockets) send(socket, { op: ops.reconnect, d: null });
    },
    invalidate: (resumable) => {
      if (!resumable) sessions.clear();
      for (const socket of sockets) send(socket, { op: ops.invalidSession, d: resumable });
    },
    forgetSessions: () => sessions.clear(),
    refuse: (how) => {
      refuses = how;
    },
    end: () => {
      for (const socket of [...sockets]) socket.terminate();
      server.close();
    },
  };
}
