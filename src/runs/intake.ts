/**
 * Takes what adapters bring: decides by pure rules, stores, and only then resolves, so that the
 * adapter acknowledges what is safe (rule 1). All further work goes on behind.
 */

import { BotError, isBotError } from '../base/errors.ts';
import { conversationKeyOf } from '../messages/conversation.ts';
import type { Voted } from '../questions/approvals.ts';
import type { Adapter, OnEvent } from '../surface/adapter.ts';
import { deliver } from '../surface/deliver.ts';
import type {
  InboundClick,
  InboundCommand,
  InboundDeletion,
  InboundEdit,
  InboundForm,
  InboundMessage,
} from '../surface/inbound.ts';
import type { Surface } from '../surface/surface.ts';
import { type Access, accessIn, accessOf } from './access.ts';
import { isAdmin } from './admins.ts';
import type { Background } from './background.ts';
import type { Chooser } from './choice-commands.ts';
import { type CommandCenter, noticeMessage } from './commands.ts';
import { continueControlId } from './execute.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import type { Lanes } from './lane.ts';
import { auditVotes } from './permit.ts';
import { placeOf, touchOf } from './prepare.ts';
import type { ReadBack } from './read-back.ts';
import type { Profile } from './settings.ts';
import type { Spaces } from './spaces.ts';
import { type Trigger, triggerOf } from './trigger.ts';
import type { Traces } from './why.ts';

export interface IntakeDeps extends ExecuteDeps {
  readonly lanes: Lanes;
  readonly spaces: Spaces;
  readonly traces: Traces;
  readonly background: Background;
  readonly commandCenter: CommandCenter;
  readonly chooser: Chooser;
  readonly readBack: () => ReadBack;
}

const hourMs = 3600 * 1000;

export function createIntake(deps: IntakeDeps): OnEvent {
  return async (event) => {
    switch (event.kind) {
      case 'gap':
        deps.background.start('read_back', () =>
          deps.readBack().ofAdapter(event.adapter, event.since),
        );
        return;
      case 'message':
        return takeMessage(deps, event);
      case 'message_edited':
      case 'message_deleted':
        return takeChange(deps, event);
      case 'click':
      case 'form':
        return takePress(deps, event);
      case 'command':
        return takeCommand(deps, event);
    }
  };
}

function adapterOf(deps: IntakeDeps, name: string): Adapter {
  const adapter = deps.adapters.get(name);
  if (!adapter) throw new BotError('internal', `The platform ${name} is not on.`);
  return adapter;
}

async function takeMessage(deps: IntakeDeps, message: InboundMessage): Promise<void> {
  const key = conversationKeyOf(message.conversation);
  const head = await deps.conversations.head(key);
  const profile = deps.profileOf(placeOf(message));
  const trigger = triggerOf(message, {
    isKnown: head !== undefined,
    hasLeft: head?.hasLeft ?? false,
    followUps: profile.followUps.value,
    bots: deps.governance().bots,
    botRuns: head?.botRuns ?? 0,
  });
  if (trigger.kind === 'ignore') await ignore(deps, key, head !== undefined, message, trigger);
  else await answer(deps, key, message, trigger, profile);
}

async function ignore(
  deps: IntakeDeps,
  key: string,
  isKnown: boolean,
  message: InboundMessage,
  { rule }: Extract<Trigger, { kind: 'ignore' }>,
): Promise<void> {
  deps.log.debug('message_ignored', { conversation: key, rule });
  if (isKnown)
    await deps.traces.note(key, {
      messageId: message.messageId,
      trigger: `ignored: ${rule}`,
      access: '',
    });
  await saw(deps, message, false);
}

async function answer(
  deps: IntakeDeps,
  key: string,
  message: InboundMessage,
  trigger: Extract<Trigger, { kind: 'answer' }>,
  profile: Profile,
): Promise<void> {
  const access = await accessFor(deps, message, profile);
  if (access.kind === 'refused') {
    await refuse(deps, message, access, trigger.addressed);
  } else if (!(await deps.commandCenter.takeMessage(message, trigger.addressed))) {
    await store(deps, key, message, trigger, access);
  }
  // Only now is it taken care of: what is not stored is read back again.
  await saw(deps, message, access.kind === 'allowed');
}

async function store(
  deps: IntakeDeps,
  key: string,
  message: InboundMessage,
  trigger: Extract<Trigger, { kind: 'answer' }>,
  access: Access,
): Promise<void> {
  const head = await deps.conversations.touch(key, touchOf(message));
  if (head.hasLeft && trigger.addressed) {
    await deps.conversations.update(key, (now) => ({ ...now, hasLeft: false }));
  }
  const isNew = await deps.inbox.put(key, message, trigger.addressed);
  if (!isNew) {
    deps.log.debug('message_repeated', { conversation: key });
    return;
  }
  const { messageId } = message;
  await deps.traces.note(key, { messageId, trigger: trigger.rule, access: access.rule });
  const surface = adapterOf(deps, message.conversation.adapter).surfaceOf(message.conversation);
  if (message.files.length > 0) {
    deps.background.start('files', () => fetchFiles(deps, key, surface, message));
  }
  if (deps.lanes.active(key)) deps.signs.putOn(surface, messageId);
  deps.lanes.wake(key);
}

/**
 * At once, for the message may wait for days behind a question while its addresses run out. What is
 * not there when it enters a run is fetched then.
 */
async function fetchFiles(
  deps: IntakeDeps,
  key: string,
  surface: Surface,
  message: InboundMessage,
): Promise<void> {
  try {
    for await (const { kind, file } of deps.files.take(key, surface, message)) {
      deps.log.debug('file_fetched', { conversation: key, fileId: file.id, outcome: kind });
    }
  } catch (thrown) {
    if (!isBotError(thrown, 'interrupted')) throw thrown;
  }
}

async function accessFor(
  deps: IntakeDeps,
  event: InboundMessage | InboundCommand,
  profile: Profile,
): Promise<Access> {
  const { adapter, space, channel } = event.conversation;
  const allowedSpaces = await deps.spaces.allowed(adapterOf(deps, adapter));
  const { sharedSpaces } = event;
  const place = { adapter, space, channel, ...(sharedSpaces ? { sharedSpaces } : {}) };
  return accessOf(event.author, place, profile, allowedSpaces);
}

/** One private line, at most once an hour a person; none where the bot was not addressed. */
async function refuse(
  deps: IntakeDeps,
  event: InboundMessage | InboundCommand,
  access: Extract<Access, { kind: 'refused' }>,
  addressed: boolean,
): Promise<void> {
  const { author, conversation } = event;
  const { told } = access;
  deps.log.info('message_refused', { author: author.id, rule: access.rule });
  if (told === null || author.isBot || !addressed) return;
  const isFirst = await deps.store.claim(`told:${author.id}`, true, { ttlMs: hourMs });
  if (!isFirst) return;
  const surface = adapterOf(deps, conversation.adapter).surfaceOf(conversation);
  const interactionId = event.kind === 'command' ? event.interactionId : undefined;
  deps.background.start('refusal', () => surface.whisper(author.id, told, interactionId));
}

/** Edits and deletions matter only where the bot takes part. */
async function takeChange(deps: IntakeDeps, change: InboundEdit | InboundDeletion): Promise<void> {
  const key = conversationKeyOf(change.conversation);
  if (!(await deps.conversations.head(key))) return;
  const isNew = await deps.inbox.put(key, change, false);
  if (!isNew) return;
  if (change.kind === 'message_deleted') stopForDeletion(deps, key, change.messageId);
  deps.lanes.wake(key);
}

/** A run stops when none of the messages it is about is left. */
function stopForDeletion(deps: IntakeDeps, key: string, messageId: string): void {
  const active = deps.lanes.active(key);
  if (!active?.messageIds.delete(messageId) || active.messageIds.size > 0) return;
  deps.lanes.stop(key, 'the deletion of its message', 'trigger_deleted');
}

async function takePress(deps: IntakeDeps, event: InboundClick | InboundForm): Promise<void> {
  if (!(await deps.inbox.first(event))) return;
  const surface = adapterOf(deps, event.conversation.adapter).surfaceOf(event.conversation);
  const tell = (text: string): void =>
    deps.background.start('click_answer', () =>
      surface.whisper(event.author.id, text, event.interactionId),
    );
  if (event.kind === 'click' && event.controlId === continueControlId) {
    await takeContinue(deps, event, tell);
    return;
  }
  if (event.kind === 'click' && deps.chooser.owns(event.controlId)) {
    await takePick(deps, event, tell);
    return;
  }
  const voted = await deps.approvals.press(event);
  if (voted) {
    await takeVote(deps, voted, tell);
    return;
  }
  const answered = await deps.questions.press(event);
  if (!answered) {
    tell('This button is not in use any more.');
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
async function takeVote(
  deps: IntakeDeps,
  voted: Voted,
  tell: (text: string) => void,
): Promise<void> {
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
async function takePick(
  deps: IntakeDeps,
  event: InboundClick,
  tell: (text: string) => void,
): Promise<void> {
  const { conversation, author, controlId, cardId } = event;
  const key = conversationKeyOf(conversation);
  const head = await deps.conversations.head(key);
  const access = await accessIn(deps, author, conversation, head);
  if (!head || access.kind === 'refused' || author.isBot) {
    tell('You are not on the list of people I work for here. Nothing was changed.');
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

/** Continue is a message of the person who clicked; the same button counts once. */
async function takeContinue(
  deps: IntakeDeps,
  event: InboundClick,
  tell: (text: string) => void,
): Promise<void> {
  const key = conversationKeyOf(event.conversation);
  const head = await deps.conversations.head(key);
  const access = await accessIn(deps, event.author, event.conversation, head);
  if (!head || access.kind === 'refused' || event.author.isBot) {
    tell('You are not on the list of people I work for here. Nothing was changed.');
    return;
  }
  const message: InboundMessage = {
    kind: 'message',
    eventKey: `continue:${key}:${event.cardId}`,
    conversation: event.conversation,
    author: event.author,
    at: event.at,
    channelName: head.channelName,
    channelKind: head.channelKind,
    messageId: `continue:${event.cardId}`,
    place: head.channelKind === 'direct' ? 'direct' : 'thread',
    text: 'Go on.',
    files: [],
    mentionsBot: true,
    addressesOther: false,
  };
  const isNew = await deps.inbox.put(key, message, true);
  if (!isNew) tell('I am going on already.');
  deps.lanes.wake(key);
}

async function takeCommand(deps: IntakeDeps, event: InboundCommand): Promise<void> {
  if (!(await deps.inbox.first(event))) return;
  const { adapter, space, channel } = event.conversation;
  const profile = deps.profileOf({ adapter, space, channel, channelName: event.channelName });
  const access = await accessFor(deps, event, profile);
  if (access.kind === 'refused' || event.author.isBot) {
    const surface = adapterOf(deps, adapter).surfaceOf(event.conversation);
    const told =
      (access.kind === 'refused' ? access.told : null) ??
      'You are not on the list of people I work for here.';
    deps.background.start('refusal', () =>
      surface.whisper(event.author.id, told, event.interactionId),
    );
    return;
  }
  deps.commandCenter.takeCommand(event);
}

/** Notes the message as the last seen of its place; `use` makes the place one that is read back. */
async function saw(deps: IntakeDeps, message: InboundMessage, use: boolean): Promise<void> {
  const { adapter, space, channel, thread } = message.conversation;
  const { messageId, at, place } = message;
  const top = { adapter, space, channel, thread: null };
  if (place !== 'thread') await deps.seen.saw(top, messageId, at, use);
  if (place !== 'direct') {
    await deps.seen.saw({ adapter, space, channel, thread }, messageId, at, use);
  }
}
