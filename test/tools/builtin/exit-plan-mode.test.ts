/** ExitPlanMode: the plan goes to the people, and the run waits. */

import { describe, expect, it } from 'vitest';
import { usingFileTools } from '../../support/file-tools.ts';

const setUp = usingFileTools();

describe('ExitPlanMode', () => {
  it('suspends the run with the plan, as it was written', async () => {
    const { call } = await setUp();
    const plan = '1. Look\n2. `rm`\n';
    expect(await call('ExitPlanMode', { plan })).toEqual({
      kind: 'suspend',
      suspension: { kind: 'plan', plan },
    });
  });

  it.each<[string, unknown, string]>([
    ['20,000 characters', { plan: 'x'.repeat(20_000) }, 'suspend'],
    ['20,001 characters', { plan: 'x'.repeat(20_001) }, 'error'],
    ['no plan', { plan: '' }, 'error'],
    ['another field', { plan: 'x', approved: true }, 'error'],
  ])('of %s', async (_what, input, kind) => {
    const { call } = await setUp();
    expect((await call('ExitPlanMode', input)).kind).toBe(kind);
  });

  it('may be called while a plan is made, and asks nobody by itself', async () => {
    const { tool, context } = await setUp();
    expect(await tool('ExitPlanMode').assess({ plan: 'x' }, context)).toMatchObject({
      isReadOnly: true,
      needsApproval: false,
    });
  });
});
