/**
 * Who a process is, well enough to tell later whether that very process still runs. A pid alone is
 * not: it is given out again, and means another process in another container or after a reboot.
 */

import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';

export const processIdentitySchema = z.object({
  pid: z.number(),
  host: z.string(),
  /** Boot and pid namespace: pids compare only where this is equal. Empty where unknown. */
  machine: z.string(),
  /** When the kernel started the process, in its own ticks. Empty where unknown. */
  started: z.string(),
});

export type ProcessIdentity = Readonly<z.infer<typeof processIdentitySchema>>;

export interface Processes {
  readonly self: ProcessIdentity;
  /** `unknown`: it ran elsewhere, or this system does not tell. */
  stateOf(identity: ProcessIdentity): 'running' | 'gone' | 'unknown';
}

/** Processes of this machine. On Linux by /proc; elsewhere only a pid that is free is told. */
export function createProcesses(pid: number): Processes {
  const host = hostname();
  const machine = machineOf();
  const self = { pid, host, machine, started: startedOf(pid) ?? '' };
  return {
    self,
    stateOf: (identity) => {
      if (identity.host !== host || identity.machine !== machine) return 'unknown';
      if (!isRunning(identity.pid)) return 'gone';
      const started = startedOf(identity.pid);
      if (started === undefined || identity.started === '') return 'unknown';
      return started === identity.started ? 'running' : 'gone';
    },
  };
}

function machineOf(): string {
  const boot = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  const namespace = attempt(() => readlinkSync('/proc/self/ns/pid'));
  return boot === undefined || namespace === undefined ? '' : `${boot} ${namespace}`;
}

/** Field 22 of /proc/PID/stat (proc(5)); the name before it may hold spaces and brackets. */
function startedOf(pid: number): string | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Undefined where the system has no such file. */
function attempt(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
