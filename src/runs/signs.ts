/** Signs on people's messages: "noted, it waits", taken off when the message enters a run. */

import type { Surface } from '../surface/surface.ts';
import type { Background } from './background.ts';

export interface Signs {
  /** Once a message. */
  putOn(surface: Surface, messageId: string): void;
  /** `surely`: also when it is not known that one is there (an earlier life put it on). */
  takeOff(surface: Surface, messageId: string, surely?: boolean): void;
}

export function createSigns(deps: { readonly background: Background }): Signs {
  const shown = new Set<string>();
  const react = (surface: Surface, messageId: string, on: boolean): void =>
    deps.background.start('waiting_sign', async () => {
      await surface.react(messageId, 'waiting', on);
    });
  return {
    putOn: (surface, messageId) => {
      if (shown.has(messageId)) return;
      shown.add(messageId);
      react(surface, messageId, true);
    },
    takeOff: (surface, messageId, surely = false) => {
      if (!shown.delete(messageId) && !surely) return;
      react(surface, messageId, false);
    },
  };
}
