/**
 * Questions that survive restarts. The record says what was asked; each answer is a claim of its
 * own in the store, so that two clicks answer once, over all processes and after any crash. A
 * click by somebody who may not answer changes nothing.
 */

import type { Clock } from '../base/clock.ts';
import { isBotError } from '../base/errors.ts';
import type { NewId } from '../base/ids.ts';
import { errorFacts, type Log } from '../base/log.ts';
import { createKeyedQueue } from '../base/queues.ts';
import type { Conversation } from '../messages/conversation.ts';
import type { Author } from '../messages/people.ts';
import { type Answer, answerSchema, type Question } from '../messages/questions.ts';
import type { IndexEntry, Store } from '../storage/store.ts';
import { readValidated } from '../storage/validated.ts';
import { deliver } from '../surface/deliver.ts';
import type { InboundClick, InboundForm } from '../surface/inbound.ts';
import type { Surface } from '../surface/surface.ts';
import { drawCard } from './card.ts';
import {
  type Answers,
  currentQuestion,
  parseControlId,
  type QuestionRecord,
  questionRecordSchema,
} from './record.ts';

export interface QuestionsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  readonly surfaceOf: (conversation: Conversation) => Surface;
  /** The wake-up that is stored together with an answer, so that no crash loses the resumption. */
  readonly wakeOf: (conversation: Conversation) => IndexEntry;
  readonly mayAnswer: (author: Author, record: QuestionRecord) => Promise<boolean>;
}

export interface AskInput {
  readonly conversation: Conversation;
  readonly runId: string;
  readonly callId: string;
  readonly questions: readonly Question[];
  readonly asker: { readonly id: string; readonly name: string };
  readonly expiresMs: number;
}

/** What became of a click, a form or a typed line. */
export type Answered =
  /** `complete`: the last question is answered, the run can go on. */
  | {
      readonly kind: 'taken';
      readonly record: QuestionRecord;
      readonly complete: boolean;
      readonly cardOf: string;
    }
  /** Nothing changed; the person is told why. `cardOf`: the question, when it is known. */
  | { readonly kind: 'not_taken'; readonly told: string; readonly cardOf: string | null };

export interface TypedLine {
  readonly eventKey: string;
  readonly messageId: string;
  readonly author: Author;
  readonly text: string;
}

export interface QuestionState {
  readonly record: QuestionRecord;
  readonly answers: Answers;
}

export interface Questions {
  /** Stores the question. The card is shown by `show`. */
  ask(input: AskInput): Promise<QuestionRecord>;
  /** Posts the card, or brings it to what is stored. Rejects when it cannot be posted; a card that
   * cannot be updated (deleted, no access) is logged, the answer counts all the same. */
  show(id: string): Promise<void>;
  /** Undefined when the control is not a question's. */
  press(event: InboundClick | InboundForm): Promise<Answered | undefined>;
  /** A line typed in the thread, taken as the answer to the open question. */
  type(id: string, line: TypedLine): Promise<Answered>;
  /** The words of a typed answer go, because its line was deleted. */
  forget(id: string, messageId: string): Promise<void>;
  state(id: string): Promise<QuestionState | undefined>;
  /** Ends it: no click counts any more. */
  close(id: string, how: 'answered' | 'expired' | 'withdrawn'): Promise<void>;
}

/** Answers and records outlive the question by a month, for late clicks. */
const keptAfterMs = 30 * 24 * 3600 * 1000;

export function createQuestions(deps: QuestionsDeps): Questions {
  const { store, clock, log } = deps;
  const recordKey = (id: string): string => `question:${id}`;
  const answerKey = (id: string, question: number): string => `answer:${id}:${question}`;

  const save = (record: QuestionRecord): Promise<void> =>
    store.set(recordKey(record.id), record, {
      ttlMs: record.expiresAt - clock.now() + keptAfterMs,
    });

  const state = async (id: string): Promise<QuestionState | undefined> => {
    const record = await readValidated(deps, recordKey(id), questionRecordSchema);
    if (!record) return undefined;
    const values = await store.getMany(record.questions.map((_, index) => answerKey(id, index)));
    const answers = values.map((value) => {
      const parsed = answerSchema.safeParse(value);
      return parsed.success ? parsed.data : null;
    });
    return { record, answers };
  };

  const draw = async (id: string): Promise<void> => {
    const known = await state(id);
    if (!known) return;
    const { record, answers } = known;
    const card = drawCard(record, answers);
    const surface = deps.surfaceOf(record.conversation);
    const { cardId } = record;
    const isOver = record.state === 'withdrawn' || record.state === 'expired';
    if (cardId === null && isOver) return;
    if (cardId !== null) {
      try {
        await deliver(clock, () => surface.edit(cardId, card));
      } catch (thrown) {
        if (!isBotError(thrown)) throw thrown;
        log.warn('question_card_not_updated', { id, ...errorFacts(thrown) });
      }
      return;
    }
    let begunAt = 0;
    const posted = await deliver(clock, () => {
      begunAt = clock.now();
      return surface.post(card, { key: id, maybePosted: true });
    });
    const now = await readValidated(deps, recordKey(id), questionRecordSchema);
    // Whoever sees it can answer at once: from the moment that it was sent.
    if (now) await save({ ...now, cardId: posted.messageId, shownAt: begunAt });
  };

  /** One drawing of a card at a time, each from what is stored then: the last one wins. */
  const drawing = createKeyedQueue();
  const show = (id: string): Promise<void> => drawing.run(id, () => draw(id));

  const take = async (
    { record }: QuestionState,
    question: number,
    answer: Answer,
  ): Promise<Answered> => {
    const ttlMs = record.expiresAt - clock.now() + keptAfterMs;
    const isFirst = await store.claim(answerKey(record.id, question), answer, {
      ttlMs,
      indexed: [deps.wakeOf(record.conversation)],
    });
    const after = await state(record.id);
    if (!isFirst) {
      const by = after?.answers[question]?.by.name ?? 'somebody';
      return { kind: 'not_taken', told: `${by} has answered this already.`, cardOf: record.id };
    }
    const complete = after !== undefined && currentQuestion(after.answers) === undefined;
    return { kind: 'taken', record, complete, cardOf: record.id };
  };

  /** Why nothing can be answered by this person now; undefined when it can. */
  const obstacle = async (
    known: QuestionState | undefined,
    author: Author,
  ): Promise<string | undefined> => {
    if (!known) return 'This question is not open any more.';
    const { record } = known;
    if (author.isBot || !(await deps.mayAnswer(author, record))) {
      return 'This question is for somebody else. Nothing was changed.';
    }
    if (record.state === 'answered') return 'This was answered already.';
    if (record.state === 'withdrawn') return 'This question is no longer needed.';
    if (record.state === 'expired' || clock.now() >= record.expiresAt) {
      return 'This question has expired. Ask me again if you still need it.';
    }
    return undefined;
  };

  return {
    ask: async (input) => {
      const { expiresMs, ...asked } = input;
      const now = clock.now();
      const id = deps.newId('q');
      const record: QuestionRecord = {
        ...asked,
        v: 1,
        id,
        createdAt: now,
        expiresAt: now + expiresMs,
        cardId: null,
        shownAt: null,
        state: 'open',
      };
      await save(record);
      return record;
    },
    show,
    press: async (event) => {
      const control = parseControlId(event.controlId);
      if (!control) return undefined;
      const known = await state(control.id);
      const told = await obstacle(known, event.author);
      if (told !== undefined || !known) {
        return notTaken(known, told ?? 'This question is not open any more.');
      }
      const question = known.record.questions[control.question];
      const answer = question && pressedAnswer(event, question, control.option);
      if (!answer) return notTaken(known, 'Nothing was chosen. Choose at least one.');
      return take(known, control.question, answer);
    },
    type: async (id, line) => {
      const known = await state(id);
      const told = await obstacle(known, line.author);
      const index = known ? currentQuestion(known.answers) : undefined;
      const question = index === undefined ? undefined : known?.record.questions[index];
      if (told !== undefined || !known || index === undefined || !question) {
        return notTaken(known, told ?? 'This question is not open any more.');
      }
      return take(known, index, typedAnswer(line, question));
    },
    forget: async (id, messageId) => {
      const known = await state(id);
      for (const [index, answer] of known?.answers.entries() ?? []) {
        if (!known || answer?.source?.messageId !== messageId) continue;
        const gone: Answer = { ...answer, labels: [], text: 'deleted by its author' };
        const ttlMs = known.record.expiresAt - clock.now() + keptAfterMs;
        await store.set(answerKey(id, index), gone, { ttlMs });
        await show(id);
      }
    },
    state,
    close: (id, how) =>
      drawing.run(id, async () => {
        const known = await state(id);
        if (known?.record.state === 'open') await save({ ...known.record, state: how });
        await draw(id);
      }),
  };
}

function notTaken(known: QuestionState | undefined, told: string): Answered {
  return { kind: 'not_taken', told, cardOf: known?.record.id ?? null };
}

/** Undefined when the event chooses nothing that exists. */
function pressedAnswer(
  event: InboundClick | InboundForm,
  question: Question,
  option: number | null,
): Answer | undefined {
  const by = { id: event.author.id, name: event.author.name };
  if (event.kind === 'form') {
    const text = event.text.trim();
    return text === '' ? undefined : { labels: [], text, by };
  }
  const chosen = option === null ? event.values.map(Number) : [option];
  const labels = chosen.flatMap((index) => question.options[index]?.label ?? []);
  return labels.length === 0 ? undefined : { labels, by };
}

/** `2`, `1, 3` or a label picks; anything else is free text. */
function typedAnswer(line: TypedLine, question: Question): Answer {
  const { eventKey, messageId, author } = line;
  const common = { by: { id: author.id, name: author.name }, source: { eventKey, messageId } };
  const said = line.text.trim();
  const byLabel = question.options.find(({ label }) => label.toLowerCase() === said.toLowerCase());
  if (byLabel) return { ...common, labels: [byLabel.label] };
  if (/^\d(?:\s*[, ]\s*\d)*\.?$/u.test(said)) {
    const numbers = said.match(/\d/gu) ?? [];
    const labels = numbers.flatMap((digit) => question.options[Number(digit) - 1]?.label ?? []);
    const fits = labels.length === numbers.length && (question.multiSelect || labels.length === 1);
    if (fits) return { ...common, labels: [...new Set(labels)] };
  }
  return { ...common, labels: [], text: said };
}
