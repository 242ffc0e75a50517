/** Questions a model asks people, and their answers. */

import { z } from 'zod';

export const questionSchema = z.object({
  /** The full question. */
  question: z.string().min(1),
  /** Short label, at most 12 characters. */
  header: z.string().min(1),
  options: z
    .array(z.object({ label: z.string().min(1), description: z.string() }))
    .min(2)
    .max(4)
    .readonly(),
  multiSelect: z.boolean(),
});
export type Question = Readonly<z.infer<typeof questionSchema>>;

/** Why a run is suspended. Later kinds (approvals, waits) join here. */
export const suspensionSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('questions'),
    questions: z.array(questionSchema).min(1).max(4).readonly(),
  }),
]);
export type Suspension = Readonly<z.infer<typeof suspensionSchema>>;

export const answerSchema = z.object({
  /** Chosen labels; empty when only free text was given. */
  labels: z.array(z.string()).readonly(),
  /** Free text from "Other…" or a typed line. */
  text: z.string().exactOptional(),
  /** Who answered: name and id. */
  by: z.object({ id: z.string(), name: z.string() }),
  /** The typed line that it came from. */
  source: z.object({ eventKey: z.string(), messageId: z.string() }).exactOptional(),
});
export type Answer = Readonly<z.infer<typeof answerSchema>>;
