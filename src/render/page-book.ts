/**
 * The pages of a reply: what is stored of them, and what each is known to show by the platform's
 * word. Stored before and after each post, so that no restart posts anything twice.
 */

import { z } from 'zod';

export const replyPagesSchema = z.object({
  v: z.literal(1),
  pages: z
    .array(
      z.object({
        key: z.string(),
        /** Null: a post was begun and its outcome is not known. */
        messageId: z.string().nullable(),
        postedAt: z.number(),
      }),
    )
    .readonly(),
  /** Posts begun so far; numbers the keys. */
  posts: z.number(),
  /** Pages that are never edited again, and how much of the text they hold. */
  frozenPages: z.number(),
  frozenChars: z.number(),
});
export type ReplyPages = Readonly<z.infer<typeof replyPagesSchema>>;
export type Page = ReplyPages['pages'][number];

export const noPages: ReplyPages = { v: 1, pages: [], posts: 0, frozenPages: 0, frozenChars: 0 };

/** What a page shows: its blocks as JSON, and how much of the text is out with it. */
export interface Shown {
  readonly drawn: string;
  readonly end: number;
}

export interface PageBook {
  readonly stored: ReplyPages;
  /** Undefined: not known (an earlier life, a lost answer). */
  shown(key: string): Shown | undefined;
  show(key: string, shown: Shown | undefined): void;
  /** Earlier pages that cannot be changed any more are left as they are. */
  leave(key: string): void;
  isLeft(key: string): boolean;
  isLast(key: string): boolean;
  page(key: string): Page | undefined;
  /** Stores that a post begins; its key. */
  begin(replyId: string, at: number): Promise<Page>;
  posted(key: string, messageId: string): Promise<void>;
  drop(key: string): Promise<void>;
  /** From here on the text goes to new messages. */
  freeze(end: number): Promise<void>;
}

export function createPageBook(
  first: ReplyPages,
  save: (pages: ReplyPages) => Promise<void>,
): PageBook {
  let stored = first;
  const shown = new Map<string, Shown>();
  const left = new Set<string>();
  const change = async (part: Partial<ReplyPages>): Promise<void> => {
    stored = { ...stored, ...part };
    await save(stored);
  };
  return {
    get stored() {
      return stored;
    },
    shown: (key) => shown.get(key),
    show: (key, what) => {
      if (what) shown.set(key, what);
      else shown.delete(key);
    },
    leave: (key) => {
      left.add(key);
    },
    isLeft: (key) => left.has(key),
    isLast: (key) => stored.pages.at(-1)?.key === key,
    page: (key) => stored.pages.find((page) => page.key === key),
    begin: async (replyId, at) => {
      const posts = stored.posts + 1;
      const page: Page = { key: `${replyId}.${posts}`, messageId: null, postedAt: at };
      await change({ pages: [...stored.pages, page], posts });
      return page;
    },
    posted: (key, messageId) =>
      change({
        pages: stored.pages.map((page) => (page.key === key ? { ...page, messageId } : page)),
      }),
    drop: (key) => change({ pages: stored.pages.filter((page) => page.key !== key) }),
    freeze: (end) => change({ frozenPages: stored.pages.length, frozenChars: end }),
  };
}
