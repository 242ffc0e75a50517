/** React and LeaveThread: small signs. */

import { describe, expect, it } from 'vitest';
import { usingFileTools } from '../../support/file-tools.ts';

const setUp = usingFileTools();

describe('React', () => {
  it('puts an emoji on the newest message of a person, or on the one that is named', async () => {
    const { says, thread } = await setUp();
    expect(await says('React', { emoji: '👍' })).toBe('👍 is on the message.');
    await says('React', { emoji: '👩‍👩‍👧‍👦', messageId: 'm7' });
    expect(thread.signs).toEqual(['👍 newest', '👩‍👩‍👧‍👦 m7']);
  });

  it('says what to do where the platform refuses', async () => {
    const { call } = await setUp();
    expect(await call('React', { emoji: '🦄' })).toEqual({
      kind: 'error',
      text: '🦄 could not be put there: the message is gone, or the platform does not have the emoji. Leave it, or say it in words.',
    });
  });

  it.each([
    ['', 'error'],
    ['x'.repeat(16), 'done'],
    ['x'.repeat(17), 'error'],
  ])('takes %j: %s', async (emoji, kind) => {
    const { call } = await setUp();
    expect((await call('React', { emoji })).kind).toBe(kind);
  });
});

describe('LeaveThread', () => {
  it('stops listening in its own thread', async () => {
    const { says, thread } = await setUp();
    expect(await says('LeaveThread', { reason: 'they are done' })).toContain(
      'a mention brings you',
    );
    expect(thread.left).toEqual(['web:local:general:1']);
  });

  it('asks nobody, and is no reading', async () => {
    const { context, tool } = await setUp();
    for (const name of ['LeaveThread', 'React']) {
      const assessment = await tool(name).assess({ reason: 'x', emoji: '👍' }, context);
      expect(assessment).toMatchObject({ isReadOnly: false, needsApproval: false });
    }
  });
});
