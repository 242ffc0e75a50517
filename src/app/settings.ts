/** The configuration as the process uses it: loaded, checked as a whole, with its secrets named. */

import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '../base/clock.ts';
import { botErrorOf } from '../base/errors.ts';
import { randomId } from '../base/ids.ts';
import { silentLog } from '../base/log.ts';
import { type Environment, variables } from '../config/environment.ts';
import { configFileOf, configInvalid, readConfig } from '../config/load.ts';
import { readModels } from '../config/models.ts';
import { approverProblem, mergePermissions } from '../permissions/settings.ts';
import { createCatalog } from '../providers/catalog.ts';
import { createProviderRegistry, type ProviderRegistry } from '../providers/registry.ts';
import type { ModelEntry } from '../providers/settings.ts';
import { addressProblem } from '../storage/open.ts';
import { executorProblem } from '../tools/shell/create.ts';
import { platformProblems, platformSchemas } from './adapters.ts';
import { mountProblems, mountsOf, workspaceProblems } from './workspace.ts';

export type Settings = ReturnType<typeof loadSettings>;

/** Throws config_invalid whose text lists every problem. */
export function loadSettings(environment: Environment, folder: string) {
  const source = configFileOf(environment, folder);
  const { config, problems: found } = readConfig({
    ...source,
    environment,
    platforms: platformSchemas,
  });
  if (!config) throw configInvalid(found);
  const models = readModels(folder);
  const ownFiles = [
    { what: 'the configuration', file: source.file },
    ...storeFiles(config.store.url),
  ];
  const problems = [
    ...found,
    ...platformProblems(config.platforms, config.server),
    ...storeProblems(config.store.url),
    ...modelProblems(config, models, source.file),
    ...permissionProblems(config, source.file),
    ...shellProblems(config, source.file),
    ...workspaceProblems(config.workspace.folder, ownFiles),
    ...mountProblems(mountsOf(config.workspace.mounts), [
      ...ownFiles,
      { what: 'the environment file', file: path.join(folder, '.env') },
      { what: 'the workspaces', file: config.workspace.folder },
    ]),
  ];
  if (problems.length > 0) throw configInvalid(problems);
  return { config, file: source.file, models };
}

type Config = NonNullable<ReturnType<typeof readConfig<typeof platformSchemas>>['config']>;

/** Every model that is named must be one that can be asked. */
function modelProblems(
  config: Config,
  models: readonly ModelEntry[],
  file: string,
): readonly string[] {
  const registryDeps = {
    fetch: globalThis.fetch,
    clock: systemClock,
    log: silentLog,
    newId: randomId,
    learned: { read: async () => [], add: async () => {} },
  };
  const catalog = createCatalog(models);
  const problems: string[] = [];
  const check = (where: string, work: () => unknown): void => {
    try {
      work();
    } catch (thrown) {
      problems.push(`${where}: ${botErrorOf(thrown).message}`);
    }
  };
  check('the model', () => createProviderRegistry(registryDeps, config.models, catalog));
  const registryWithout = (): ProviderRegistry | undefined => {
    const { model: _default, ...keys } = config.models;
    const settings = { ...keys, model: 'rehearsal/rehearsal' };
    try {
      return createProviderRegistry(registryDeps, settings, catalog);
    } catch {
      // Told above: a named server makes no sense.
      return undefined;
    }
  };
  const registry = registryWithout();
  for (const [index, { model }] of config.channels.entries()) {
    const line = config.lineOf(['channels', index, 'model']);
    const where = `${file}:${line}: channels.${index}.model`;
    if (model !== undefined) check(where, () => registry?.resolve(model));
  }
  const { fallback = [] } = config.models;
  for (const [index, name] of fallback === 'off' ? [] : fallback.entries()) {
    const line = config.lineOf(['models', 'fallback', index]);
    check(`${file}:${line}: models.fallback.${index}`, () => registry?.resolve(name));
  }
  return problems;
}

/** Under each set of settings somebody must be able to approve. */
function permissionProblems(config: Config, file: string): readonly string[] {
  const top = { value: config.permissions, source: '' };
  const all = [
    { path: ['permissions'], levels: [top] },
    ...config.channels.flatMap(({ permissions }, index) =>
      permissions
        ? [
            {
              path: ['channels', index, 'permissions'],
              levels: [top, { value: permissions, source: '' }],
            },
          ]
        : [],
    ),
  ];
  return all.flatMap(({ path, levels }) => {
    const problem = approverProblem(mergePermissions(levels));
    return problem === undefined
      ? []
      : [`${file}:${config.lineOf(path)}: ${path.join('.')}: ${problem}`];
  });
}

/**
 * An edited configuration as the running process can take it over: the models stay those of the
 * start, but for who may choose, and so does the shell (a new key, or a value that commands are
 * given, would not be known to the secrets filter). Throws
 * config_invalid where a channel names a model that only a restart could bring.
 */
export function takeOver(
  running: Settings,
  next: Settings,
  resolve: (name: string) => unknown,
): { readonly settings: Settings; readonly needsRestart: boolean } {
  const { choice: _before, ...before } = running.config.models;
  const { choice, ...after } = next.config.models;
  const problems: string[] = [];
  for (const [index, { model }] of next.config.channels.entries()) {
    try {
      if (model !== undefined) resolve(model);
    } catch (thrown) {
      const line = next.config.lineOf(['channels', index, 'model']);
      const reason = botErrorOf(thrown).message;
      problems.push(
        `${next.file}:${line}: channels.${index}.model: ${reason} New models need a restart.`,
      );
    }
  }
  if (problems.length > 0) throw configInvalid(problems);
  const models = { ...before, ...(choice === undefined ? {} : { choice }) };
  const { bash } = running.config.tools;
  const tools = { ...next.config.tools, bash };
  return {
    settings: { ...next, config: { ...next.config, models, tools } },
    needsRestart:
      !isDeepStrictEqual(before, after) || !isDeepStrictEqual(bash, next.config.tools.bash),
  };
}

function shellProblems(config: Config, file: string): readonly string[] {
  const problem = executorProblem(config.tools.bash);
  if (!problem) return [];
  const { key, text } = problem;
  return [`${file}:${config.lineOf(['tools', 'bash', key])}: tools.bash.${key}: ${text}`];
}

function storeProblems(url: string): readonly string[] {
  const problem = addressProblem(url);
  return problem === undefined ? [] : [`DECKHAND_STORE (store.url): ${problem}`];
}

function storeFiles(url: string): readonly { readonly what: string; readonly file: string }[] {
  return url.startsWith('sqlite:')
    ? [{ what: 'the store', file: url.slice('sqlite:'.length) }]
    : [];
}

export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Values that must never be shown: secret settings wherever they came from, and passwords of
 * addresses. */
export function secretsOf({ config }: Settings): readonly Secret[] {
  const secrets: Secret[] = [];
  for (const { name, path, isSecret } of variables) {
    const value = isSecret ? valueAt(config, path) : undefined;
    if (typeof value === 'string') secrets.push({ name, value });
  }
  secrets.push(...modelSecrets(config.models));
  for (const [name, value] of Object.entries(config.tools.bash.environment)) {
    secrets.push({ name: `tools.bash.environment.${name}`, value });
  }
  const { search } = config.tools.web;
  if (search && 'apiKey' in search)
    secrets.push({ name: 'tools.web.search.apiKey', value: search.apiKey });
  const { token } = config.platforms.web;
  if (token !== undefined) secrets.push({ name: 'platforms.web.token', value: token });
  const { url } = config.store;
  const password = URL.canParse(url) ? decodeURIComponent(new URL(url).password) : '';
  if (password !== '') secrets.push({ name: 'store password', value: password });
  // A key may stand in two places: the variable's name is the better one.
  return secrets.filter(({ value }, place) => {
    return secrets.findIndex((other) => other.value === value) === place;
  });
}

const secretVariable =
  /(?:TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY)/iu;

/** Variables of the bot's own environment that are named like secrets, its own or not. */
export function environmentSecrets(environment: Environment): readonly Secret[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && secretVariable.test(name) ? [{ name, value }] : [],
  );
}

/** Keys of named servers, and what looks like one among the headers of any. */
function modelSecrets(models: Config['models']): readonly Secret[] {
  const { anthropic, openai, gemini, compatible, providers = {} } = models;
  const vendors = Object.entries({ anthropic, openai, gemini, compatible });
  const sections = [
    ...vendors.map(([name, section]) => [`models.${name}`, section ?? {}] as const),
    ...Object.entries(providers).map(
      ([name, section]) => [`models.providers.${name}`, section] as const,
    ),
  ];
  return sections.flatMap(([where, { apiKey, headers = {} }]) => [
    ...(apiKey === undefined ? [] : [{ name: `${where}.apiKey`, value: apiKey }]),
    ...Object.entries(headers).flatMap(([name, value]) =>
      secretHeader.test(name) ? headerSecrets(`${where}.headers.${name}`, value) : [],
    ),
  ]);
}

const secretHeader = /auth|key|token|secret|cookie|password|credential/iu;

/** Also without its scheme: `Bearer abc` is as secret as `abc`. */
function headerSecrets(name: string, value: string): readonly Secret[] {
  const bare = /^(?:Bearer|Basic|Token)\s+(\S+)$/iu.exec(value)?.[1];
  return [{ name, value }, ...(bare === undefined ? [] : [{ name, value: bare }])];
}

function valueAt(config: object, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && key in value
        ? Object.entries(value).find(([name]) => name === key)?.[1]
        : undefined,
    config,
  );
}

/** Proxy variables, in both cases; undefined when none is set. */
export function proxyOf(
  environment: Environment,
): { readonly httpsProxy: string; readonly noProxy: string } | undefined {
  const httpsProxy = environment['HTTPS_PROXY'] ?? environment['https_proxy'];
  if (httpsProxy === undefined) return undefined;
  return { httpsProxy, noProxy: environment['NO_PROXY'] ?? environment['no_proxy'] ?? '' };
}
