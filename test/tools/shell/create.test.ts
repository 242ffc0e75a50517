/** Which executor the settings choose, what it is given, and what is wrong with a choice. */

import { describe, expect, it } from 'vitest';
import { systemClock as clock } from '../../../src/base/clock.ts';
import { toolSettings } from '../../../src/tools/settings.ts';
import { bubblewrapProblem } from '../../../src/tools/shell/bubblewrap.ts';
import { createExecutor, executorProblem } from '../../../src/tools/shell/create.ts';
import { allowedEnvironment, carriedVariables } from '../../../src/tools/shell/environment.ts';

const settingsOf = (bash: object) => toolSettings.parse({ bash }).bash;
const deps = { clock, environment: { PATH: '/bin', SLACK_BOT_TOKEN: 'xoxb-1' }, isRoot: false };

describe('the settings of Bash', () => {
  it('choose the virtual shell without network', () => {
    expect(toolSettings.parse({})).toEqual({
      web: { allow: [], deny: [], throughProxy: false },
      bash: {
        executor: 'virtual',
        acceptHostRisk: false,
        timeoutSeconds: 120,
        network: false,
        environment: {},
        mostProcesses: 256,
        mostFileMb: 512,
      },
    });
  });

  it.each([
    [{ timeoutSeconds: 600 }, true],
    [{ timeoutSeconds: 601 }, false],
    [{ timeoutSeconds: 0 }, false],
    [{ network: ['api.example.com', 'x.example:8443'] }, true],
    [{ network: ['https://api.example.com'] }, false],
    [{ network: ['*.example.com'] }, false],
    [{ network: [] }, false],
    [{ environment: { DEPLOY_KEY: 'x' } }, true],
    [{ environment: { 'A-B': 'x' } }, false],
    [{ mostMemoryMb: 64 }, true],
    [{ mostMemoryMb: 63 }, false],
    [{ executor: 'docker' }, false],
  ])('%j are taken: %s', (bash, isTaken) => {
    expect(toolSettings.safeParse({ bash }).success).toBe(isTaken);
  });

  it.each([
    [{}, undefined],
    [{ network: ['a.example'] }, undefined],
    [{ network: true }, 'network'],
    [{ executor: 'bubblewrap' }, undefined],
    [{ executor: 'bubblewrap', network: true }, undefined],
    [{ executor: 'bubblewrap', network: ['a.example'] }, 'network'],
    [{ executor: 'host' }, 'executor'],
    [{ executor: 'host', acceptHostRisk: true }, undefined],
    [{ executor: 'host', acceptHostRisk: true, network: ['a.example'] }, 'network'],
  ])('%j are a problem of %s', (bash, key) => {
    expect(executorProblem(settingsOf(bash), () => undefined)?.key).toBe(key);
  });

  it('that need bubblewrap where there is none are a problem', () => {
    const problem = executorProblem(settingsOf({ executor: 'bubblewrap' }), () => 'not there');
    expect(problem).toEqual({ key: 'executor', text: 'not there' });
  });

  it('that accept no risk start no host shell', () => {
    const create = () => createExecutor(deps, settingsOf({ executor: 'host' }));
    expect(create).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: expect.stringContaining('acceptHostRisk: true'),
      }),
    );
  });

  it.each(['virtual', 'bubblewrap', 'host'] as const)('choose %s', async (executor) => {
    const made = createExecutor(deps, settingsOf({ executor, acceptHostRisk: true }));
    expect(made.name).toBe(executor);
    expect(made.streams).toBe(executor !== 'virtual');
    await made.close();
  });

  it('name the hosts to the model', async () => {
    const made = createExecutor(deps, settingsOf({ network: ['api.example.com'] }));
    expect(made.description).toContain('api.example.com');
    expect(made.description).toContain(' curl');
    await made.close();
    const without = createExecutor(deps, settingsOf({}));
    expect(without.description).toMatch(/no git, node.+There is no network/su);
    await without.close();
  });
});

describe('bubblewrap that cannot be used', () => {
  const answers = (...all: { exitCode: number | undefined; output: string }[]) => {
    return () => all.shift() ?? { exitCode: 0, output: '' };
  };
  const version = { exitCode: 0, output: 'bubblewrap 0.8.0\n' };

  it.each([
    ['is missing', answers({ exitCode: undefined, output: '' }), /not installed: install it/u],
    [
      'is too old',
      answers(version, { exitCode: 1, output: 'bwrap: Unknown option --disable-userns\n' }),
      /too old \(bubblewrap 0\.8\.0\)/u,
    ],
    [
      'may make no namespaces',
      answers(version, { exitCode: 1, output: 'bwrap: No permissions to create new namespace\n' }),
      /No permissions.+Allow user namespaces.+executor: virtual/u,
    ],
  ])('because it %s is told with what to do', (_why, run, text) => {
    expect(bubblewrapProblem(run)).toMatch(text);
  });

  it('is no problem where it works', () => {
    expect(bubblewrapProblem(answers(version))).toBeUndefined();
  });
});

describe('the environment of a shell', () => {
  it('is an allow list', () => {
    const environment = {
      PATH: '/bin',
      LANG: 'C.UTF-8',
      LC_ALL: 'C',
      TZ: 'UTC',
      HOME: '/root',
      SLACK_BOT_TOKEN: 'xoxb-1',
      DEMO_API_TOKEN: '3f0c0d2e-8c1b-4b52-9d7f-1f0e6a1c9b11',
      LD_PRELOAD: '/x.so',
      NODE_OPTIONS: '--inspect',
    };
    expect(allowedEnvironment(environment)).toEqual({
      PATH: '/bin',
      LANG: 'C.UTF-8',
      LC_ALL: 'C',
      TZ: 'UTC',
    });
  });

  it('carries what commands changed, within 64 KiB', () => {
    const own = { HOME: '/workspace', PATH: '/bin' };
    const carried = carriedVariables(
      [
        ['HOME', '/workspace'],
        ['PATH', '/bin:/workspace/bin'],
        ['PWD', '/x'],
        ['BASH_ENV', '/x'],
        ['LD_PRELOAD', '/x'],
        ['BASH_FUNC_f%%', '() { :; }'],
        ['A', 'x'.repeat(65_536 - 25 - 3 - 3)],
        ['B', 'does not fit'],
        ['C', ''],
      ],
      own,
    );
    expect(Object.keys(carried)).toEqual(['PATH', 'A', 'C']);
  });
});
