/** The built-in tools, in the stable order in which models see them. */

import type { RegisteredTool } from '../contract.ts';
import type { ReadMarks } from '../ports.ts';
import { registerTool } from '../registry.ts';
import { askUserQuestionTool } from './ask-user-question.ts';
import { createFileTools } from './file-tools.ts';
import { createGlobTool } from './glob.ts';
import { createGrepTool } from './grep.ts';
import type { Searches } from './searches.ts';
import { staySilentTool } from './stay-silent.ts';

export interface BuiltinDeps {
  readonly readMarks: ReadMarks;
  /** Closed by whoever made it. */
  readonly searches: Searches;
}

export function builtinTools({ readMarks, searches }: BuiltinDeps): readonly RegisteredTool[] {
  return [
    ...createFileTools({ readMarks }),
    registerTool(createGlobTool(searches)),
    registerTool(createGrepTool(searches)),
    registerTool(askUserQuestionTool),
    registerTool(staySilentTool),
  ];
}
