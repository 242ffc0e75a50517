/** How much of a text fits a piece, when its length is known only by drawing it. */

export interface Fitting {
  readonly mostLength: number;
  /** Length of a piece as the platform counts it; grows with the piece. */
  readonly lengthOf: (markdown: string) => number;
}

/** A piece that misses so small a share of its limit is long enough: measuring means drawing. */
const nearShare = 1 / 64;
/** Shorter limits are met to the unit. */
const leastInexact = 512;
/** Less than what the text so far suggests, so that the next guess mostly fits. */
const caution = 0.97;

/**
 * The largest number of units from `at` that fits, or nearly so, given that more units are never
 * shorter. The guesses depend on the text that fits alone, so that a text that grows is cut alike.
 */
export function fittingSize(
  text: string,
  at: number,
  before: string,
  { mostLength, lengthOf }: Fitting,
): number {
  const rest = text.length - at;
  const near = mostLength < leastInexact ? 0 : mostLength * nearShare;
  const beforeLength = lengthOf(before);
  let low = 0;
  let left = mostLength - beforeLength;
  let high = Number.POSITIVE_INFINITY;
  let guess = Math.max(1, left);
  while (high - low > 1 && !(low > 0 && high < Number.POSITIVE_INFINITY && left <= near)) {
    const length = lengthOf(before + text.slice(at, at + guess));
    if (length > mostLength) {
      high = guess;
    } else {
      if (guess >= rest) return rest;
      low = guess;
      left = mostLength - length;
    }
    const growth = low > 0 ? (mostLength - left - beforeLength) / low : 1;
    const likely = low + Math.max(1, Math.floor((left / Math.max(1, growth)) * caution));
    guess = low > 0 && likely < high ? likely : halfway(low, high, likely);
  }
  return low;
}

function halfway(low: number, high: number, otherwise: number): number {
  return high === Number.POSITIVE_INFINITY ? otherwise : low + Math.max(1, (high - low) >> 1);
}
