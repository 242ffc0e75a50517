/** The built-in tools, in the stable order in which models see them. */

import type { RegisteredTool } from '../contract.ts';
import { registerTool } from '../registry.ts';
import { askUserQuestionTool } from './ask-user-question.ts';
import { fileReadTool } from './file-read.ts';
import { fileWriteTool } from './file-write.ts';
import { globTool } from './glob.ts';
import { grepTool } from './grep.ts';
import { staySilentTool } from './stay-silent.ts';

export const builtinTools: readonly RegisteredTool[] = [
  registerTool(fileReadTool),
  registerTool(fileWriteTool),
  registerTool(globTool),
  registerTool(grepTool),
  registerTool(askUserQuestionTool),
  registerTool(staySilentTool),
];
