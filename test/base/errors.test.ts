/** The error class, and what of a thrown value reaches the log. */

import { describe, expect, it } from 'vitest';
import { BotError, botErrorOf, isBotError } from '../../src/base/errors.ts';
import { errorFacts } from '../../src/base/log.ts';

describe('a BotError', () => {
  it('carries code, sentence, facts, wait and cause', () => {
    const cause = new Error('429');
    const error = new BotError('rate_limited', 'Slack asked us to wait.', {
      facts: { status: 429 },
      retryAfterMs: 3_000,
      cause,
    });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'BotError',
      code: 'rate_limited',
      message: 'Slack asked us to wait.',
      facts: { status: 429 },
      retryAfterMs: 3_000,
      cause,
    });
  });

  it('has no facts, no wait and no cause where none were given', () => {
    const error = new BotError('internal', 'Something failed.');
    expect(error.facts).toEqual({});
    expect(error.retryAfterMs).toBeUndefined();
    expect('cause' in error).toBe(false);
  });
});

describe('botErrorOf', () => {
  it('leaves a BotError as it is', () => {
    const error = new BotError('stopped', 'It was stopped.');
    expect(botErrorOf(error)).toBe(error);
  });

  it.each([
    [new TypeError('x is undefined'), 'TypeError'],
    ['a thrown string', 'string'],
    [undefined, 'undefined'],
  ])('makes %s an internal error with the original as its cause', (thrown, name) => {
    expect(botErrorOf(thrown)).toMatchObject({
      code: 'internal',
      message: 'Something inside failed unexpectedly.',
      facts: { name },
    });
    expect(botErrorOf(thrown).cause).toBe(thrown);
  });
});

describe('isBotError', () => {
  it('looks at class and code', () => {
    const error = new BotError('overloaded', 'The model is overloaded.');
    expect(isBotError(error)).toBe(true);
    expect(isBotError(error, 'refused', 'overloaded')).toBe(true);
    expect(isBotError(error, 'refused')).toBe(false);
    expect(isBotError(new Error('overloaded'), 'overloaded')).toBe(false);
    expect(isBotError(undefined)).toBe(false);
  });
});

describe('errorFacts', () => {
  it('tells name, code, message, facts and the causes below', () => {
    const cause = Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED' });
    const error = new BotError('store_unavailable', 'The store is away.', {
      facts: { action: 'get' },
      cause,
    });
    expect(errorFacts(error)).toEqual({
      name: 'BotError',
      code: 'store_unavailable',
      message: 'The store is away.',
      action: 'get',
      cause: { name: 'Error', code: 'ECONNREFUSED', message: 'connect refused' },
    });
  });

  it('tells only the type of what is not an error, and three causes at most', () => {
    expect(errorFacts('secret words')).toEqual({ thrown: 'string' });
    let error = new Error('0');
    for (let depth = 1; depth <= 9; depth += 1) error = new Error(`${depth}`, { cause: error });
    const told = JSON.stringify(errorFacts(error)).match(/"message"/gu);
    expect(told).toHaveLength(4);
  });
});
