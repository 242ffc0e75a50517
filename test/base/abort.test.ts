/** Linked abort signals: they follow their parent until released, and never the other way. */

import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { abortReasonOf, linkedAbort, throwIfAborted } from '../../src/base/abort.ts';
import { BotError } from '../../src/base/errors.ts';

const reason = new BotError('interrupted', 'The process stops.');

describe('linkedAbort', () => {
  const setUp = () => {
    const parent = new AbortController();
    return { parent, link: linkedAbort(parent.signal) };
  };

  it('follows its parent, with the same reason', () => {
    const { parent, link } = setUp();
    expect(link.signal.aborted).toBe(false);
    parent.abort(reason);
    expect(link.signal.reason).toBe(reason);
  });

  it('is aborted from the start when its parent is', () => {
    const link = linkedAbort(AbortSignal.abort(reason));
    expect(link.signal.reason).toBe(reason);
  });

  it('is aborted alone', () => {
    const { parent, link } = setUp();
    link.abort(reason);
    expect(link.signal.reason).toBe(reason);
    expect(parent.signal.aborted).toBe(false);
  });

  it('does not follow once released, and leaves no listener on its parent', () => {
    const { parent, link } = setUp();
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(1);
    link.release();
    link.release();
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0);
    parent.abort(reason);
    expect(link.signal.aborted).toBe(false);
  });

  it('leaves no listeners behind over 1,000 uses of one parent', () => {
    const { parent } = setUp();
    for (let use = 0; use < 1_000; use += 1) linkedAbort(parent.signal).release();
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(1);
  });
});

describe('the reason of an abort', () => {
  it('is the typed reason, or a stop with the original as its cause', () => {
    expect(abortReasonOf(AbortSignal.abort(reason))).toBe(reason);
    const other = new Error('by hand');
    expect(abortReasonOf(AbortSignal.abort(other))).toMatchObject({
      name: 'BotError',
      code: 'stopped',
      cause: other,
    });
  });

  it('is thrown where the signal is aborted, and only there', () => {
    expect(() => throwIfAborted(new AbortController().signal)).not.toThrow();
    expect(() => throwIfAborted(AbortSignal.abort(reason))).toThrow(reason);
  });
});
