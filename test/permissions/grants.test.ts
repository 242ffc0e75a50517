/** Grants: for the same tool, input, definition and thread, until their time. */

import { describe, expect, it } from 'vitest';
import { createGrants, type Grant } from '../../src/permissions/grants.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const hourMs = 3600 * 1000;
const wanted = { conversation: 'web:l:c:1', tool: 'Bash', pattern: 'git push*', toolHash: 'h1' };
const given = { ...wanted, by: { id: 'web:anna', name: 'Anna' } };

function setUp() {
  const clock = createFakeClock();
  let held: readonly Grant[] = [];
  let ids = 0;
  const grants = createGrants({
    now: () => clock.now(),
    newId: (prefix) => {
      ids += 1;
      return `${prefix}_${ids}`;
    },
    book: {
      read: async () => held,
      add: async (grant) => {
        held = [grant, ...held];
      },
      remove: async (id) => {
        held = held.filter((grant) => grant.id !== id);
      },
    },
  });
  return { clock, grants };
}

describe('a grant', () => {
  it('holds until its time, and not at it', async () => {
    const { clock, grants } = setUp();
    await grants.give(given, hourMs);
    await clock.advance(hourMs - 1);
    expect((await grants.find(wanted))?.by.name).toBe('Anna');
    expect(await grants.list()).toHaveLength(1);
    await clock.advance(1);
    expect(await grants.find(wanted)).toBeUndefined();
    expect(await grants.list()).toEqual([]);
  });

  it.each([
    [24 * hourMs, 24 * hourMs],
    [24 * hourMs + 1, 24 * hourMs],
    [24 * hourMs - 1, 24 * hourMs - 1],
  ])('given for %d ms lives %d ms', async (asked, lived) => {
    const { clock, grants } = setUp();
    const { at, expiresAt } = await grants.give(given, asked);
    expect([at, expiresAt - at]).toEqual([clock.now(), lived]);
  });

  it.each<[string, Partial<typeof wanted>]>([
    ['thread', { conversation: 'web:l:c:2' }],
    ['tool', { tool: 'BashOutput' }],
    ['definition of the tool', { toolHash: 'h2' }],
    ['kind of input', { pattern: 'git push --force*' }],
    ['input that its pattern would match', { pattern: 'git push origin main' }],
  ])('is good for no other %s', async (_what, other) => {
    const { grants } = setUp();
    await grants.give(given, hourMs);
    expect(await grants.find({ ...wanted, ...other })).toBeUndefined();
    expect(await grants.find(wanted)).toBeDefined();
  });

  it('is listed oldest first and taken back once', async () => {
    const { clock, grants } = setUp();
    const first = await grants.give(given, hourMs);
    await clock.advance(1);
    const second = await grants.give({ ...given, tool: 'Deploy' }, hourMs);
    expect((await grants.list()).map(({ id }) => id)).toEqual([first.id, second.id]);
    expect(await grants.revoke(first.id)).toBe(true);
    expect(await grants.revoke(first.id)).toBe(false);
    expect(await grants.find(wanted)).toBeUndefined();
    await clock.advance(hourMs);
    expect(await grants.revoke(second.id)).toBe(false);
  });
});
