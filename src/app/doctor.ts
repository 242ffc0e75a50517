/**
 * `deckhand doctor`: looks at everything that must be right before the bot can work, and says for
 * each what it found and what cures it. Nothing is connected, posted or spent.
 */

import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '../base/clock.ts';
import { botErrorOf } from '../base/errors.ts';
import type { Finding } from '../base/finding.ts';
import { randomId } from '../base/ids.ts';
import { silentLog } from '../base/log.ts';
import { createRedactor } from '../base/redaction.ts';
import { type Environment, readEnvironment } from '../config/environment.ts';
import { createCatalog } from '../providers/catalog.ts';
import { createProviderRegistry } from '../providers/registry.ts';
import { createModelFetch } from '../providers/transport.ts';
import { openStore } from '../storage/open.ts';
import type { Store } from '../storage/store.ts';
import type { BashSettings } from '../tools/settings.ts';
import { platformFindings } from './adapters.ts';
import { examineModels } from './doctor-models.ts';
import { createLearnedBook, type StoredLearnedBook } from './learned.ts';
import { loadSettings, proxyOf, type Settings, secretsOf } from './settings.ts';

export interface DoctorHost {
  readonly folder: string;
  readonly nodeVersion: string;
  write(text: string): void;
}

const signs = { ok: '✓', warning: '!', problem: '✗', off: '-' } as const;
const leastNode = [20, 19] as const;

/** Writes one line a finding, as soon as it is known. The exit code: 1 with any problem. */
export async function runDoctor(host: DoctorHost): Promise<number> {
  const environment = readEnvironment(host.folder);
  let hasProblem = false;
  let redact = (text: string): string => text;
  const tell = (finding: Finding): void => {
    hasProblem ||= finding.state === 'problem';
    host.write(`${signs[finding.state]} ${finding.what}: ${redact(finding.text)}\n`);
  };
  tell(nodeFinding(host.nodeVersion));
  const settings = settingsOrFindings(environment, host.folder, tell);
  if (settings) {
    const redactor = createRedactor(secretsOf(settings));
    redact = (text) => redactor.redact(text);
    await examine(settings, environment, tell);
  }
  host.write(hasProblem ? '\nSomething needs to be mended.\n' : '\nAll is well.\n');
  return hasProblem ? 1 : 0;
}

function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/u, '').split('.').map(Number);
  const [leastMajor, leastMinor] = leastNode;
  const isOld = major < leastMajor || (major === leastMajor && minor < leastMinor);
  return isOld
    ? { state: 'problem', what: 'node', text: `${version} is too old: install 20.19 or later.` }
    : { state: 'ok', what: 'node', text: `${version}.` };
}

function settingsOrFindings(
  environment: Environment,
  folder: string,
  tell: (finding: Finding) => void,
): Settings | undefined {
  try {
    const settings = loadSettings(environment, folder);
    tell({
      state: 'ok',
      what: 'configuration',
      text: `${path.relative(folder, settings.file)} is right.`,
    });
    return settings;
  } catch (thrown) {
    const [, ...problems] = botErrorOf(thrown).message.split('\n');
    const texts = problems.length > 0 ? problems : [botErrorOf(thrown).message];
    for (const text of texts) tell({ state: 'problem', what: 'configuration', text: text.trim() });
    return undefined;
  }
}

async function examine(
  settings: Settings,
  environment: Environment,
  tell: (finding: Finding) => void,
): Promise<void> {
  const { config } = settings;
  const proxy = proxyOf(environment);
  tell(await workspaceFinding(config.workspace.folder));
  tell(shellFinding(config.tools.bash));
  const store = await openedStore(config.store.url, tell);
  const findings = await platformFindings({ log: silentLog, proxy }, config.platforms);
  for (const finding of findings) tell(finding);
  const transport = createModelFetch(proxy ? { proxy } : {});
  try {
    const learned =
      store && createLearnedBook({ store, log: silentLog, now: () => systemClock.now() });
    const registry = createProviderRegistry(
      {
        fetch: transport.fetch,
        clock: systemClock,
        log: silentLog,
        newId: randomId,
        learned: learned ?? { read: async () => [], add: async () => {} },
      },
      config.models,
      createCatalog(settings.models),
    );
    await examineModels(registry, settings, tell);
    if (learned) await tellLearned(learned, tell);
  } finally {
    await transport.close();
    await store?.close();
  }
}

async function workspaceFinding(folder: string): Promise<Finding> {
  const what = 'workspaces';
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
    return { state: 'ok', what, text: `${folder} can be written to.` };
  } catch {
    return {
      state: 'problem',
      what,
      text: `${folder} cannot be written to: give this user the right, or set workspace.folder (DECKHAND_WORKSPACE).`,
    };
  }
}

/** Whether the shell can be used was looked at with the settings. */
function shellFinding({ executor, network }: BashSettings): Finding {
  const what = 'shell';
  switch (executor) {
    case 'virtual':
      return { state: 'ok', what, text: 'virtual: commands cannot touch this machine.' };
    case 'bubblewrap':
      return network === true
        ? {
            state: 'warning',
            what,
            text: 'bubblewrap: commands run in a sandbox, but reach the whole network and the services of this machine (tools.bash.network).',
          }
        : { state: 'ok', what, text: 'bubblewrap: commands run in a sandbox without network.' };
    case 'host':
      return {
        state: 'warning',
        what,
        text: 'host: commands run on this machine with all rights of the bot.',
      };
  }
}

async function openedStore(
  url: string,
  tell: (finding: Finding) => void,
): Promise<Store | undefined> {
  const shown = url.replace(/\/\/[^@/]*@/u, '//…@');
  try {
    const store = await openStore(url, { clock: systemClock, log: silentLog });
    await store.check();
    const isKept = url !== 'memory:';
    tell({
      state: isKept ? 'ok' : 'warning',
      what: 'store',
      text: isKept
        ? `${shown} answers.`
        : 'memory: forgets everything when the bot stops: set DECKHAND_STORE, or leave it out.',
    });
    return store;
  } catch (thrown) {
    tell({
      state: 'problem',
      what: 'store',
      text: `${shown}: ${botErrorOf(thrown).message} Look at DECKHAND_STORE (store.url).`,
    });
    return undefined;
  }
}

async function tellLearned(
  learned: StoredLearnedBook,
  tell: (finding: Finding) => void,
): Promise<void> {
  for (const { endpoint, model, names } of await learned.all()) {
    tell({
      state: 'warning',
      what: `learned of ${model}`,
      text: `${endpoint} refused these, they are left out: ${names.join(', ')}.`,
    });
  }
}
