/** Settings of the local page. */

import { z } from 'zod';

export const webSettingsSchema = z.strictObject({
  /** False switches the page off. */
  enabled: z.boolean().exactOptional(),
  /** Needed where the server listens beyond this machine: the page opens with ?token=… */
  token: z.string().min(16, 'must have at least 16 characters').exactOptional(),
  /** Addresses besides loopback under which the page may be opened: https://deckhand.example.org */
  origins: z.array(z.url()).readonly().default([]),
});

export type WebSettings = Readonly<z.infer<typeof webSettingsSchema>>;
