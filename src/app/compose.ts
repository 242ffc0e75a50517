/** The composition root: the one place that knows every part. */

import path from 'node:path';
import { z } from 'zod';
import { systemClock } from '../base/clock.ts';
import { randomId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Redactor } from '../base/redaction.ts';
import type { Environment } from '../config/environment.ts';
import { createLive } from '../config/live.ts';
import { type ProfileSource, profileOf } from '../config/profiles.ts';
import { createConversations, createSeenPlaces } from '../conversations/conversations.ts';
import { createCatalog } from '../providers/catalog.ts';
import { createProviderRegistry, type ProviderRegistry } from '../providers/registry.ts';
import { createModelFetch } from '../providers/transport.ts';
import { createRuns, type Runs } from '../runs/runs.ts';
import { createHttpServer, type Readiness, type Server } from '../server/server.ts';
import { createAppendLog } from '../storage/append-log.ts';
import type { Store } from '../storage/store.ts';
import type { Adapter } from '../surface/adapter.ts';
import { createPlatforms, type Platform } from './adapters.ts';
import { type CatalogRefresh, createCatalogRefresh } from './catalog-refresh.ts';
import { createLearnedBook } from './learned.ts';
import { createModels } from './models.ts';
import { loadSettings, proxyOf, type Settings, takeOver } from './settings.ts';
import { createToolBox } from './tools.ts';
import { createWorkspaces, mountsOf } from './workspace.ts';

export interface App {
  readonly runs: Runs;
  readonly server: Server;
  readonly platforms: readonly Platform[];
  readonly adapters: ReadonlyMap<string, Adapter>;
  readonly defaultModel: ProviderRegistry['defaultModel'];
  /** Asks the providers for what they tell of their models, now and then. */
  readonly catalogRefresh: CatalogRefresh;
  /** Closes kept connections and threads. */
  close(): Promise<void>;
}

export interface AppInput {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly folder: string;
  readonly store: Store;
  readonly log: Log;
  readonly redactor: Redactor;
}

export function composeApp(input: AppInput): App {
  const { settings, environment, folder, store, log, redactor } = input;
  const { config } = settings;
  const clock = systemClock;
  const proxy = proxyOf(environment);
  const transport = createModelFetch(proxy ? { proxy } : {});
  const learned = createLearnedBook({ store, log, now: () => clock.now() });
  const catalog = createCatalog(settings.models);
  const registry = createProviderRegistry(
    { fetch: transport.fetch, clock, log, newId: randomId, learned },
    config.models,
    catalog,
  );
  const catalogRefresh = createCatalogRefresh({ registry, catalog, clock, log });
  const models = createModels(
    { registry, catalog, clock, log, random: Math.random },
    config.models,
  );
  const live = createLive(
    {
      log,
      load: () => {
        const next = loadSettings(environment, folder);
        const { settings: taken, needsRestart } = takeOver(settings, next, (name) =>
          registry.resolve(name),
        );
        if (needsRestart) log.warn('config_needs_restart', { section: 'models' });
        return taken;
      },
    },
    settings,
    settings.file,
  );
  const toolBox = createToolBox({
    store,
    clock,
    log,
    environment,
    settings: () => live.current().config.tools,
    media: () => live.current().config.files,
    proxy: proxy?.httpsProxy,
  });
  let summaries: Runs['commands'] = [];
  const platforms = createPlatforms(
    {
      clock,
      log,
      newId: randomId,
      botName: config.name,
      proxy,
      commands: () => summaries,
      archive: createAppendLog({ store, log }, 'page', z.json()),
    },
    config.platforms,
  );
  const adapters = new Map(
    platforms.flatMap(({ name, adapter }) => (adapter ? [[name, adapter] as const] : [])),
  );
  const runs = createRuns(
    {
      store,
      clock,
      log,
      newId: randomId,
      redactor,
      conversations: createConversations({ store, clock, log }),
      seen: createSeenPlaces({ store, clock, log }),
      adapters,
      modelOf: async (name, standIn) => models.modelOf(name, standIn),
      offeredModels: () => models.offered(),
      choosableModel: (given) => models.choosable(given),
      toolsOf: (thread) => toolBox.toolsOf(thread),
      stopJobs: (key) => toolBox.stopJobs(key),
      profileOf: (place) => profileOf(profileSourceOf(live.current(), folder), place),
      governance: () => {
        const { admins, bots, models: rules } = live.current().config;
        return { admins, bots, modelChoice: rules.choice ?? 'everybody' };
      },
      workspaceOf: createWorkspaces(config.workspace.folder, mountsOf(config.workspace.mounts)),
      commands: [],
      botName: config.name,
      settings: {
        runs: config.runs,
        get agent() {
          return live.current().config.agent;
        },
        get limits() {
          return live.current().config.limits;
        },
        get questions() {
          return live.current().config.questions;
        },
        get files() {
          return live.current().config.files;
        },
      },
    },
    { allowedSpaces: () => live.current().config.allow.spaces },
  );
  summaries = runs.commands;
  const server = createHttpServer({
    clock,
    log,
    routes: [...adapters.values()].flatMap(({ routes }) => routes),
    readiness: () => readiness(store, adapters),
  });
  return {
    runs,
    server,
    platforms,
    adapters,
    defaultModel: registry.defaultModel,
    catalogRefresh,
    close: async () => {
      await Promise.all([transport.close(), toolBox.close()]);
    },
  };
}

function profileSourceOf({ config, file }: Settings, folder: string): ProfileSource {
  const {
    instructions,
    followUps,
    reasoning,
    webSearch,
    permissions,
    allow,
    deny,
    channels,
    channelHistory,
    reply,
  } = config;
  return {
    ...(instructions === undefined ? {} : { instructions }),
    ...(followUps === undefined ? {} : { followUps }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(webSearch === undefined ? {} : { webSearch }),
    ...(channelHistory === undefined ? {} : { channelHistory }),
    // Which spaces are served is decided before any list.
    allow: { ...allow, spaces: [] },
    deny,
    permissions,
    reply,
    channels,
    sourceOf: (index) =>
      `channels[${index}], line ${config.lineOf(['channels', index])} of ${path.relative(folder, file)}`,
  };
}

async function readiness(store: Store, adapters: ReadonlyMap<string, Adapter>): Promise<Readiness> {
  const parts: Record<string, string> = {};
  let ready = true;
  try {
    await store.check();
    parts['store'] = 'reachable';
  } catch {
    ready = false;
    parts['store'] = 'not reachable';
  }
  for (const [name, adapter] of adapters) {
    const state = adapter.state();
    parts[name] = state.detail;
    ready &&= state.connected;
  }
  return { ready, parts };
}
