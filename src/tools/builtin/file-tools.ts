/** The tools that read and change one file; they share what was seen and take turns at writing. */

import { createKeyedQueue } from '../../base/queues.ts';
import type { MediaLimits } from '../../messages/settings.ts';
import type { RegisteredTool } from '../contract.ts';
import type { ReadMarks } from '../ports.ts';
import { registerTool } from '../registry.ts';
import { createFileEditTool } from './file-edit.ts';
import { createFileReadTool } from './file-read.ts';
import { createFileWriteTool } from './file-write.ts';

/** FileRead, FileWrite, FileEdit, in this order. */
export function createFileTools(given: {
  readonly readMarks: ReadMarks;
  readonly media: () => MediaLimits;
}): readonly RegisteredTool[] {
  const deps = { ...given, writes: createKeyedQueue() };
  return [
    registerTool(createFileReadTool(deps)),
    registerTool(createFileWriteTool(deps)),
    registerTool(createFileEditTool(deps)),
  ];
}
