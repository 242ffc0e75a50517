/** People and bots as they appear in messages. Rights are matched by id only, never by name. */

import { z } from 'zod';

export const authorSchema = z.object({
  /** `slack:U024…`, `discord:8035…`, `web:local`: adapter and the platform's immutable id. */
  id: z.string().min(3),
  /** Display name at the time; for showing only. */
  name: z.string(),
  isBot: z.boolean(),
  /** member of this space · guest (restricted account) · external (of another space). */
  standing: z.enum(['member', 'guest', 'external']),
  /** Discord role ids, `discord:ROLE`; empty elsewhere. */
  roles: z.array(z.string()).readonly(),
});

export type Author = Readonly<z.infer<typeof authorSchema>>;
export type PersonId = string;

/** A person whose `@Name` in the model's text may be drawn as a real mention. */
export interface Mentionable {
  readonly id: PersonId;
  readonly name: string;
}
