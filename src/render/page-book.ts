/**
 * The pages of a reply: what is stored of them, and what each is known to show by the platform's
 * word. Stored before and after each post, so that no restart posts anything twice.
 *
 * A page that is full is frozen: later text never changes it. Only the text behind the frozen pages
 * is drawn again.
 */

import { z } from 'zod';

const beginningSchema = z.object({
  /** How much of the text is out with this page and those before it. */
  end: z.number(),
  /** What the next page begins with besides the text: an open fence, a table's head. */
  prefix: z.string(),
});
export type Beginning = Readonly<z.infer<typeof beginningSchema>>;

export const replyPagesSchema = z.object({
  v: z.literal(1),
  pages: z
    .array(
      z.object({
        key: z.string(),
        /** Null: a post was begun and its outcome is not known. */
        messageId: z.string().nullable(),
        postedAt: z.number(),
        frozen: beginningSchema.nullable(),
        /** It was begun as a platform's own stream, which is not known to have ended. */
        streams: z.boolean().exactOptional(),
      }),
    )
    .readonly(),
  /** Posts begun so far; numbers the keys. */
  posts: z.number(),
});
export type ReplyPages = Readonly<z.infer<typeof replyPagesSchema>>;
export type Page = ReplyPages['pages'][number];

export const noPages: ReplyPages = { v: 1, pages: [], posts: 0 };

/** What a page shows: its blocks as JSON, and where the text goes on that it does not show. */
export interface Shown {
  readonly drawn: string;
  readonly goesOn: () => Beginning;
}

export interface PageBook {
  readonly pages: readonly Page[];
  /** The pages that are not frozen, in order. */
  readonly open: readonly Page[];
  /** Where the text of the open pages begins. */
  readonly start: Beginning;
  /** Undefined: not known (an earlier life, a lost answer). */
  shown(key: string): Shown | undefined;
  show(key: string, shown: Shown | undefined): void;
  /** This page and those behind it must go: their text is posted anew. */
  discardFrom(key: string): void;
  /** The last page, when it must go. */
  readonly discarded: Page | undefined;
  isLast(key: string): boolean;
  page(key: string): Page | undefined;
  /** Stores that a post begins. */
  begin(replyId: string, at: number, options?: { readonly streams: boolean }): Promise<Page>;
  posted(key: string, messageId: string): Promise<void>;
  /** It can be edited from here on. */
  streamEnded(key: string): Promise<void>;
  drop(key: string): Promise<void>;
  /** Freezes open pages from the first on, one for each given end. */
  freeze(ends: readonly Beginning[]): Promise<void>;
  /** Opens frozen pages again that hold more than this much of the text. */
  thaw(most: number): Promise<void>;
}

const beginning: Beginning = { end: 0, prefix: '' };

export function createPageBook(
  first: ReplyPages,
  save: (pages: ReplyPages) => Promise<void>,
): PageBook {
  let stored = first;
  const shown = new Map<string, Shown>();
  const gone = new Set<string>();
  const change = async (part: Partial<ReplyPages>): Promise<void> => {
    stored = { ...stored, ...part };
    await save(stored);
  };
  const frozenCount = (): number => {
    const open = stored.pages.findIndex(({ frozen }) => frozen === null);
    return open === -1 ? stored.pages.length : open;
  };
  return {
    get pages() {
      return stored.pages;
    },
    get open() {
      return stored.pages.slice(frozenCount());
    },
    get start() {
      return stored.pages[frozenCount() - 1]?.frozen ?? beginning;
    },
    shown: (key) => shown.get(key),
    show: (key, what) => {
      if (what) shown.set(key, what);
      else shown.delete(key);
    },
    discardFrom: (key) => {
      const from = stored.pages.findIndex((page) => page.key === key);
      if (from === -1) return;
      for (const page of stored.pages.slice(from)) gone.add(page.key);
    },
    get discarded() {
      const last = stored.pages.at(-1);
      return last && gone.has(last.key) ? last : undefined;
    },
    isLast: (key) => stored.pages.at(-1)?.key === key,
    page: (key) => stored.pages.find((page) => page.key === key),
    begin: async (replyId, at, { streams = false } = { streams: false }) => {
      const posts = stored.posts + 1;
      const page: Page = {
        key: `${replyId}.${posts}`,
        messageId: null,
        postedAt: at,
        frozen: null,
        ...(streams ? { streams } : {}),
      };
      await change({ pages: [...stored.pages, page], posts });
      return page;
    },
    posted: (key, messageId) =>
      change({
        pages: stored.pages.map((page) => (page.key === key ? { ...page, messageId } : page)),
      }),
    streamEnded: (key) =>
      change({
        pages: stored.pages.map((page) => {
          if (page.key !== key) return page;
          const { streams: _over, ...rest } = page;
          return rest;
        }),
      }),
    drop: (key) => change({ pages: stored.pages.filter((page) => page.key !== key) }),
    freeze: (ends) => {
      const from = frozenCount();
      return change({
        pages: stored.pages.map((page, index) => ({
          ...page,
          frozen: ends[index - from] ?? page.frozen,
        })),
      });
    },
    thaw: (most) =>
      change({
        pages: stored.pages.map((page) => ({
          ...page,
          frozen: page.frozen && page.frozen.end <= most ? page.frozen : null,
        })),
      }),
  };
}
