/** Which workspaces and servers are served. */

import { describe, expect, it } from 'vitest';
import { createSpaces } from '../../src/runs/spaces.ts';
import { createMemoryStore } from '../../src/storage/memory.ts';
import { createFakeAdapter } from '../support/fake-adapter.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';

function setUp(configured: readonly string[] = []) {
  const log = createKeptLog();
  const store = createMemoryStore({ clock: createFakeClock(), log });
  const present = ['1'];
  const adapterOf = (name: string) => ({
    ...createFakeAdapter({ name }),
    spaces: () => present.map((id) => ({ id, name: id })),
  });
  return {
    spaces: createSpaces({ store, log }, () => configured),
    present,
    discord: adapterOf('discord'),
    slack: adapterOf('slack'),
  };
}

describe('spaces', () => {
  it('of Discord are those of the first start with any; later ones wait for an admin', async () => {
    const { spaces, present, discord } = setUp();
    expect(await spaces.allowed(discord)).toEqual([]);
    await spaces.settle(discord);
    present.push('2');
    await spaces.settle(discord);
    expect(await spaces.allowed(discord)).toEqual(['discord:1']);
    expect(await spaces.allow('discord:2')).toBe('From now on I serve discord:2.');
    expect(await spaces.allowed(discord)).toEqual(['discord:1', 'discord:2']);
  });

  it('of Slack are the token’s workspace alone', async () => {
    const { spaces, slack } = setUp();
    expect(await spaces.allowed(slack)).toEqual(['slack:1']);
    expect(await spaces.allow('slack:2')).toContain('serves the space of its token alone');
  });

  it('that the configuration lists decide alone', async () => {
    const { spaces, discord } = setUp(['discord:7']);
    await spaces.settle(discord);
    expect(await spaces.allowed(discord)).toEqual(['discord:7']);
    expect(await spaces.allow('discord:2')).toContain('the configuration decides');
    expect(await spaces.allowed(discord)).toEqual(['discord:7']);
  });
});
