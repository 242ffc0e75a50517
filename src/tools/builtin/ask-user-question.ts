/** AskUserQuestion: asks the people of the thread with buttons; the run waits for the answer. */

import { z } from 'zod';
import { questionSchema } from '../../messages/questions.ts';
import type { Tool } from '../contract.ts';
import { isRecord, parsedJson } from '../raw-input.ts';

const input = z.strictObject({
  questions: z
    .array(
      z.strictObject({
        question: z.string().min(1).max(400).describe('The full question, at most 400 characters.'),
        header: z.string().min(1).max(12).describe('A label of at most 12 characters.'),
        options: z
          .array(
            z.strictObject({
              label: z.string().min(1).max(80).describe('A few words, at most 80 characters.'),
              description: z
                .string()
                .max(120)
                .default('')
                .describe('What choosing it means, at most 120 characters.'),
            }),
          )
          .min(2)
          .max(4)
          .describe('2 to 4 choices. "Other…" with free text is always added; do not list it.'),
        multiSelect: z.boolean().default(false).describe('May several options be chosen?'),
      }),
    )
    .min(1)
    .max(4),
});

export const askUserQuestionTool: Tool<z.infer<typeof input>> = {
  name: 'AskUserQuestion',
  description:
    'Asks the people in the thread 1 to 4 multiple-choice questions and waits for the answers, however long that takes. Use it when the choice is theirs. Do not ask what you can find out.',
  input,
  category: 'core',
  concurrency: 'never',
  isReadOnly: true,
  needsApproval: false,
  // Models send the questions as JSON text, or one question without the list.
  prepare: (raw) => {
    if (typeof raw !== 'object' || raw === null || !('questions' in raw)) {
      return isRecord(raw) && 'question' in raw ? { questions: [raw] } : raw;
    }
    return typeof raw.questions === 'string' ? { questions: parsedJson(raw.questions) } : raw;
  },
  describe: () => 'Asking a question',
  invoke: async ({ questions }) => ({
    kind: 'suspend',
    suspension: {
      kind: 'questions',
      questions: questions.map((question) => questionSchema.parse(question)),
    },
  }),
};
