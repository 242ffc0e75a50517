/** A queue that one side fills and the other iterates. */

export interface AsyncQueue<T> extends AsyncIterable<T> {
  push(item: T): void;
  /** Ends the iteration after what was pushed before. */
  end(): void;
  /** Ends the iteration with an error after what was pushed before. */
  fail(error: unknown): void;
}

export function createAsyncQueue<T>(): AsyncQueue<T> {
  const items: T[] = [];
  let ended: { readonly error?: unknown } | undefined;
  let wake: (() => void) | undefined;
  const signal = (): void => {
    wake?.();
    wake = undefined;
  };
  const close = (how: { readonly error?: unknown }): void => {
    ended ??= how;
    signal();
  };
  return {
    push: (item) => {
      items.push(item);
      signal();
    },
    end: () => close({}),
    fail: (error) => close({ error }),
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (items.length > 0) {
          const item = items.shift();
          if (item !== undefined) yield item;
        }
        if (ended) {
          if ('error' in ended) throw ended.error;
          return;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

/** Runs work of one key one after the other, in the order it was given; keys beside each other. */
export interface KeyedQueue {
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createKeyedQueue(): KeyedQueue {
  const last = new Map<string, Promise<unknown>>();
  return {
    run: async (key, work) => {
      const before = last.get(key) ?? Promise.resolve();
      const mine = before.then(work, work);
      last.set(key, mine);
      try {
        return await mine;
      } finally {
        if (last.get(key) === mine) last.delete(key);
      }
    },
  };
}
