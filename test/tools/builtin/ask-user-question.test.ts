/** AskUserQuestion: what it asks, and what it refuses to ask. */

import { describe, expect, it } from 'vitest';
import { usingFileTools } from '../../support/file-tools.ts';

const setUp = usingFileTools();

describe('AskUserQuestion', () => {
  const question = {
    question: 'Which?',
    header: 'Pick',
    options: [{ label: 'A' }, { label: 'B' }],
  };

  it('suspends the run with the question', async () => {
    const { call } = await setUp();
    expect(await call('AskUserQuestion', { questions: [question] })).toEqual({
      kind: 'suspend',
      suspension: {
        kind: 'questions',
        questions: [
          {
            ...question,
            options: [
              { label: 'A', description: '' },
              { label: 'B', description: '' },
            ],
            multiSelect: false,
          },
        ],
      },
    });
  });

  it.each<[string, unknown]>([
    ['a question without the list', question],
    ['the list as JSON text', { questions: JSON.stringify([question]) }],
  ])('mends %s', async (_what, raw) => {
    const { call } = await setUp();
    expect((await call('AskUserQuestion', raw)).kind).toBe('suspend');
  });

  it.each<[string, object]>([
    ['five questions', { questions: Array(5).fill(question) }],
    ['no question', { questions: [] }],
    ['one option', { questions: [{ ...question, options: [{ label: 'A' }] }] }],
    ['five options', { questions: [{ ...question, options: Array(5).fill({ label: 'A' }) }] }],
    ['a header of 13 characters', { questions: [{ ...question, header: '1234567890123' }] }],
  ])('refuses %s and says so to the model', async (_what, raw) => {
    const { call } = await setUp();
    expect((await call('AskUserQuestion', raw)).kind).toBe('error');
  });

  it('takes a header of 12 characters', async () => {
    const { call } = await setUp();
    expect(
      (await call('AskUserQuestion', { questions: [{ ...question, header: '123456789012' }] }))
        .kind,
    ).toBe('suspend');
  });
});
