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

/** A tool call that people are asked to approve: what they are shown, and what they approve. */
export const approvalAskSchema = z.object({
  callId: z.string(),
  tool: z.string(),
  /** Hash of tool and exact input: an approval is good for nothing else. */
  inputHash: z.string(),
  /** One line: "Running `make deploy`". */
  title: z.string(),
  /** All that will happen. */
  preview: z.object({ language: z.string(), text: z.string() }),
  /** A clause: "`make` is not known as a command that only reads". */
  why: z.string(),
  /** What "for this thread" would cover; absent where only the one call can be approved. */
  grant: z.object({ pattern: z.string(), toolHash: z.string() }).exactOptional(),
});
export type ApprovalAsk = Readonly<z.infer<typeof approvalAskSchema>>;

/** Why a run is suspended. */
export const suspensionSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('questions'),
    questions: z.array(questionSchema).min(1).max(4).readonly(),
  }),
  /** Tool calls of one step, in the model's order. */
  z.object({
    kind: z.literal('approvals'),
    asks: z.array(approvalAskSchema).min(1).readonly(),
  }),
  /** The model's plan: until it is approved only what reads may run. */
  z.object({ kind: z.literal('plan'), plan: z.string().min(1) }),
  /** Nothing to do before this time, in milliseconds since the epoch. */
  z.object({ kind: z.literal('wait'), untilMs: z.number() }),
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
