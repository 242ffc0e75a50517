/** Faults that a test switches on, by route: `POST /channels/:id/messages`. */

export type Fault =
  /** HTTP 429 with retry_after in seconds. */
  | { readonly kind: 'rate_limited'; readonly retryAfterSeconds: number; readonly global?: boolean }
  | { readonly kind: 'status'; readonly status: number }
  /** Refused with this number. */
  | { readonly kind: 'refused'; readonly code: number; readonly status?: number }
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
  add(route: string, fault: Fault, when?: FaultWhen): void;
  /** The fault of this call, counted. */
  take(route: string): Fault | null;
  clear(): void;
}

export function createFaults(): Faults {
  const planned: { route: string; fault: Fault; skip: number; left: number }[] = [];
  return {
    add: (route, fault, { nth = 1, times = 1 } = {}) => {
      planned.push({ route, fault, skip: nth - 1, left: times });
    },
    take: (route) => {
      for (const plan of planned) {
        if (plan.route !== route || plan.left <= 0) continue;
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
