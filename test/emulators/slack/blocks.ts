/**
 * What Slack accepts as blocks and views. Limits: https://docs.slack.dev/reference/block-kit/blocks
 * and https://docs.slack.dev/surfaces/modals.
 */

import { z } from 'zod';
import type { Json } from './model.ts';

/** An answer `ok: false`. */
export class Refusal extends Error {
  readonly word: string;
  constructor(word: string) {
    super(word);
    this.name = 'Refusal';
    this.word = word;
  }
}

const noLoneSurrogate = (text: string): boolean => !/\p{Surrogate}/u.test(text);
const text = (most: number): z.ZodString =>
  z.string().min(1).max(most).refine(noLoneSurrogate, 'a lone surrogate');
const plainText = (most: number) =>
  z.object({ type: z.literal('plain_text'), text: text(most), emoji: z.boolean().optional() });
const anyText = (most: number) =>
  z.object({
    type: z.enum(['plain_text', 'mrkdwn']),
    text: text(most),
    verbatim: z.boolean().optional(),
    emoji: z.boolean().optional(),
  });
const actionId = z.string().min(1).max(255);
const option = z.strictObject({ text: anyText(75), value: text(150) });

const element = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('button'),
    action_id: actionId,
    text: plainText(75),
    style: z.enum(['primary', 'danger']).optional(),
    value: z.string().max(2_000).optional(),
  }),
  z.strictObject({
    type: z.literal('checkboxes'),
    action_id: actionId,
    options: z.array(option).min(1).max(10),
  }),
]);

const thumb = z.strictObject({
  text: plainText(75),
  accessibility_label: text(75).optional(),
  value: z.string().min(1).max(2_000),
});
const feedbackElement = z.strictObject({
  type: z.literal('feedback_buttons'),
  action_id: actionId,
  positive_button: thumb,
  negative_button: thumb,
});

const block = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('markdown'), text: text(100_000) }),
  z.strictObject({ type: z.literal('section'), text: anyText(3_000) }),
  z.strictObject({ type: z.literal('context'), elements: z.array(anyText(3_000)).min(1).max(10) }),
  z.strictObject({ type: z.literal('actions'), elements: z.array(element).min(1).max(25) }),
  // https://docs.slack.dev/reference/block-kit/blocks/context-actions-block
  z.strictObject({
    type: z.literal('context_actions'),
    elements: z.array(feedbackElement).min(1).max(5),
  }),
  z.strictObject({ type: z.literal('divider') }),
]);
export type KnownBlock = z.infer<typeof block>;

const blocksSchema = z.array(block).max(50);

/** Markdown of all blocks together, in UTF-16 units. */
const mostMarkdown = 12_000;

/** The blocks, or the refusal that Slack gives. */
export function checkedBlocks(raw: unknown): readonly Json[] {
  const parsed = blocksSchema.safeParse(raw);
  if (!parsed.success) throw new Refusal('invalid_blocks');
  let markdown = 0;
  const actionIds = new Set<string>();
  for (const one of parsed.data) {
    if (one.type === 'markdown') markdown += one.text.length;
    if (one.type !== 'actions' && one.type !== 'context_actions') continue;
    for (const { action_id: id } of one.elements) {
      if (actionIds.has(id)) throw new Refusal('invalid_blocks');
      actionIds.add(id);
    }
  }
  if (markdown > mostMarkdown) throw new Refusal('msg_blocks_too_long');
  return parsed.data;
}

/** Stored blocks, typed again. */
export function knownBlocks(blocks: readonly Json[]): readonly KnownBlock[] {
  return blocksSchema.parse(blocks);
}

const viewSchema = z.strictObject({
  type: z.literal('modal'),
  callback_id: z.string().max(255),
  title: plainText(24),
  submit: plainText(24),
  close: plainText(24),
  private_metadata: z.string().max(3_000),
  blocks: z
    .array(
      z.strictObject({
        type: z.literal('input'),
        block_id: z.string().max(255),
        label: plainText(2_000),
        element: z.strictObject({
          type: z.literal('plain_text_input'),
          action_id: actionId,
          multiline: z.boolean(),
          max_length: z.number().min(1).max(3_000),
        }),
      }),
    )
    .min(1)
    .max(100),
});
export type KnownView = z.infer<typeof viewSchema>;

export function checkedView(raw: unknown): KnownView {
  const parsed = viewSchema.safeParse(raw);
  if (!parsed.success) throw new Refusal('invalid_arguments');
  return parsed.data;
}
