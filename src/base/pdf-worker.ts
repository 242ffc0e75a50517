/** In a thread of its own: opens a PDF, counts its pages and reads the beginning of its text. */

import { z } from 'zod';
import { openPdf, pageTexts } from './pdf-pages.ts';
import { answerTasks } from './workers/answer.ts';

const taskSchema = z.object({
  content: z.instanceof(Uint8Array),
  /** Of a longer one no text is read. */
  mostPages: z.number(),
  mostTextChars: z.number(),
});
type Task = z.infer<typeof taskSchema>;

async function inspect({ content, mostPages, mostTextChars }: Task) {
  try {
    const pdf = await openPdf(content);
    const pages = pdf.numPages;
    const text = pages > mostPages ? '' : await beginning(pageTexts(pdf), mostTextChars);
    return { kind: 'read', pages, text };
  } catch (thrown) {
    const isLocked = thrown instanceof Error && thrown.name === 'PasswordException';
    return { kind: isLocked ? 'locked' : 'broken' };
  }
}

/** Whole pages as long as they fit, and the beginning of the next one. */
async function beginning(pages: AsyncIterable<string>, mostChars: number): Promise<string> {
  let text = '';
  try {
    for await (const page of pages) {
      text += text === '' ? page : `\n\n${page}`;
      if (text.length > mostChars) break;
    }
  } catch {
    // A page that cannot be read ends the text; to look at, it may still be good.
  }
  return text;
}

answerTasks((task) => inspect(taskSchema.parse(task)));
