/** Seeded randomness for long tests: the same seed gives the same run. */

export interface Random {
  /** 0 ≤ x < 1 */
  next(): number;
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  isLucky(share: number): boolean;
  oneOf<T>(items: readonly [T, ...(readonly T[])]): T;
}

/** mulberry32: small and good enough to vary tests. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (least: number, most: number): number =>
    least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    isLucky: (share) => next() < share,
    oneOf: ([first, ...rest]) => {
      const index = between(0, rest.length);
      return rest[index - 1] ?? first;
    },
  };
}

/** The seed of a run: a new one each time, or the one to look at again. */
export function seedOf(variable: string): number {
  return Number(process.env[variable] ?? Date.now() % 1_000_000_000);
}
