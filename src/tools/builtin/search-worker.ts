/** The thread that walks folders and searches files: no pattern that a model writes can hang the bot. */

import { answerTasks } from '../../base/workers/answer.ts';
import { globSearch } from '../files/glob-search.ts';
import { grepSearch } from '../files/grep-search.ts';
import { type SearchAnswer, searchTaskSchema } from '../files/search-task.ts';

answerTasks((raw): SearchAnswer => {
  const task = searchTaskSchema.parse(raw);
  switch (task.kind) {
    case 'glob':
      return globSearch(task);
    case 'grep':
      return grepSearch(task);
  }
});
