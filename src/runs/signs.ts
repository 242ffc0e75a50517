/** Signs on people's messages: "noted, it waits", taken off when the message enters a run. */

import type { Surface } from '../surface/surface.ts';
import type { Background } from './background.ts';

export interface Signs {
  putOn(surface: Surface, messageId: string): void;
  takeOff(surface: Surface, messageId: string): void;
}

export function createSigns(deps: { readonly background: Background }): Signs {
  const shown = new Set<string>();
  return {
    putOn: (surface, messageId) => {
      shown.add(messageId);
      deps.background.start('waiting_sign', () => surface.react(messageId, 'waiting', true));
    },
    takeOff: (surface, messageId) => {
      if (!shown.delete(messageId)) return;
      deps.background.start('waiting_sign', () => surface.react(messageId, 'waiting', false));
    },
  };
}
