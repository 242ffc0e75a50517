/**
 * A change of one file, planned in full before it is made: permissions judge the plan, people see
 * its diff, and the same plan, made anew at the moment of writing, is what is written.
 */

import type { KeyedQueue } from '../../base/queues.ts';
import type { Assessment, Preview, ToolContext, ToolOutcome, ToolScene } from '../contract.ts';
import { type ResolvedPath, resolveForWriting } from '../paths.ts';
import type { ReadMarks } from '../ports.ts';
import { textOutcome } from '../text-result.ts';
import { diffOf } from './differences.ts';
import { assessChange } from './judgement.ts';
import { markSeen, sightOf } from './marks.ts';
import { readContent } from './open-file.ts';
import { writeAtomically } from './write-file.ts';

export interface ChangeDeps {
  readonly readMarks: ReadMarks;
  /** By real path: changes of one file follow one another. */
  readonly writes: KeyedQueue;
}

export type Change =
  /** Why it cannot be made, for the model. */
  | { readonly kind: 'fault'; readonly text: string }
  | {
      readonly kind: 'change';
      /** Undefined: the file is new. */
      readonly before: string | undefined;
      readonly after: string;
      readonly bytes: Buffer;
      /** Permission bits. */
      readonly mode: number;
      /** What the diff of the texts does not show, as a sentence. */
      readonly note?: string;
      /** For the model, once it is made; has the diff at hand. */
      readonly report: (diff: string) => string;
    };

/** What stands where a change is to be made. */
export type Present =
  | { readonly kind: 'fault'; readonly text: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'seen'; readonly content: Buffer; readonly mode: number };

/** Makes the plan from what is there; runs also for judging and showing. */
export type PlanOf<Input> = (file: ResolvedPath, present: Present, asked: Input) => Promise<Change>;

interface ChangingTool<Input> {
  assess(asked: Input, scene: ToolScene): Promise<Assessment>;
  preview(asked: Input, scene: ToolScene): Promise<Preview>;
  invoke(asked: Input, context: ToolContext): Promise<ToolOutcome>;
}

export function changingTool<Input extends { readonly path: string }>(
  { readMarks, writes }: ChangeDeps,
  planOf: PlanOf<Input>,
): ChangingTool<Input> {
  const plan = async (file: ResolvedPath, asked: Input, scene: ToolScene): Promise<Change> =>
    planOf(file, await presentAt(readMarks, scene, file), asked);
  return {
    assess: (asked, scene) => {
      const resolve = (): Promise<ResolvedPath> => resolveForWriting(scene.workspace, asked.path);
      return assessChange(asked.path, resolve, async () => {
        const change = await plan(await resolve(), asked, scene);
        return change.kind === 'fault' ? change.text : undefined;
      });
    },
    preview: async (asked, scene) => {
      const file = await resolveForWriting(scene.workspace, asked.path);
      const change = await plan(file, asked, scene);
      if (change.kind === 'fault') return { language: 'text', text: change.text };
      const diff = diffOf(file.canonical, change.before, change.after);
      const shown = diff === '' ? emptyDiff(file, change.before) : diff;
      const note = change.note === undefined ? '' : `\n(${change.note})`;
      return { language: 'diff', text: shown + note };
    },
    invoke: async (asked, context) => {
      const { real } = await resolveForWriting(context.workspace, asked.path);
      return writes.run(real, async () => {
        const file = await resolveForWriting(context.workspace, asked.path);
        const change = await plan(file, asked, context);
        if (change.kind === 'fault') return { kind: 'error', text: change.text };
        const { mode, bytes } = change;
        const { signal, workspace } = context;
        const written = await writeAtomically(workspace, asked.path, bytes, { mode, signal });
        await markSeen(readMarks, context, written, bytes);
        return textOutcome(change.report(diffOf(file.canonical, change.before, change.after)));
      });
    },
  };
}

async function presentAt(
  readMarks: ReadMarks,
  scene: ToolScene,
  file: ResolvedPath,
): Promise<Present> {
  const { shown } = file;
  const fault = (text: string): Present => ({ kind: 'fault', text });
  const opened = await readContent(file);
  switch (opened.kind) {
    case 'missing':
      return opened;
    case 'folder':
      return fault(`${shown} is a folder. Choose a file name.`);
    case 'special':
      return fault(`${shown} ${opened.what}, no ordinary file. Choose another path.`);
    case 'too_large':
      return fault(
        `${shown} is too large to be read (${opened.bytes} bytes, at most ${opened.mostBytes}), so it is not changed. Choose another path.`,
      );
    case 'read':
      break;
  }
  switch (await sightOf(readMarks, scene, file, opened.content)) {
    case 'unseen':
      return fault(
        `${shown} exists and was not read in this conversation. FileRead it first, so that nothing is lost that you have not seen.`,
      );
    case 'changed':
      return fault(
        `${shown} was changed since it was last read in this conversation. FileRead it again, then make your change to what it is now.`,
      );
    case 'seen':
      return { kind: 'seen', content: opened.content, mode: opened.mode };
  }
}

/** A diff has no words for a new file without content. */
function emptyDiff({ canonical }: ResolvedPath, before: string | undefined): string {
  return before === undefined
    ? `--- /dev/null\n+++ ${canonical}\n(an empty file)`
    : `--- ${canonical}\n+++ ${canonical}\n(no change of its text)`;
}
