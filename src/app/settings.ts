/** The configuration as the process uses it: loaded, checked as a whole, with its secrets named. */

import { BotError } from '../base/errors.ts';
import { type Environment, variables } from '../config/environment.ts';
import { configFileOf, loadConfig } from '../config/load.ts';
import { platformProblems, platformSchemas } from './adapters.ts';
import { workspaceProblems } from './workspace.ts';

export type Settings = ReturnType<typeof loadSettings>;

/** Throws config_invalid whose text lists every problem. */
export function loadSettings(environment: Environment, folder: string) {
  const source = configFileOf(environment, folder);
  const config = loadConfig({ ...source, environment, platforms: platformSchemas });
  const problems = [
    ...platformProblems(config.platforms, config.server),
    ...workspaceProblems(config.workspace.folder, [
      { what: 'the configuration', file: source.file },
      ...storeFiles(config.store.url),
    ]),
  ];
  if (problems.length > 0) {
    throw new BotError(
      'config_invalid',
      `The configuration has ${problems.length === 1 ? '1 problem' : `${problems.length} problems`}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    );
  }
  return { config, file: source.file };
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
  const { token } = config.platforms.web;
  if (token !== undefined) secrets.push({ name: 'platforms.web.token', value: token });
  const { url } = config.store;
  const password = URL.canParse(url) ? decodeURIComponent(new URL(url).password) : '';
  if (password !== '') secrets.push({ name: 'store password', value: password });
  return secrets;
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
