/** What is measured of replies that grow, from when words came and when they could be read. */

/** From this time on so many words could be read. */
export interface Seen {
  readonly at: number;
  readonly words: number;
}

export interface ReplyMeasures {
  /** Age of the oldest word that came and cannot be read yet: its mean over the reply's time. */
  readonly meanMs: number;
  /** Samples of that age, for percentiles. */
  readonly samples: readonly number[];
  /** From the first word to the first that can be read. */
  readonly firstMs: number;
  /** From the last word until all can be read. */
  readonly finalMs: number;
}

const sampleMs = 20;

/** `cameAt`: when each word came, in order. */
export function measure(cameAt: readonly number[], seen: readonly Seen[]): ReplyMeasures {
  const begin = cameAt[0] ?? 0;
  const last = cameAt.at(-1) ?? 0;
  const first = seen.find(({ words }) => words > 0)?.at ?? Number.POSITIVE_INFINITY;
  const end = seen.find(({ words }) => words >= cameAt.length)?.at ?? Number.POSITIVE_INFINITY;
  const samples: number[] = [];
  let next = 0;
  let words = 0;
  for (let at = begin; at <= end; at += sampleMs) {
    for (let state = seen[next]; state && state.at <= at; state = seen[next]) {
      words = state.words;
      next += 1;
    }
    const oldest = cameAt[words];
    samples.push(oldest === undefined ? 0 : Math.max(0, at - oldest));
  }
  const meanMs = samples.reduce((sum, one) => sum + one, 0) / samples.length;
  return { meanMs, samples, firstMs: first - begin, finalMs: end - last };
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0) / values.length;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function geometricMean(values: readonly number[]): number {
  return Math.exp(meanOf(values.map((value) => Math.log(value))));
}
