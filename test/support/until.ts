/** Waiting for what real sockets and processes do: a condition with a deadline, never a fixed sleep. */

import { setTimeout as wait } from 'node:timers/promises';

/** Resolves once `holds` is true; a throw counts as not yet. Rejects after `mostMs`. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  mostMs = 10_000,
): Promise<void> {
  const end = Date.now() + mostMs;
  let last: unknown;
  while (Date.now() < end) {
    try {
      if (await holds()) return;
    } catch (error) {
      last = error;
    }
    await wait(10);
  }
  throw new Error(`It did not become true within ${mostMs} ms.`, { cause: last });
}
