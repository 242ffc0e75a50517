/** The platform's own sign that the bot is at work. */

import type { Clock } from '../base/clock.ts';
import type { Capabilities, Surface } from '../surface/surface.ts';

export interface StatusDeps {
  readonly surface: Surface;
  readonly clock: Clock;
  readonly capabilities: Capabilities;
}

/** Shows "working" and repeats it as the platform needs; the returned function takes it away. */
export function keepStatus({ surface, clock, capabilities }: StatusDeps): () => void {
  let cancel = (): void => {};
  const show = (): void => {
    void surface.status('working');
    cancel = clock.setTimer(capabilities.statusEveryMs, show);
  };
  show();
  let isShown = true;
  return () => {
    cancel();
    if (isShown) void surface.status('idle');
    isShown = false;
  };
}
