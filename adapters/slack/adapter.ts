/** The Slack adapter: connection, translation and surfaces put together. */

import type { Clock } from '../../src/base/clock.ts';
import { BotError } from '../../src/base/errors.ts';
import type { NewId } from '../../src/base/ids.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import type { Adapter, AdapterState, HttpRoute, OnEvent } from '../../src/surface/adapter.ts';
import type { InboundMessage } from '../../src/surface/inbound.ts';
import type { Capabilities, Surface } from '../../src/surface/surface.ts';
import type { Connection } from './connect.ts';
import { createDownload } from './download.ts';
import { drawnLengthOf } from './draw.ts';
import { createReceiveEvent } from './events.ts';
import { createDescribeFiles } from './files.ts';
import { createGroupMembers, type GroupMembers } from './groups.ts';
import { createInbound, type Inbound } from './inbound.ts';
import { createInteractions, type Interactions } from './interactions.ts';
import { createNames } from './names.ts';
import { openTransport } from './open-transport.ts';
import { createPrivateLine } from './private-line.ts';
import type { ProxySettings } from './proxy.ts';
import { createRateLimited, type RateLimited } from './rate-limited.ts';
import { createReadMessages } from './read-back.ts';
import { createResponseBook } from './response-book.ts';
import type { SlackSettings } from './settings.ts';
import { switchedOffCure } from './socket.ts';
import { createStatusSigns } from './status.ts';
import { createRemoveStray } from './stray.ts';
import { createStreaming } from './stream.ts';
import { createSurface, type SurfaceDeps } from './surface.ts';
import type { Transport } from './transport.ts';
import { createUpload } from './upload.ts';
import type { Self, SlackMessage } from './wire.ts';

export interface SlackAdapterDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  readonly proxy?: ProxySettings;
}

export const slackCapabilities: Capabilities = {
  /** Markdown blocks of a message hold 12,000 together; the rest is for notices and buttons. */
  mostMessageLength: 11_000,
  lengthOf: drawnLengthOf,
  /**
   * https://docs.slack.dev/apis/web-api/rate-limits, by method and workspace: chat.update is tier 3
   * (50 a minute), appendStream tier 4 (100), startStream and stopStream tier 2 (20), posts about
   * one a second in a channel and some hundreds a minute in all. Planned so that no minute holds
   * more, wherever it begins: burst and what comes back together stay below.
   */
  budgets: [
    { calls: ['edit'], per: 'space', most: 40, windowMs: 60_000, burst: 10, kept: 2 },
    { calls: ['post'], per: 'channel', most: 55, windowMs: 60_000, burst: 5, kept: 0 },
    { calls: ['post'], per: 'space', most: 240, windowMs: 60_000, burst: 30, kept: 5 },
    { calls: ['stream_append'], per: 'space', most: 80, windowMs: 60_000, burst: 20, kept: 2 },
    // An answer that finds none of these free is posted, and an end is appended: no need to spread.
    {
      ...{ calls: ['stream_start'], per: 'space', most: 18, windowMs: 60_000, inWindows: true },
      ...{ burst: 18, kept: 0 },
    },
    {
      ...{ calls: ['stream_stop'], per: 'space', most: 18, windowMs: 60_000, inWindows: true },
      ...{ burst: 18, kept: 0 },
    },
    { calls: ['remove'], per: 'space', most: 40, windowMs: 60_000, burst: 10, kept: 0 },
    { calls: ['upload'], per: 'space', most: 80, windowMs: 60_000, burst: 20, kept: 0 },
    { calls: ['whisper'], per: 'space', most: 80, windowMs: 60_000, burst: 20, kept: 0 },
  ],
  mostEditAgeMs: Number.MAX_SAFE_INTEGER,
  /** An assistant status vanishes after 2 minutes. */
  statusEveryMs: 90_000,
};

const defaultApiUrl = 'https://slack.com/api/';

interface Running {
  readonly connection: Connection;
  readonly transport: Transport;
  readonly inbound: Inbound;
  readonly interactions: Interactions;
  readonly surfaceDeps: SurfaceDeps;
  readonly rateLimited: RateLimited;
  readonly groupMembers: GroupMembers;
  /** Ends what waits. */
  readonly ending: AbortController;
}

export function createSlackAdapter(deps: SlackAdapterDeps, settings: SlackSettings): Adapter {
  const { clock } = deps;
  const log = deps.log.with({ adapter: 'slack' });
  let running: Running | null = null;
  let isStarting = false;

  const active = (): Running => {
    if (running === null) throw new BotError('surface_unavailable', 'Slack is not connected.');
    return running;
  };

  const start = async (onEvent: OnEvent): Promise<void> => {
    const tokens = checked(settings);
    // The SDK is loaded only when the platform is on.
    const { connectSlack } = await import('./connect.ts');
    const transport = await openTransport(deps.proxy);
    try {
      const connection = await connectSlack({ clock, log, transport }, tokens);
      const assembled = assemble(connection, transport, tokens, onEvent);
      running = assembled;
      await connection.open({
        event: createReceiveEvent({ inbound: assembled.inbound, onEvent, log }),
        interaction: (body) => assembled.interactions.handle(body),
        gap: (since) => reportGap(onEvent, log, since),
        rateLimited: (body) => assembled.rateLimited.received(body),
      });
    } catch (error) {
      running = null;
      await transport.close();
      throw error;
    }
  };

  const assemble = (
    connection: Connection,
    transport: Transport,
    tokens: CheckedSettings,
    onEvent: OnEvent,
  ): Running => {
    const { call, self } = connection;
    const names = createNames({ call, clock, log, self });
    const describeFiles = createDescribeFiles({ call, clock, log });
    const inbound = createInbound({ self, names, describeFiles });
    const ending = new AbortController();
    const { signal } = ending;
    const book = createResponseBook(clock);
    const whisper = createPrivateLine({ call, log, transport, book });
    const { newId } = deps;
    const read = createReadMessages({ call, log });
    const download = createDownload({ call, transport, ...tokens });
    const removeStray = createRemoveStray({ call, clock, log, signal });
    const streaming = createStreaming({ log }, settings.streaming ?? 'auto');
    return {
      connection,
      transport,
      inbound,
      ending,
      rateLimited: createRateLimited({
        clock,
        log,
        onGap: (since) => reportGap(onEvent, log, since),
      }),
      interactions: createInteractions({
        ...{ call, clock, log, newId, names, inbound, book, onEvent, whisper },
      }),
      groupMembers: createGroupMembers({ call, clock, log, self }),
      surfaceDeps: {
        ...{ call, log, inbound, whisper, read, download, removeStray },
        signs: createStatusSigns({ call, log }),
        streaming,
        upload: createUpload({
          ...{ call, transport, clock, log, signal, inbound, read, download, removeStray },
        }),
      },
    };
  };

  const stop = async (): Promise<void> => {
    const stopping = running;
    running = null;
    if (stopping === null) return;
    stopping.rateLimited.close();
    stopping.ending.abort();
    await stopping.connection.close();
    await stopping.transport.close();
  };

  const messagesAfter: Adapter['messagesAfter'] = async (place, afterMessageId, most) => {
    const { surfaceDeps, inbound } = active();
    const found: SlackMessage[] = [];
    for await (const message of surfaceDeps.read(place, { afterTs: afterMessageId })) {
      if (message.ts > afterMessageId) found.push(message);
    }
    found.sort((a, b) => (a.ts < b.ts ? -1 : 1));
    const said: InboundMessage[] = [];
    for (const message of found) {
      if (said.length >= most) break;
      const event = { ...message, type: 'message' as const, channel: place.channel };
      const inboundEvent = await inbound.of(event, null);
      if (inboundEvent?.kind === 'message') said.push(inboundEvent);
    }
    return said;
  };

  const routes: readonly HttpRoute[] =
    settings.signingSecret === undefined
      ? []
      : [
          {
            method: 'POST',
            path: '/slack/events',
            handle: async (request, response) => {
              if (running !== null) await running.connection.request(request, response);
              else response.writeHead(503).end();
            },
          },
        ];

  return {
    name: 'slack',
    capabilities: slackCapabilities,
    routes,
    start: async (onEvent) => {
      if (running !== null || isStarting) throw new BotError('internal', 'Slack is started twice.');
      isStarting = true;
      try {
        await start(onEvent);
      } finally {
        isStarting = false;
      }
    },
    stop,
    state: () => stateOf(running?.connection ?? null, clock.now()),
    spaces: () =>
      running === null
        ? []
        : [{ id: running.connection.self.teamId, name: running.connection.self.teamName }],
    groupMembers: async (group, space) => await active().groupMembers(group, space),
    surfaceOf: (conversation) => {
      const now = (): Surface => createSurface(active().surfaceDeps, conversation);
      return lateSurface(() => running !== null, now);
    },
    messagesAfter,
  };
}

type CheckedSettings = SlackSettings & { readonly botToken: string; readonly apiUrl: string };

function reportGap(onEvent: OnEvent, log: Log, since: number): void {
  log.info('slack_gap');
  onEvent({ kind: 'gap', adapter: 'slack', since }).catch((error: unknown) =>
    log.error('slack_gap_unhandled', errorFacts(error)),
  );
}

/** A surface may be asked for before the connection stands: only its use needs one. */
function lateSurface(isConnected: () => boolean, now: () => Surface): Surface {
  return {
    post: async (message, options) => await now().post(message, options),
    edit: async (messageId, message) => await now().edit(messageId, message),
    remove: async (messageId) => await now().remove(messageId),
    status: async (state) => isConnected() && (await now().status(state)),
    react: async (messageId, sign, on) => isConnected() && (await now().react(messageId, sign, on)),
    history: async (most) => await now().history(most),
    channelHistory: async (most) => await now().channelHistory(most),
    upload: async (file, options) => await now().upload(file, options),
    whisper: async (person, markdown, interactionId) =>
      await now().whisper(person, markdown, interactionId),
    download: async (file, mostBytes) => await now().download(file, mostBytes),
    get stream() {
      return isConnected() ? now().stream : undefined;
    },
  };
}

function checked(settings: SlackSettings): CheckedSettings {
  const { botToken, appToken, signingSecret, apiUrl = defaultApiUrl } = settings;
  if (botToken === undefined) {
    throw new BotError('config_invalid', 'Slack needs a bot token: set SLACK_BOT_TOKEN.');
  }
  if (appToken === undefined && signingSecret === undefined) {
    throw new BotError(
      'config_invalid',
      'Slack needs a way to send events: set SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP).',
    );
  }
  return { ...settings, botToken, apiUrl };
}

function stateOf(connection: Connection | null, now: number): AdapterState {
  if (connection === null) return { connected: false, detail: 'not connected' };
  const { name, teamName }: Self = connection.self;
  if (connection.isSwitchedOff()) {
    return { connected: false, detail: `Socket Mode is switched off: ${switchedOffCure}` };
  }
  const lostSince = connection.lostSince();
  if (lostSince === null) return { connected: true, detail: `connected as ${name} to ${teamName}` };
  const seconds = Math.max(0, Math.round((now - lostSince) / 1000));
  return { connected: false, detail: `reconnecting to ${teamName} since ${seconds} s` };
}
