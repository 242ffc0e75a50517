/**
 * What people are shown. A message is a list of blocks; adapters draw them for their platform.
 * Texts have passed the secrets filter; neutralising mentions and staying inside the platform's
 * form is the adapter's part (rule 14).
 */

import type { Mentionable } from '../messages/people.ts';

export type Block =
  /** The model's words, or a card's: standard Markdown (GFM). */
  | { readonly kind: 'markdown'; readonly text: string }
  /** One plain line on what is being done now; drawn small. Plain text with `code` spans. */
  | { readonly kind: 'activity'; readonly text: string }
  /** One line of the bot's own; drawn apart from the model's words. Markdown. */
  | { readonly kind: 'notice'; readonly text: string }
  | { readonly kind: 'buttons'; readonly buttons: readonly Button[] }
  /** Several options of which some are chosen, then sent. */
  | {
      readonly kind: 'choice';
      readonly controlId: string;
      readonly options: readonly ChoiceOption[];
      readonly submitLabel: string;
    }
  /** Two thumbs. A click carries the control's id, and `good` or `bad` as its value. */
  | { readonly kind: 'feedback'; readonly controlId: string };

export interface Button {
  /** At most 100 characters of [a-z0-9_.-]; unique in the message. `form.<id>` opens a form with
   * one text field: its title is the button's label, its field's label the start of the card's
   * text. */
  readonly controlId: string;
  /** At most 75 UTF-16 units. */
  readonly label: string;
  readonly style: 'primary' | 'danger' | 'plain';
}

/** What a thumb says, in the order in which they stand. */
export const thumbs = [
  { value: 'good', label: '👍', meaning: 'Good answer' },
  { value: 'bad', label: '👎', meaning: 'Bad answer' },
] as const;

export interface ChoiceOption {
  readonly value: string;
  /** At most 75 UTF-16 units. */
  readonly label: string;
}

export interface OutboundMessage {
  readonly blocks: readonly Block[];
  /** Known people of the conversation: only their `@Name` is drawn as a mention that notifies. */
  readonly mentionable: readonly Mentionable[];
}

export interface OutboundFile {
  /** With its extension; people see it. */
  readonly name: string;
  readonly content: Uint8Array;
  /** One line under it. Plain text. */
  readonly comment?: string;
  /** The name was made for this post alone: an own message with a file of this name is this post. */
  readonly isNameUnique?: boolean;
}

export interface PostedMessage {
  readonly messageId: string;
}

/** An earlier message of a thread, as read from the platform. */
export interface HistoryMessage {
  readonly messageId: string;
  readonly author: string;
  readonly authorIsSelf: boolean;
  readonly text: string;
  readonly at: number;
}
