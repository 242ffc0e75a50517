/** The page's server as a browser uses it, without the browser. */

import { z } from 'zod';
import { until } from './until.ts';

const pageMessageSchema = z.looseObject({
  id: z.string(),
  channel: z.string(),
  thread: z.string().nullable(),
  author: z.enum(['person', 'bot']),
  isPrivate: z.boolean(),
  blocks: z.array(z.looseObject({ kind: z.string() })),
  /** Known people, whose `@Name` is marked. */
  mentionable: z.array(z.object({ id: z.string(), name: z.string() })),
  reactions: z.array(z.string()),
  files: z.array(z.object({ id: z.string(), name: z.string(), comment: z.string() })),
});
const stateSchema = z.object({
  channels: z.array(z.object({ id: z.string(), name: z.string() })),
  messages: z.array(pageMessageSchema),
  working: z.array(z.string()),
});
export type PageState = z.infer<typeof stateSchema>;

export interface PageClient {
  state(): Promise<PageState>;
  post(path: string, body: unknown): Promise<number>;
  /** What a click on a file's link saves. */
  file(id: string): Promise<Uint8Array>;
  /** Says something in #general, at top level or in a thread; its id, empty when it was refused. */
  say(thread: string | null, text: string): Promise<string>;
  /** Says something in #general and returns its id, the thread of the answer. */
  mention(text: string): Promise<string>;
  reply(thread: string, text: string): Promise<void>;
  /** Texts of the bot's messages in a thread, controls as [label]; private lines left out. */
  answers(thread: string): Promise<readonly string[]>;
  /** Until the thread's answers are so, and the bot works there no more. */
  untilAnswers(
    thread: string,
    isSo: (answers: readonly string[]) => boolean,
    mostMs?: number,
  ): Promise<readonly string[]>;
  /** Presses the button with this label in a thread. */
  press(thread: string, label: string): Promise<void>;
  /** The first button of the newest card whose label begins so, held; a text is what its form was filled with. */
  reach(thread: string, label: string): Promise<(text?: string) => Promise<void>>;
  /** Files of a thread, each with the number of the answer that it comes with. */
  files(thread: string): Promise<readonly { name: string; text: string; answer: number }[]>;
  /** Lines that only the reader sees. */
  privateLines(): Promise<readonly string[]>;
}

export function createPageClient(address: string): PageClient {
  const { origin } = new URL(address);
  const headers = { origin, 'content-type': 'application/json' };
  const state = async (): Promise<PageState> =>
    stateSchema.parse(await (await fetch(`${origin}/api/state`, { headers })).json());
  const post = async (path: string, body: unknown): Promise<number> =>
    (await fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }))
      .status;
  const general = async (): Promise<string> =>
    (await state()).channels.find(({ name }) => name === 'general')?.id ?? '';
  const inThread = (all: PageState, thread: string): PageState['messages'] =>
    all.messages.filter(
      (message) => message.thread === thread && message.author === 'bot' && !message.isPrivate,
    );
  const answers = async (thread: string): Promise<readonly string[]> =>
    inThread(await state(), thread).map(textOfPageMessage);
  const fileNamed = async (id: string): Promise<Uint8Array> => {
    const answer = await fetch(`${origin}/files/${id}/x`, { headers });
    if (!answer.ok) throw new Error(`The file was answered with ${answer.status}.`);
    return new Uint8Array(await answer.arrayBuffer());
  };
  const say = async (thread: string | null, text: string): Promise<string> => {
    const before = new Set((await state()).messages.map(({ id }) => id));
    await post('/api/messages', { channel: await general(), thread, text });
    const own = (await state()).messages.filter(
      (message) => message.author === 'person' && !before.has(message.id),
    );
    return own.at(-1)?.id ?? '';
  };

  return {
    state,
    post,
    file: fileNamed,
    answers,
    say,
    mention: (text) => say(null, text),
    reply: async (thread, text) => {
      await say(thread, text);
    },
    reach: async (thread, label) => {
      const found = inThread(await state(), thread)
        .toReversed()
        .flatMap(({ id, blocks }) =>
          blocks.flatMap(buttonsOf).map((button) => ({ ...button, messageId: id })),
        )
        .find((button) => button.label.startsWith(label));
      if (!found) throw new Error(`no button ${label}`);
      const { messageId, controlId, values } = found;
      return async (text) => {
        await post('/api/presses', { messageId, controlId, values, ...(text ? { text } : {}) });
      };
    },
    files: async (thread) => {
      const shown = inThread(await state(), thread).flatMap(({ files }, answer) =>
        files.map(({ id, name }) => ({ id, name, answer })),
      );
      return Promise.all(
        shown.map(async ({ id, name, answer }) => ({
          name,
          text: Buffer.from(await fileNamed(id)).toString(),
          answer,
        })),
      );
    },
    privateLines: async () =>
      (await state()).messages.filter(({ isPrivate }) => isPrivate).map(textOfPageMessage),
    untilAnswers: async (thread, isSo, mostMs) => {
      let last: readonly string[] = [];
      await until(async () => {
        last = await answers(thread);
        return isSo(last) && !(await state()).working.includes(thread);
      }, mostMs).catch((thrown: unknown) => {
        throw new Error(`the answers stayed ${JSON.stringify(last)}`, { cause: thrown });
      });
      return last;
    },
    press: async (thread, label) => {
      for (const message of inThread(await state(), thread)) {
        for (const block of message.blocks) {
          const found = buttonsOf(block).find((button) => button.label === label);
          if (!found) continue;
          const { controlId, values } = found;
          await post('/api/presses', { messageId: message.id, controlId, values });
        }
      }
    },
  };
}

const buttonsSchema = z.object({
  buttons: z.array(z.object({ controlId: z.string(), label: z.string() })),
});
const thumbsSchema = z.object({
  controlId: z.string(),
  thumbs: z.array(z.object({ label: z.string(), value: z.string() })),
});

interface PageButton {
  readonly controlId: string;
  readonly label: string;
  readonly values: readonly string[];
}

/** The buttons of a block, thumbs among them. */
export function buttonsOf(block: object): readonly PageButton[] {
  const buttons = buttonsSchema.safeParse(block).data?.buttons ?? [];
  const { controlId = '', thumbs = [] } = thumbsSchema.safeParse(block).data ?? {};
  return [
    ...buttons.map((button) => ({ ...button, values: [] })),
    ...thumbs.map(({ label, value }) => ({ controlId, label, values: [value] })),
  ];
}

interface TreeNode {
  readonly type?: string | undefined;
  readonly value?: string | undefined;
  readonly text?: string | undefined;
  readonly tree?: TreeNode | undefined;
  readonly children?: readonly TreeNode[] | undefined;
}
const nodeSchema: z.ZodType<TreeNode> = z.lazy(() =>
  z.looseObject({
    type: z.string().optional(),
    value: z.string().optional(),
    text: z.string().optional(),
    tree: nodeSchema.optional(),
    children: z.array(nodeSchema).optional(),
  }),
);

export function textOfPageMessage({ blocks, files }: z.infer<typeof pageMessageSchema>): string {
  return [...blocks.map(textOf), ...files.map(({ comment }) => comment)].join('\n');
}

/** The words of a block: of its Markdown tree, or of its plain text and buttons. */
function textOf(block: object): string {
  const buttons = buttonsOf(block).map(({ label }) => `[${label}]`);
  return [wordsOf(nodeSchema.parse(block)), ...buttons].filter((text) => text !== '').join(' ');
}

/** The words of a message but what stands in code: where the page looks for mentions. */
export function wordsOutsideCode({ blocks }: z.infer<typeof pageMessageSchema>): string {
  const isWords = ({ type }: TreeNode): boolean => type !== 'code' && type !== 'inlineCode';
  return blocks.map((block) => wordsOf(nodeSchema.parse(block), isWords)).join('\n');
}

function wordsOf(node: TreeNode, counts: (node: TreeNode) => boolean = () => true): string {
  if (!counts(node)) return '';
  const words = (inner: TreeNode): string => wordsOf(inner, counts);
  const inner = (node.children ?? []).map(words).join(node.type === 'root' ? '\n' : '');
  return (node.value ?? node.text ?? '') + inner + (node.tree ? words(node.tree) : '');
}
