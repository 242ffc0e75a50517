/**
 * One connection to Slack by bolt: Socket Mode, signed HTTP events, or both. Loaded only when the
 * platform is on (bolt takes 0.3 s and 36 MB).
 *
 * bolt acknowledges an event before its listeners run. Here each event is stored inside
 * `processEvent`, before bolt's own: a failure leaves the event unacknowledged (HTTP: 500), and
 * Slack sends it again. Interactions are acknowledged first.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { App, HTTPReceiver, LogLevel, type ReceiverEvent, SocketModeReceiver } from '@slack/bolt';
import { WebClient, type WebClientOptions } from '@slack/web-api';
import { z } from 'zod';
import type { Clock } from '../../src/base/clock.ts';
import { BotError, isBotError } from '../../src/base/errors.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import { slackWordOf } from './errors.ts';
import { reportMissingUsersRead } from './names.ts';
import { sdkLogger } from './sdk-log.ts';
import type { SlackSettings } from './settings.ts';
import { createSocket, type Socket } from './socket.ts';
import type { Transport } from './transport.ts';
import { type CallSlack, clientOptionsOf, createCallSlack } from './web-api.ts';
import type { Self } from './wire.ts';

interface Handlers {
  /** Resolves once the event is stored or needs no storing; rejects when it must come again. */
  event(body: unknown): Promise<void>;
  /** After the acknowledgement; never rejects. */
  interaction(body: unknown): Promise<void>;
  /** Messages may have been swallowed since then (ms since the epoch). */
  gap(since: number): void;
  /** Slack keeps events of this app back, with the body of its word for it. */
  rateLimited(body: unknown): void;
}

export interface Connection {
  readonly self: Self;
  readonly call: CallSlack;
  /** Starts to receive. */
  open(handlers: Handlers): Promise<void>;
  /** Stops receiving; events that are being stored may end first. */
  close(): Promise<void>;
  /** Since when the socket is lost; null while it stands or where there is none. */
  lostSince(): number | null;
  /** Slack has said that Socket Mode is off for the app. */
  isSwitchedOff(): boolean;
  request(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** Events that are being stored may take this long after `close`. */
const mostDrainMs = 1_500;

const authSchema = z.object({
  user_id: z.string(),
  user: z.string().optional(),
  bot_id: z.string().optional(),
  team_id: z.string(),
  team: z.string().optional(),
  /** From the header x-oauth-scopes. */
  response_metadata: z.object({ scopes: z.array(z.string()).optional() }).optional(),
});

export async function connectSlack(
  deps: { readonly clock: Clock; readonly log: Log; readonly transport: Transport },
  settings: SlackSettings & { readonly botToken: string; readonly apiUrl: string },
): Promise<Connection> {
  const { clock, log, transport } = deps;
  const logger = sdkLogger(log, LogLevel.INFO);
  const options = (): WebClientOptions => clientOptionsOf(settings.apiUrl, transport, logger);
  const call = createCallSlack(new WebClient(settings.botToken, options()));
  const self = await whoAmI(call, log, settings.apiUrl);

  let handlers: Handlers | null = null;
  const inFlight = new Set<Promise<void>>();

  const socketReceiver =
    settings.appToken === undefined ? null : makeSocketReceiver(settings.appToken);
  const httpReceiver =
    settings.signingSecret === undefined ? null : makeHttpReceiver(settings.signingSecret);

  function makeSocketReceiver(appToken: string): SocketModeReceiver {
    return new SocketModeReceiver({
      appToken,
      logger,
      autoReconnectEnabled: false,
      ...(transport.dispatcher === null ? {} : { dispatcher: transport.dispatcher }),
      installerOptions: { clientOptions: options() },
      processEventErrorHandler: ({ error }) => {
        log.warn('slack_event_unacknowledged', errorFacts(error));
        return Promise.resolve(false);
      },
    });
  }

  function makeHttpReceiver(signingSecret: string): HTTPReceiver {
    return new HTTPReceiver({
      signingSecret,
      logger,
      processEventErrorHandler: ({ error, response }) => {
        log.warn('slack_event_unacknowledged', errorFacts(error));
        if (!response.headersSent) response.writeHead(500).end();
        return Promise.resolve(true);
      },
    });
  }

  const app = new App({
    token: settings.botToken,
    receiver: {
      init: (made) => {
        socketReceiver?.init(made);
        httpReceiver?.init(made);
      },
      start: () => Promise.resolve(),
      stop: () => Promise.resolve(),
    },
    clientOptions: options(),
    botUserId: self.userId,
    ...(self.botId === null ? {} : { botId: self.botId }),
    deferInitialization: true,
    tokenVerificationEnabled: false,
    convoStore: false,
    ignoreSelf: false,
    logger,
  });
  await app.init();

  const acknowledge = app.processEvent.bind(app);
  app.processEvent = async (event) => {
    const open = handlers;
    if (open === null) {
      throw new BotError('surface_unavailable', 'The bot is starting or stopping.');
    }
    const work = workOf(open, event);
    inFlight.add(work);
    try {
      await work;
    } finally {
      inFlight.delete(work);
    }
  };

  const workOf = async (open: Handlers, event: ReceiverEvent): Promise<void> => {
    if (event.body['type'] === 'app_rate_limited') {
      await answerFirst(event);
      open.rateLimited(event.body);
    } else if (isEvent(event.body)) {
      await open.event(event.body);
      await acknowledge(event);
    } else {
      await answerFirst(event);
      await open.interaction(event.body);
    }
  };

  const answerFirst = async (event: { ack(): Promise<void> }): Promise<void> => {
    try {
      await event.ack();
    } catch (error) {
      // The person sees Slack's warning, but the click still counts; a second delivery is the same.
      log.warn('slack_ack_failed', errorFacts(error));
    }
  };

  const socket: Socket | null =
    socketReceiver &&
    createSocket({
      client: socketReceiver.client,
      clock,
      log,
      onGap: (since) => handlers?.gap(since),
    });

  return {
    self,
    call,
    open: async (given) => {
      handlers = given;
      try {
        await socket?.open();
      } catch (error) {
        handlers = null;
        await socket?.close();
        throw socketProblem(error);
      }
    },
    close: async () => {
      handlers = null;
      await drained(clock, inFlight);
      await socket?.close();
    },
    lostSince: () => socket?.lostSince() ?? null,
    isSwitchedOff: () => socket?.isSwitchedOff() ?? false,
    request: async (request, response) => {
      if (httpReceiver === null || handlers === null) {
        response.writeHead(503).end();
        return;
      }
      const { requestListener } = httpReceiver;
      await new Promise<void>((resolve) => {
        response.once('close', resolve);
        requestListener(request, response);
      });
    },
  };
}

function isEvent(body: Readonly<Record<string, unknown>>): boolean {
  return body['event'] !== undefined;
}

async function drained(clock: Clock, inFlight: ReadonlySet<Promise<void>>): Promise<void> {
  if (inFlight.size === 0) return;
  await new Promise<void>((resolve) => {
    const cancel = clock.setTimer(mostDrainMs, resolve);
    void Promise.allSettled(inFlight).then(() => {
      cancel();
      resolve();
    });
  });
}

async function whoAmI(call: CallSlack, log: Log, apiUrl: string): Promise<Self> {
  try {
    const auth = await call('auth.test', {}, authSchema);
    const scopes = auth.response_metadata?.scopes;
    if (scopes && !scopes.includes('users:read')) reportMissingUsersRead(log);
    return {
      userId: auth.user_id,
      botId: auth.bot_id ?? null,
      name: auth.user ?? 'deckhand',
      teamId: auth.team_id,
      teamName: auth.team ?? auth.team_id,
    };
  } catch (error) {
    const word = slackWordOf(error);
    if (word !== null) {
      throw new BotError(
        'config_invalid',
        `Slack refused the bot token (${word}): look at SLACK_BOT_TOKEN; it begins with xoxb- and is shown under "OAuth & Permissions" of the app.`,
        { facts: { word }, cause: error },
      );
    }
    if (isBotError(error, 'rate_limited')) throw error;
    throw new BotError(
      'surface_unavailable',
      `Slack could not be reached at ${apiUrl}: look at the network, HTTPS_PROXY and SLACK_API_URL.`,
      { cause: error },
    );
  }
}

function socketProblem(error: unknown): unknown {
  const word = slackWordOf(error);
  if (word === null) return error;
  return new BotError(
    'config_invalid',
    `Slack refused the app token (${word}): look at SLACK_APP_TOKEN; it begins with xapp-, has the scope connections:write, and Socket Mode is on for the app.`,
    { facts: { word }, cause: error },
  );
}
