/** A reply on a faked platform, by a fake clock. */

import { createRedactor } from '../../src/base/redaction.ts';
import { watchedSurface } from '../../src/render/pacing/paced-surface.ts';
import { createPacer } from '../../src/render/pacing/pacer.ts';
import { noPages, type ReplyPages } from '../../src/render/page-book.ts';
import { createReply, type Reply, type ReplyOptions } from '../../src/render/reply.ts';
import { createFakeAdapter, type FakeAdapter } from './fake-adapter.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createKeptLog } from './log.ts';

export interface ReplyStage {
  readonly clock: FakeClock;
  readonly adapter: FakeAdapter;
  readonly reply: Reply;
  pages: ReplyPages;
  readonly text: (text: string) => void;
}

export interface ReplyStageOptions {
  readonly pages?: ReplyPages;
  readonly steps?: readonly string[];
  readonly adapter?: FakeAdapter;
  readonly clock?: FakeClock;
  readonly most?: number;
  readonly streams?: boolean;
  readonly secrets?: readonly { readonly name: string; readonly value: string }[];
  readonly options?: Partial<ReplyOptions>;
}

export function setUpReply(given: ReplyStageOptions = {}): ReplyStage {
  const clock = given.clock ?? createFakeClock();
  const adapter =
    given.adapter ??
    createFakeAdapter({
      mostMessageLength: given.most ?? 2000,
      ...(given.streams === true ? { streamsAt: () => clock.now() } : {}),
    });
  const conversation = { adapter: 'web', space: 'local', channel: 'c', thread: 't' };
  const pacer = createPacer({ clock }, adapter.capabilities.budgets);
  const stage: ReplyStage = {
    clock,
    adapter,
    pages: given.pages ?? noPages,
    text: (text) => reply.apply({ kind: 'text_delta', text }),
    reply: undefined as never,
  };
  const reply = createReply(
    {
      clock,
      log: createKeptLog(),
      surface: watchedSurface(adapter.surfaceOf(conversation), pacer, conversation),
      capabilities: adapter.capabilities,
      pacer,
      redactor: createRedactor(given.secrets ?? []),
      savePages: async (pages) => {
        stage.pages = pages;
      },
    },
    {
      replyId: 'r.1',
      conversation,
      pages: stage.pages,
      steps: (given.steps ?? []).map((text) => ({ text, goesOn: false })),
      mentionable: [],
      ...given.options,
    },
  );
  return Object.assign(stage, { reply });
}

/** Ends the reply, and lets time pass until it can be read. */
export async function endReply(stage: ReplyStage, notice?: string): Promise<void> {
  const done = stage.reply.finish(notice === undefined ? {} : { notices: [notice] });
  await stage.clock.advance(10 * 60_000);
  await done;
}

/** Model text of all messages, as read in order. */
export function readReply(adapter: FakeAdapter): string {
  return adapter.texts('t').join('|');
}
