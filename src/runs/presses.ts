/**
 * What becomes of a click or a form: the buttons of replies, of pickers, of approvals and of
 * questions. Whoever may not is told so privately, and nothing changes (rule 13).
 */

import { BotError } from '../base/errors.ts';
import type { Head } from '../conversations/head.ts';
import { conversationKeyOf } from '../messages/conversation.ts';
import type { Voted } from '../questions/approvals.ts';
import type { Adapter } from '../surface/adapter.ts';
import { deliver } from '../surface/deliver.ts';
import type { InboundClick, InboundForm, InboundMessage } from '../surface/inbound.ts';
import { accessIn } from './access.ts';
import { isAdmin } from './admins.ts';
import type { Background } from './background.ts';
import type { Chooser } from './choice-commands.ts';
import { noticeMessage } from './commands.ts';
import { type ReplyControl, replyControlOf } from './controls.ts';
import { detailsOf, formatDetails } from './details.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import type { Feedback } from './feedback.ts';
import type { Lanes } from './lane.ts';
import { auditVotes } from './permit.ts';
import type { Retries } from './retry.ts';
import { madeMessageId } from './signs.ts';
import type { Spaces } from './spaces.ts';
import { pageIdsOf, stopRun } from './stopping.ts';

export interface PressDeps extends ExecuteDeps {
  readonly lanes: Lanes;
  readonly spaces: Spaces;
  readonly background: Background;
  readonly chooser: Chooser;
  readonly feedback: Feedback;
  readonly retries: Retries;
}

type Tell = (text: string) => void;

const notListed = 'You are not on the list of people I work for here. Nothing was changed.';
const notInUse = 'This button is not in use any more.';

export async function takePress(deps: PressDeps, event: InboundClick | InboundForm): Promise<void> {
  if (!(await deps.inbox.first(event))) return;
  const surface = adapterOf(deps, event.conversation.adapter).surfaceOf(event.conversation);
  const tell: Tell = (text) =>
    deps.background.start('click_answer', () =>
      surface.whisper(event.author.id, text, event.interactionId),
    );
  const control = event.kind === 'click' ? replyControlOf(event.controlId) : undefined;
  if (event.kind === 'click' && control) return takeControl(deps, event, control, tell);
  if (event.kind === 'click' && deps.chooser.owns(event.controlId)) {
    return takePick(deps, event, tell);
  }
  const voted = await deps.approvals.press(event);
  if (voted) return takeVote(deps, voted, tell);
  return takeAnswer(deps, event, tell);
}

function adapterOf(deps: PressDeps, name: string): Adapter {
  const adapter = deps.adapters.get(name);
  if (!adapter) throw new BotError('internal', `The platform ${name} is not on.`);
  return adapter;
}

/** The conversation's head, for those who may use the bot there. */
async function headFor(deps: PressDeps, event: InboundClick): Promise<Head | undefined> {
  const head = await deps.conversations.head(conversationKeyOf(event.conversation));
  const access = await accessIn(deps, event.author, event.conversation, head);
  return access.kind === 'refused' || event.author.isBot ? undefined : head;
}

async function takeControl(
  deps: PressDeps,
  event: InboundClick,
  control: ReplyControl,
  tell: Tell,
): Promise<void> {
  const head = await headFor(deps, event);
  if (!head) {
    tell(notListed);
    return;
  }
  const key = conversationKeyOf(event.conversation);
  switch (control.kind) {
    case 'stop':
      return takeStop(deps, event, key, tell);
    case 'continue':
      return takeContinue(deps, event, head, tell);
    case 'retry': {
      const told = await deps.retries.retry(key, event.author);
      if (told !== undefined) tell(told);
      return;
    }
    case 'details': {
      const details = await detailsOf(deps, key, control.runId);
      tell(details ? formatDetails(details) : 'The details of this answer are not kept any more.');
      return;
    }
    case 'feedback':
      tell(await deps.feedback.take(key, control.runId, event.author, event.values[0]));
  }
}

/** A button of an earlier reply, pressed late, stops nothing that runs now. */
async function takeStop(
  deps: PressDeps,
  { author, cardId }: InboundClick,
  key: string,
  tell: Tell,
): Promise<void> {
  const record = await deps.records.read(key);
  const pages = record?.state === 'running' ? await pageIdsOf(deps, record) : [];
  // A click may come before the answer to the post that it is under.
  const isLive = pages.includes(cardId) || pages.includes(null);
  if (isLive) await stopRun(deps, key, author.name);
  else tell('This is over already.');
}

/** Continue is a message of the person who clicked; the same button counts once. */
async function takeContinue(
  deps: PressDeps,
  event: InboundClick,
  { channelName, channelKind }: Head,
  tell: Tell,
): Promise<void> {
  const key = conversationKeyOf(event.conversation);
  const message: InboundMessage = {
    kind: 'message',
    eventKey: `continue:${key}:${event.cardId}`,
    conversation: event.conversation,
    author: event.author,
    at: event.at,
    channelName,
    channelKind,
    messageId: madeMessageId('continue', event.cardId),
    place: channelKind === 'direct' ? 'direct' : 'thread',
    text: 'Go on.',
    files: [],
    mentionsBot: true,
    addressesOther: false,
  };
  const isNew = await deps.inbox.put(key, message, true);
  if (!isNew) tell('I am going on already.');
  deps.lanes.wake(key);
}

async function takeAnswer(
  deps: PressDeps,
  event: InboundClick | InboundForm,
  tell: Tell,
): Promise<void> {
  const answered = await deps.questions.press(event);
  if (!answered) {
    tell(notInUse);
    return;
  }
  const { cardOf } = answered;
  // The card follows the answer; a late click finds what an earlier life left undrawn.
  if (cardOf !== null) deps.background.start('question_card', () => deps.questions.show(cardOf));
  if (answered.kind === 'not_taken') {
    tell(answered.told);
    return;
  }
  const { record, complete } = answered;
  if (complete) deps.lanes.wake(conversationKeyOf(record.conversation));
}

/** People's word on tool calls: audited, then the card follows. */
async function takeVote(deps: PressDeps, voted: Voted, tell: Tell): Promise<void> {
  if (voted.kind === 'not_taken') {
    const { cardOf } = voted;
    if (cardOf !== null) deps.background.start('approval_card', () => deps.approvals.show(cardOf));
    tell(voted.told);
    return;
  }
  const { record, complete } = voted;
  const key = conversationKeyOf(record.conversation);
  await auditVotes(deps, record);
  deps.background.start('approval_card', () => deps.approvals.show(record.id));
  if (complete) deps.lanes.wake(key);
}

/** A picker's button: stored, then the card says who chose what. */
async function takePick(deps: PressDeps, event: InboundClick, tell: Tell): Promise<void> {
  const { conversation, author, controlId, cardId } = event;
  const key = conversationKeyOf(conversation);
  const head = await headFor(deps, event);
  if (!head) {
    tell(notListed);
    return;
  }
  const { adapter, space, channel } = conversation;
  const place = { adapter, space, channel, channelName: head.channelName };
  const admin = isAdmin(author.id, deps.governance());
  const picked = await deps.chooser.pick(controlId, key, place, author, admin);
  if (picked.kind === 'told') {
    tell(picked.text);
    return;
  }
  const surface = adapterOf(deps, adapter).surfaceOf(conversation);
  deps.background.start('picker_card', () =>
    deliver(deps.clock, () => surface.edit(cardId, noticeMessage(picked.text))),
  );
}
