/**
 * The process: starts everything in order, says what is on and why, and on SIGTERM or SIGINT ends
 * it so that nothing is lost. No single failure in the background ends it.
 */

import { type Clock, sleep, systemClock } from '../base/clock.ts';
import { type BotError, botErrorOf, isBotError } from '../base/errors.ts';
import { randomId } from '../base/ids.ts';
import { errorFacts, type Log } from '../base/log.ts';
import { createRedactor, type Redactor } from '../base/redaction.ts';
import { readEnvironment } from '../config/environment.ts';
import { createLock, type HeldLock } from '../storage/lock.ts';
import { openStore } from '../storage/open.ts';
import { createProcesses } from '../storage/process-identity.ts';
import type { Store } from '../storage/store.ts';
import type { Adapter, OnEvent } from '../surface/adapter.ts';
import { type App, type AppInput, composeApp } from './compose.ts';
import { createLog } from './log.ts';
import { environmentSecrets, loadSettings, type Settings, secretsOf } from './settings.ts';

/** What the process needs of the one it runs in. */
export interface Host {
  readonly folder: string;
  readonly isTerminal: boolean;
  readonly pid: number;
  write(text: string): void;
  onSignal(name: 'SIGTERM' | 'SIGINT', run: () => void): void;
  onStrayFailure(run: (reason: unknown) => void): void;
  exit(code: number): never;
}

const lockTtlMs = 10_000;
const mostStopMs = 10_000;
const connectLadderMs = [2000, 5000, 15_000, 30_000, 60_000];

/** Starts the bot; resolves when it is up. Throws a BotError that says what to do. */
export async function startProcess(host: Host): Promise<void> {
  const environment = readEnvironment(host.folder);
  const settings = loadSettings(environment, host.folder);
  const redactor = createRedactor([...secretsOf(settings), ...environmentSecrets(environment)]);
  const log = await createLog({
    level: settings.config.log.level,
    isTerminal: host.isTerminal,
    redactor,
    write: (line) => host.write(line),
  });
  host.onStrayFailure((reason) => log.error('stray_failure', errorFacts(reason)));

  const store = await openStore(settings.config.store.url, { clock: systemClock, log });
  const lock = await lockStore(settings, store, log, host.pid);
  try {
    await runApp({ settings, environment, folder: host.folder, store, log, redactor }, lock, host);
  } catch (thrown) {
    // A start that failed leaves no lock behind for the next one to wait for.
    await lock
      ?.release()
      .catch((failure: unknown) => log.error('lock_not_released', errorFacts(failure)));
    throw thrown;
  }
}

async function runApp(input: AppInput, lock: HeldLock | undefined, host: Host): Promise<void> {
  const { settings, store, log } = input;
  const app = composeApp(input);
  const stop = createStop(app, store, lock, log, host);
  host.onSignal('SIGTERM', stop);
  host.onSignal('SIGINT', stop);
  lock?.lost.addEventListener('abort', () => {
    log.error('store_lock_lost', {});
    host.exit(1);
  });

  const { host: address, port } = settings.config.server;
  const actualPort = await app.server.listen(address, port);
  await app.runs.prepare();
  await connect(app, log, systemClock);
  app.runs.start();
  app.catalogRefresh.start();
  say(host, input.redactor, startLines(app, settings, address, actualPort));
}

async function lockStore(
  settings: Settings,
  store: Store,
  log: Log,
  pid: number,
): Promise<HeldLock | undefined> {
  if (settings.config.store.url === 'memory:') return undefined;
  const lock = createLock({ store, clock: systemClock, log, processes: createProcesses(pid) });
  return lock.acquire('process', { ttlMs: lockTtlMs, owner: randomId('process') });
}

/** All platforms side by side. One that cannot be reached is tried again while the others work; one
 * that refuses the settings ends the start. */
async function connect(app: App, log: Log, clock: Clock): Promise<void> {
  await Promise.all(
    [...app.adapters.values()].map(async (adapter) => {
      try {
        await adapter.start(app.runs.onEvent);
      } catch (thrown) {
        if (!isBotError(thrown, 'surface_unavailable', 'rate_limited')) throw thrown;
        log.warn('platform_unreachable', { adapter: adapter.name, ...errorFacts(thrown) });
        void connectLater(adapter, app.runs.onEvent, log, clock);
      }
    }),
  );
}

async function connectLater(
  adapter: Adapter,
  onEvent: OnEvent,
  log: Log,
  clock: Clock,
): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    await sleep(clock, connectLadderMs[Math.min(attempt, connectLadderMs.length - 1)] ?? 60_000);
    try {
      await adapter.start(onEvent);
      log.info('platform_connected', { adapter: adapter.name });
      await onEvent({ kind: 'gap', adapter: adapter.name });
      return;
    } catch (thrown) {
      log.warn('platform_unreachable', { adapter: adapter.name, ...errorFacts(thrown) });
    }
  }
}

/** First signal: end in order, within 10 s. Second signal: end now. */
function createStop(
  app: App,
  store: Store,
  lock: HeldLock | undefined,
  log: Log,
  host: Host,
): () => void {
  let isStopping = false;
  return () => {
    if (isStopping) host.exit(1);
    isStopping = true;
    log.info('stopping', {});
    systemClock.setTimer(mostStopMs, () => {
      log.error('stop_took_too_long', {});
      host.exit(1);
    });
    void stopAll(app, store, lock)
      .then(() => log.info('stopped', {}))
      .then(
        () => host.exit(0),
        (thrown: unknown) => {
          log.error('stop_failed', errorFacts(thrown));
          host.exit(1);
        },
      );
  };
}

async function stopAll(app: App, store: Store, lock: HeldLock | undefined): Promise<void> {
  await app.runs.stop();
  await app.catalogRefresh.stop();
  await Promise.all([...app.adapters.values()].map((adapter) => adapter.stop()));
  await app.server.close();
  await app.close();
  await lock?.release();
  await store.close();
}

function startLines(
  app: App,
  settings: Settings,
  address: string,
  port: number,
): readonly string[] {
  const { name, why } = app.defaultModel;
  const shownHost = address.includes(':') ? `[${address}]` : address;
  const page = `http://${shownHost}:${port}/`;
  const others = app.platforms.filter(({ name: platform }) => platform !== 'web');
  const web = app.platforms.find(({ name: platform }) => platform === 'web');
  return [
    `${settings.config.name} is up.`,
    web?.adapter
      ? `The page is at ${page} ${web.adapter.state().detail}`
      : `The page is off: ${web?.why}.`,
    ...others.map(platformLine),
    `The model is ${name}: ${why}.`,
    `State is kept in ${settings.config.store.url.replace(/\/\/[^@/]*@/u, '//…@')}; workspaces in ${settings.config.workspace.folder}.`,
  ];
}

function platformLine({ name, adapter, why }: App['platforms'][number]): string {
  if (!adapter) return `${name} is off: ${why}.`;
  const { connected, detail } = adapter.state();
  return connected
    ? `${name} is on: ${why}. ${detail}`
    : `${name} is on, but not connected yet (${detail}); it is tried again.`;
}

/** Plain lines on a terminal, JSON lines elsewhere; told whatever the log's level is. */
function say(host: Host, redactor: Redactor, lines: readonly string[]): void {
  if (host.isTerminal) {
    host.write(`\n${lines.map((line) => `  ${redactor.redact(line)}`).join('\n')}\n\n`);
    return;
  }
  for (const line of lines) {
    const event = { time: new Date().toISOString(), event: 'started', says: redactor.redact(line) };
    host.write(`${JSON.stringify(event)}\n`);
  }
}

/** A failed start, for people. */
export function startFailure(thrown: unknown): BotError {
  return botErrorOf(thrown);
}
