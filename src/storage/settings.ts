/** Settings of the store. */

import { z } from 'zod';

export const storageSettingsSchema = z.strictObject({
  /** `sqlite:PATH`, `memory:`, `redis://…` or `postgres://…`. */
  url: z.string().min(1).default('sqlite:./data/deckhand.db'),
});
