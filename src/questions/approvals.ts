/**
 * Approvals that survive restarts. The record says what will happen, to the byte; each vote is a
 * claim of its own in the store, so that two clicks count once, over all processes and after any
 * crash. A click by somebody who may not approve changes nothing (rule 13).
 */

import type { Clock } from '../base/clock.ts';
import { isBotError } from '../base/errors.ts';
import type { NewId } from '../base/ids.ts';
import { errorFacts, type Log } from '../base/log.ts';
import { createKeyedQueue } from '../base/queues.ts';
import type { Conversation } from '../messages/conversation.ts';
import type { Author } from '../messages/people.ts';
import type { ApprovalAsk } from '../messages/questions.ts';
import { type CallVerdict, type Vote, verdictOf, voteSchema } from '../permissions/approver.ts';
import type { Permissions } from '../permissions/settings.ts';
import type { IndexEntry, Store } from '../storage/store.ts';
import { readValidated } from '../storage/validated.ts';
import { deliver } from '../surface/deliver.ts';
import type { InboundClick, InboundForm } from '../surface/inbound.ts';
import type { Surface } from '../surface/surface.ts';
import { type CardRoom, drawApprovals, longAsks, mayGrant, wholePreview } from './approval-card.ts';
import {
  type ApprovalRecord,
  approvalRecordSchema,
  type ParsedApprovalControl,
  parseApprovalControlId,
} from './approval-record.ts';

export interface ApprovalsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  readonly surfaceOf: (conversation: Conversation) => Surface;
  readonly roomOf: (conversation: Conversation) => CardRoom;
  /** The wake-up that is stored together with a vote, so that no crash loses the resumption. */
  readonly wakeOf: (conversation: Conversation) => IndexEntry;
  /** Undefined when this person may decide so; else a sentence for them. */
  readonly refusalOf: (
    author: Author,
    record: ApprovalRecord,
    decision: Vote['decision'],
  ) => Promise<string | undefined>;
  /** Who may approve, in words. */
  readonly approversOf: (record: ApprovalRecord) => Promise<string>;
}

export interface ApprovalInput {
  readonly kind: ApprovalRecord['kind'];
  readonly conversation: Conversation;
  readonly runId: string;
  readonly asks: readonly ApprovalAsk[];
  readonly asker: { readonly id: string; readonly name: string };
  readonly askers: readonly string[];
  readonly permissions: Permissions;
}

/** What became of a click or a form. */
export type Voted =
  | {
      readonly kind: 'taken';
      readonly record: ApprovalRecord;
      /** The last ask is decided, the run can go on. */
      readonly complete: boolean;
    }
  /** Nothing changed; the person is told why. `cardOf`: the record, when it is known. */
  | { readonly kind: 'not_taken'; readonly told: string; readonly cardOf: string | null };

export interface ApprovalState {
  readonly record: ApprovalRecord;
  /** Of each ask. */
  readonly verdicts: readonly CallVerdict[];
}

export interface Approvals {
  /** Stores what is asked. The card is shown by `show`. */
  ask(input: ApprovalInput): Promise<ApprovalRecord>;
  /** Posts the card, or brings it to what is stored. Rejects when it cannot be posted; a card that
   * cannot be updated (deleted, no access) is logged, the votes count all the same. */
  show(id: string): Promise<void>;
  /** Undefined when the control is not one of an approval. */
  press(event: InboundClick | InboundForm): Promise<Voted | undefined>;
  state(id: string): Promise<ApprovalState | undefined>;
  /** Hands over the votes that were not handed over before: after a crash perhaps twice, never not
   * at all. */
  noteVotes(id: string, note: (ask: ApprovalAsk, vote: Vote) => Promise<void>): Promise<void>;
  /** Ends it: no click counts any more. */
  close(id: string, how: 'decided' | 'expired' | 'withdrawn'): Promise<void>;
}

/** Votes and records outlive the question by a month, for late clicks. */
const keptAfterMs = 30 * 24 * 3600 * 1000;
/** Votes that one ask takes at most; a quorum is at most 5. */
const mostVotes = 12;

export function createApprovals(deps: ApprovalsDeps): Approvals {
  const { store, clock, log } = deps;
  const recordKey = (id: string): string => `approval:${id}`;
  const voteKey = (id: string, ask: number, place: number): string => `vote:${id}:${ask}:${place}`;

  const ttlOf = (record: ApprovalRecord): number => record.expiresAt - clock.now() + keptAfterMs;
  const save = (record: ApprovalRecord): Promise<void> =>
    store.set(recordKey(record.id), record, { ttlMs: ttlOf(record) });

  const votesOf = async (record: ApprovalRecord, ask: number): Promise<readonly Vote[]> => {
    const keys = Array.from({ length: mostVotes }, (_, place) => voteKey(record.id, ask, place));
    const values = await store.getMany(keys);
    return values.flatMap((value) => {
      const parsed = voteSchema.safeParse(value);
      return parsed.success ? [parsed.data] : [];
    });
  };

  const state = async (id: string): Promise<ApprovalState | undefined> => {
    const record = await readValidated(deps, recordKey(id), approvalRecordSchema);
    if (!record) return undefined;
    const votes = await Promise.all(record.asks.map((_, ask) => votesOf(record, ask)));
    return { record, verdicts: votes.map((given) => verdictOf(given, record.quorum)) };
  };

  /** What does not fit into the card is posted as files before it. */
  const attachLong = async (record: ApprovalRecord, surface: Surface): Promise<void> => {
    for (const index of longAsks(record, deps.roomOf(record.conversation))) {
      const ask = record.asks[index];
      if (!ask) continue;
      const name = `${record.kind === 'plan' ? 'plan' : ask.tool}-${index + 1}.${extensionOf(ask)}`;
      const content = Buffer.from(wholePreview(ask));
      const options = { key: `${record.id}.${index}`, maybePosted: true };
      await deliver(clock, () => surface.upload({ name, content }, options));
    }
  };

  const draw = async (id: string): Promise<void> => {
    const known = await state(id);
    if (!known) return;
    const { record, verdicts } = known;
    const { cardId } = record;
    const surface = deps.surfaceOf(record.conversation);
    const room = deps.roomOf(record.conversation);
    const approvers = await deps.approversOf(record);
    const card = drawApprovals(record, { verdicts, room, approvers });
    if (cardId === null) {
      if (record.state === 'withdrawn' || record.state === 'expired') return;
      await attachLong(record, surface);
      const options = { key: id, maybePosted: true };
      const posted = await deliver(clock, () => surface.post(card, options));
      const now = await readValidated(deps, recordKey(id), approvalRecordSchema);
      if (now) await save({ ...now, cardId: posted.messageId });
      return;
    }
    try {
      await deliver(clock, () => surface.edit(cardId, card));
    } catch (thrown) {
      if (!isBotError(thrown)) throw thrown;
      log.warn('approval_card_not_updated', { id, ...errorFacts(thrown) });
    }
  };

  /** One drawing of a card at a time, each from what is stored then: the last one wins. */
  const drawing = createKeyedQueue();
  const noting = createKeyedQueue();

  /** Why nothing can be decided by this person now; undefined when it can. */
  const obstacle = async (
    known: ApprovalState | undefined,
    author: Author,
    decision: Vote['decision'],
  ): Promise<string | undefined> => {
    if (!known) return 'This is not open any more.';
    const { record } = known;
    if (author.isBot) return 'Only people can approve this. Nothing was changed.';
    const refusal = await deps.refusalOf(author, record, decision);
    if (refusal !== undefined) return refusal;
    if (record.state === 'withdrawn') return 'This is no longer needed.';
    if (record.state === 'expired' || clock.now() >= record.expiresAt) {
      return 'This has expired. Ask me again if it is still needed.';
    }
    return undefined;
  };

  /** The vote in the first free place; what is already there when it would change nothing. */
  const cast = async (record: ApprovalRecord, ask: number, vote: Vote): Promise<string | Vote> => {
    for (let place = 0; place < mostVotes; place += 1) {
      const votes = await votesOf(record, ask);
      const verdict = verdictOf(votes, record.quorum);
      if (verdict.kind === 'approved') {
        return `${verdict.by.join(' and ')} approved this already.`;
      }
      if (verdict.kind === 'denied') return `${verdict.by} denied this already.`;
      const isRepeated =
        vote.decision === 'approve' && votes.some(({ by }) => by.id === vote.by.id);
      if (isRepeated) return 'You approved this already; somebody else must approve it too.';
      const isMine = await store.claim(voteKey(record.id, ask, votes.length), vote, {
        ttlMs: ttlOf(record),
        indexed: [deps.wakeOf(record.conversation)],
      });
      if (isMine) return vote;
    }
    return 'Too many people clicked at once. Please click again.';
  };

  const castAll = async (
    { record }: ApprovalState,
    control: ParsedApprovalControl,
    event: InboundClick | InboundForm,
  ): Promise<Voted> => {
    let taken = 0;
    let told = 'This button is not in use any more.';
    for (const index of control.asks) {
      const ask = record.asks[index];
      if (!ask) continue;
      const done = await cast(record, index, voteOf(record, ask, control, event, clock.now()));
      if (typeof done === 'string') told = done;
      else taken += 1;
    }
    if (taken === 0) return { kind: 'not_taken', told, cardOf: record.id };
    const after = await state(record.id);
    const complete = after?.verdicts.every(({ kind }) => kind !== 'open') ?? false;
    return { kind: 'taken', record, complete };
  };

  return {
    ask: async ({ kind, conversation, runId, asks, asker, askers, permissions }) => {
      const now = clock.now();
      const { approvers, quorum, notAsker, grantMs, expiresMs } = permissions;
      const record: ApprovalRecord = {
        v: 1,
        id: deps.newId('a'),
        kind,
        conversation,
        runId,
        asks,
        asker,
        askers,
        approvers,
        quorum,
        notAsker,
        grantMs,
        createdAt: now,
        expiresAt: now + expiresMs,
        cardId: null,
        state: 'open',
      };
      await save(record);
      return record;
    },
    show: (id) => drawing.run(id, () => draw(id)),
    press: async (event) => {
      const control = parseApprovalControlId(event.controlId);
      if (!control) return undefined;
      const known = await state(control.id);
      const told = await obstacle(known, event.author, decisionOf(control));
      if (told !== undefined || !known) {
        const cardOf = known?.record.id ?? null;
        return { kind: 'not_taken', told: told ?? 'This is not open any more.', cardOf };
      }
      return castAll(known, control, event);
    },
    state,
    noteVotes: (id, note) =>
      noting.run(id, async () => {
        const record = await readValidated(deps, recordKey(id), approvalRecordSchema);
        if (!record) return;
        for (const [index, ask] of record.asks.entries()) {
          for (const [place, vote] of (await votesOf(record, index)).entries()) {
            const notedKey = `noted:${voteKey(id, index, place)}`;
            if (await store.get(notedKey)) continue;
            await note(ask, vote);
            await store.set(notedKey, true, { ttlMs: ttlOf(record) });
          }
        }
      }),
    close: (id, how) =>
      drawing.run(id, async () => {
        const known = await state(id);
        if (known?.record.state === 'open') await save({ ...known.record, state: how });
        await draw(id);
      }),
  };
}

function decisionOf({ action }: ParsedApprovalControl): Vote['decision'] {
  return action === 'once' || action === 'thread' ? 'approve' : 'deny';
}

function voteOf(
  record: ApprovalRecord,
  ask: ApprovalAsk,
  control: ParsedApprovalControl,
  event: InboundClick | InboundForm,
  at: number,
): Vote {
  const { id, name } = event.author;
  const note = event.kind === 'form' ? event.text.trim() : '';
  const isGrant = control.action === 'thread' && mayGrant(record, ask);
  return {
    v: 1,
    decision: decisionOf(control),
    scope: isGrant ? 'thread' : 'once',
    by: { id, name },
    ...(note === '' ? {} : { note }),
    at,
    inputHash: ask.inputHash,
  };
}

const extensions: Readonly<Record<string, string>> = {
  diff: 'diff.txt',
  json: 'json',
  sh: 'sh.txt',
  markdown: 'md',
};

function extensionOf({ preview }: ApprovalAsk): string {
  return extensions[preview.language] ?? 'txt';
}
