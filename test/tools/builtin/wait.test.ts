/** Wait: until when, and what is too long. */

import { describe, expect, it } from 'vitest';
import { createWaitTool } from '../../../src/tools/builtin/wait.ts';
import { registerTool } from '../../../src/tools/registry.ts';
import { plainContext } from '../../support/tools.ts';

const now = Date.parse('2026-11-30T12:00:00Z');
const dayMs = 24 * 3600 * 1000;

function setUp() {
  const tool = registerTool(createWaitTool({ now: () => now }));
  return { tool, wait: (input: unknown) => tool.invoke(input, plainContext()) };
}

describe('Wait', () => {
  it.each<[object, number]>([
    [{ minutes: 30 }, 30 * 60_000],
    [{ minutes: 60 }, 60 * 60_000],
    [{ minutes: 0.5 }, 30_000],
    [{ minutes: 1e-9 }, 1],
    [{ until: '2026-11-30T12:00:01Z' }, 1000],
    [{ until: '2026-11-30T14:00:00+01:00' }, 3600_000],
    [{ until: '2026-12-07T12:00:00Z' }, 7 * dayMs],
  ])('%j suspends the run for %d ms', async (input, ms) => {
    expect(await setUp().wait(input)).toEqual({
      kind: 'suspend',
      suspension: { kind: 'wait', untilMs: now + ms },
    });
  });

  it.each<[object, string]>([
    [
      { until: '2026-11-30T12:00:00Z' },
      '2026-11-30T12:00:00Z is over: it is 2026-11-30T12:00:00.000Z now. Go on without waiting.',
    ],
    [{ until: '2026-11-30T12:30:00+01:00' }, 'is over'],
    [{ until: '2026-12-07T12:00:01Z' }, 'more than 7 days away'],
    [{}, 'give either minutes or until'],
    [{ minutes: 5, until: '2026-11-30T14:00:00Z' }, 'give either minutes or until'],
    [{ minutes: 60.1 }, 'minutes: '],
    [{ minutes: 0 }, 'minutes: '],
    [{ minutes: '5' }, 'minutes: '],
    [{ until: 'tomorrow' }, 'until: '],
    [{ until: '2026-11-30T14:00:00' }, 'until: '],
  ])('%j is refused: %s', async (input, told) => {
    const outcome = await setUp().wait(input);
    expect(outcome).toMatchObject({ kind: 'error', text: expect.stringContaining(told) });
  });

  it.each<[object, string]>([
    [{}, 'Waiting'],
    [{ minutes: 5 }, 'Waiting 5 min'],
    [{ until: '2026-11-30T14:00:00Z' }, 'Waiting until 2026-11-30T14:00:00Z'],
  ])('is told of %j in a line', (input, line) => {
    expect(setUp().tool.describe(input)).toBe(line);
  });
});
