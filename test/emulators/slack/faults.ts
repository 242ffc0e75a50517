/** Faults that a test switches on, by method. */

export type Fault =
  /** HTTP 429 with Retry-After in seconds. */
  | { readonly kind: 'rate_limited'; readonly retryAfterSeconds: number }
  | { readonly kind: 'status'; readonly status: number }
  /** `ok: false` with this word. */
  | { readonly kind: 'refused'; readonly word: string }
  /** The call takes effect, but the connection breaks before the answer. */
  | { readonly kind: 'answer_lost' }
  /** The connection breaks before the call takes effect. */
  | { readonly kind: 'cut' }
  /** The answer comes this late. */
  | { readonly kind: 'slow'; readonly ms: number };

export interface FaultWhen {
  /** From now on the nth call (1 is the next); default 1. */
  readonly nth?: number;
  /** How many calls from there; default 1. */
  readonly times?: number;
}

export interface Faults {
  add(method: string, fault: Fault, when?: FaultWhen): void;
  /** The fault of this call, counted. */
  take(method: string): Fault | null;
  clear(): void;
}

export function createFaults(): Faults {
  const planned: { method: string; fault: Fault; skip: number; left: number }[] = [];
  return {
    add: (method, fault, { nth = 1, times = 1 } = {}) => {
      planned.push({ method, fault, skip: nth - 1, left: times });
    },
    take: (method) => {
      for (const plan of planned) {
        if (plan.method !== method || plan.left <= 0) continue;
        if (plan.skip > 0) {
          plan.skip -= 1;
          continue;
        }
        plan.left -= 1;
        return plan.fault;
      }
      return null;
    },
    clear: () => {
      planned.length = 0;
    },
  };
}
