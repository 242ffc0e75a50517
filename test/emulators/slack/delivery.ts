/**
 * How events reach the app: over one of its sockets, as signed requests, or both. What is not
 * acknowledged in time comes again; interactions come once.
 */

import { createHmac } from 'node:crypto';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Json } from './model.ts';

export interface Delivery {
  readonly kind: 'events_api' | 'interactive' | 'slash_commands';
  readonly way: 'socket' | 'http';
  readonly payload: Json;
  attempts: number;
  isAcknowledged: boolean;
  /** Between the last sending and its acknowledgement. */
  ackMs: number | null;
  isOver: boolean;
}

export interface DeliveryOptions {
  readonly ackTimeoutMs: number;
  /** Waits before the second, third … attempt of an event. */
  readonly retryDelaysMs: readonly number[];
}

export interface DeliveryDesk {
  readonly deliveries: readonly Delivery[];
  send(kind: Delivery['kind'], payload: Json): void;
  /** Sends an event again, as Slack does when it missed the acknowledgement. */
  again(payload: Json, attempt: number): void;
  attach(socket: WebSocket): void;
  sockets(): readonly WebSocket[];
  eventsTo(target: { readonly url: string; readonly signingSecret: string } | null): void;
  /** Whether a socket is used at all; off when the app serves HTTP only. */
  useSockets(on: boolean): void;
  close(): void;
}

const ackSchema = z.object({ envelope_id: z.string() });

export function createDeliveryDesk(options: DeliveryOptions, changed: () => void): DeliveryDesk {
  const deliveries: Delivery[] = [];
  const sockets: WebSocket[] = [];
  const waiting: Delivery[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const acks = new Map<string, () => void>();
  let target: { readonly url: string; readonly signingSecret: string } | null = null;
  let socketsUsed = true;
  let turn = 0;
  let envelopes = 0;

  const later = (ms: number, run: () => void): (() => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, ms);
    timers.add(timer);
    return () => {
      clearTimeout(timer);
      timers.delete(timer);
    };
  };

  const acknowledged = (delivery: Delivery, sentAt: number): void => {
    delivery.isAcknowledged = true;
    delivery.isOver = true;
    delivery.ackMs = Date.now() - sentAt;
    changed();
  };

  const missed = (delivery: Delivery): void => {
    const delay = options.retryDelaysMs[delivery.attempts - 1];
    if (delivery.kind !== 'events_api' || delay === undefined) {
      delivery.isOver = true;
      changed();
      return;
    }
    later(delay, () => attempt(delivery));
  };

  const attempt = (delivery: Delivery): void => {
    if (delivery.way === 'http') {
      void attemptHttp(delivery);
      return;
    }
    const open = sockets.filter((socket) => socket.readyState === socket.OPEN);
    const socket = open[turn % Math.max(1, open.length)];
    turn += 1;
    if (socket === undefined) {
      waiting.push(delivery);
      return;
    }
    envelopes += 1;
    const envelopeId = `env-${envelopes}`;
    const sentAt = Date.now();
    delivery.attempts += 1;
    const cancel = later(options.ackTimeoutMs, () => {
      acks.delete(envelopeId);
      missed(delivery);
    });
    acks.set(envelopeId, () => {
      cancel();
      acknowledged(delivery, sentAt);
    });
    socket.send(
      JSON.stringify({
        envelope_id: envelopeId,
        type: delivery.kind,
        accepts_response_payload: delivery.kind !== 'events_api',
        payload: delivery.payload,
        ...(delivery.attempts > 1
          ? { retry_attempt: delivery.attempts - 1, retry_reason: 'timeout' }
          : {}),
      }),
    );
  };

  const attemptHttp = async (delivery: Delivery): Promise<void> => {
    if (target === null) return;
    const sentAt = Date.now();
    delivery.attempts += 1;
    const { body, type } = httpBodyOf(delivery);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', target.signingSecret)
      .update(`v0:${timestamp}:${body}`)
      .digest('hex');
    try {
      const response = await fetch(target.url, {
        method: 'POST',
        body,
        headers: {
          'Content-Type': type,
          'X-Slack-Request-Timestamp': timestamp,
          'X-Slack-Signature': `v0=${signature}`,
          ...(delivery.attempts > 1
            ? {
                'X-Slack-Retry-Num': String(delivery.attempts - 1),
                'X-Slack-Retry-Reason': 'http_error',
              }
            : {}),
        },
        signal: AbortSignal.timeout(options.ackTimeoutMs),
      });
      await response.arrayBuffer();
      if (response.ok) acknowledged(delivery, sentAt);
      else missed(delivery);
    } catch {
      // No answer in time, or no server: Slack counts both as a failed delivery.
      missed(delivery);
    }
  };

  const begin = (kind: Delivery['kind'], payload: Json, attempts: number): void => {
    const ways: Delivery['way'][] = [
      ...(socketsUsed ? ['socket' as const] : []),
      ...(target === null ? [] : ['http' as const]),
    ];
    for (const way of ways) {
      const delivery: Delivery = {
        ...{ kind, way, payload, attempts },
        isAcknowledged: false,
        ackMs: null,
        isOver: false,
      };
      deliveries.push(delivery);
      attempt(delivery);
    }
    changed();
  };

  return {
    deliveries,
    send: (kind, payload) => begin(kind, payload, 0),
    again: (payload, attemptNumber) => begin('events_api', payload, attemptNumber),
    attach: (socket) => {
      sockets.push(socket);
      socket.on('message', (data: Buffer) => {
        const raw: unknown = JSON.parse(data.toString());
        const { envelope_id: id } = ackSchema.parse(raw);
        acks.get(id)?.();
        acks.delete(id);
      });
      socket.on('close', () => {
        sockets.splice(sockets.indexOf(socket), 1);
        changed();
      });
      for (const delivery of waiting.splice(0)) {
        // What nobody could take came first as a failure: now it is a retry.
        delivery.attempts = Math.max(1, delivery.attempts);
        attempt(delivery);
      }
      changed();
    },
    sockets: () => sockets,
    eventsTo: (given) => {
      target = given;
    },
    useSockets: (on) => {
      socketsUsed = on;
    },
    close: () => {
      for (const timer of timers) clearTimeout(timer);
      for (const socket of sockets) socket.terminate();
    },
  };
}

function httpBodyOf(delivery: Delivery): { readonly body: string; readonly type: string } {
  const form = 'application/x-www-form-urlencoded';
  switch (delivery.kind) {
    case 'events_api':
      return { body: JSON.stringify(delivery.payload), type: 'application/json' };
    case 'interactive':
      return {
        body: new URLSearchParams({ payload: JSON.stringify(delivery.payload) }).toString(),
        type: form,
      };
    case 'slash_commands':
      return {
        body: new URLSearchParams(
          Object.entries(delivery.payload).map(([key, value]): [string, string] => [
            key,
            String(value),
          ]),
        ).toString(),
        type: form,
      };
  }
}
