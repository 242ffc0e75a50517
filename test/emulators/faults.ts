/** Faults that a test switches on, by method or route: one plan for every emulator. */

export interface FaultWhen {
  /** From now on the nth call (1 is the next); default 1. */
  readonly nth?: number;
  /** How many calls from there; default 1. */
  readonly times?: number;
}

export interface Faults<Fault> {
  add(call: string, fault: Fault, when?: FaultWhen): void;
  /** The fault of this call, counted. */
  take(call: string): Fault | null;
  clear(): void;
}

export function createFaults<Fault>(): Faults<Fault> {
  const planned: { call: string; fault: Fault; skip: number; left: number }[] = [];
  return {
    add: (call, fault, { nth = 1, times = 1 } = {}) => {
      planned.push({ call, fault, skip: nth - 1, left: times });
    },
    take: (call) => {
      for (const plan of planned) {
        if (plan.call !== call || plan.left <= 0) continue;
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
