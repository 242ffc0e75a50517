/** Raw events as ours: in order, with failures behind what came before them, and left when left. */

import { describe, expect, it } from 'vitest';
import { translated } from '../../src/providers/translated.ts';
import { collect, collectUntilThrow } from '../support/providers.ts';

function source(values: readonly unknown[], failure?: Error) {
  let isLeft = false;
  const raw = async function* (): AsyncGenerator<unknown> {
    try {
      yield* values;
      if (failure) throw failure;
    } finally {
      isLeft = true;
    }
  };
  return { raw: raw(), isLeft: () => isLeft };
}

const twice = (value: unknown): unknown[] => [value, value];

describe('translated', () => {
  it('gives what each value becomes, then what the end becomes', async () => {
    const { raw } = source([1, 2]);
    expect(await collect(translated(raw, twice, () => ['end']))).toEqual([1, 1, 2, 2, 'end']);
  });

  it('reads on over values that become nothing, however many', async () => {
    const { raw } = source(Array.from({ length: 5_000 }, (_, place) => place));
    const some = (value: unknown): unknown[] => (Number(value) % 2_500 === 0 ? [value] : []);
    expect(await collect(translated(raw, some, () => []))).toEqual([0, 2_500]);
  });

  it('gives what came before a failure, then the failure, and leaves the source', async () => {
    const { raw, isLeft } = source([1, 2, 3]);
    const failing = function* (value: unknown): Generator<unknown> {
      yield value;
      if (value === 2) throw new Error('odd');
    };
    const { events, thrown } = await collectUntilThrow(translated(raw, failing, () => ['end']));
    expect(events).toEqual([1, 2]);
    expect(thrown).toEqual(new Error('odd'));
    expect(isLeft()).toBe(true);
  });

  it('passes on what the source throws, and what the end throws', async () => {
    const broken = await collectUntilThrow(
      translated(source([1], new Error('cut')).raw, twice, () => ['end']),
    );
    expect(broken).toEqual({ events: [1, 1], thrown: new Error('cut') });
    const short = translated(source([1]).raw, twice, () => {
      throw new Error('no end');
    });
    expect(await collectUntilThrow(short)).toEqual({
      events: [1, 1],
      thrown: new Error('no end'),
    });
  });

  it('leaves the source when its reader leaves, and is over then', async () => {
    const { raw, isLeft } = source([1, 2, 3]);
    const events = translated(raw, twice, () => ['end'])[Symbol.asyncIterator]();
    expect(await events.next()).toEqual({ done: false, value: 1 });
    await events.return?.();
    expect(isLeft()).toBe(true);
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });
});
