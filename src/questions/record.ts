/** A question to people as it is stored, and the ids of its controls. */

import { z } from 'zod';
import { conversationSchema } from '../messages/conversation.ts';
import { type Answer, questionSchema } from '../messages/questions.ts';

export const questionRecordSchema = z.object({
  v: z.literal(1),
  id: z.string(),
  conversation: conversationSchema,
  runId: z.string(),
  callId: z.string(),
  questions: z.array(questionSchema).readonly(),
  /** Who triggered the run. */
  asker: z.object({ id: z.string(), name: z.string() }),
  createdAt: z.number(),
  expiresAt: z.number(),
  /** Message of the card; null while its post is under way. */
  cardId: z.string().nullable(),
  /** When the card was sent: lines typed before cannot mean it. Null until it is there. */
  shownAt: z.number().nullable(),
  /** open · closed: no click counts any more. */
  state: z.enum(['open', 'answered', 'expired', 'withdrawn']),
});
export type QuestionRecord = Readonly<z.infer<typeof questionRecordSchema>>;

/** Answers by question, null where one is missing. */
export type Answers = readonly (Answer | null)[];

/** `q_ab12.1.2`: question 1, option 2 of the record (from 0). */
export const optionControlId = (id: string, question: number, option: number): string =>
  `${id}.${question}.${option}`;
export const choiceControlId = (id: string, question: number): string => `${id}.${question}`;
export const otherControlId = (id: string, question: number): string => `form.${id}.${question}`;

export interface ParsedControl {
  readonly id: string;
  readonly question: number;
  /** Null for a choice or a form. */
  readonly option: number | null;
}

/** Undefined when the control is not one of a question card. */
export function parseControlId(controlId: string): ParsedControl | undefined {
  const match = /^(?:form\.)?(q_[0-9a-z]+)\.(\d)(?:\.(\d))?$/u.exec(controlId);
  const [, id, question, option] = match ?? [];
  if (id === undefined || question === undefined) return undefined;
  return { id, question: Number(question), option: option === undefined ? null : Number(option) };
}

/** The first question without an answer; undefined when all are answered. */
export function currentQuestion(answers: Answers): number | undefined {
  const index = answers.indexOf(null);
  return index === -1 ? undefined : index;
}
