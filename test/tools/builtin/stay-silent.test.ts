/** StaySilent ends a turn that needs no word. */

import { describe, expect, it } from 'vitest';
import { said, usingFileTools } from '../../support/file-tools.ts';

const setUp = usingFileTools();

describe('StaySilent', () => {
  it('is refused where the bot was addressed', async () => {
    const { call } = await setUp();
    expect(said(await call('StaySilent', { reason: 'x' }))).toContain('You were addressed');
    expect(await call('StaySilent', { reason: 'x' }, { addressed: false })).toEqual({
      kind: 'silence',
      reason: 'x',
    });
  });
});
