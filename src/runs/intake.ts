/**
 * Takes what adapters bring: decides by pure rules, stores, and only then resolves, so that the
 * adapter acknowledges what is safe (rule 1). All further work goes on behind.
 */

import { sleep } from '../base/clock.ts';
import { BotError, isBotError } from '../base/errors.ts';
import { conversationKeyOf, parseConversationKey } from '../messages/conversation.ts';
import type { Adapter, OnEvent } from '../surface/adapter.ts';
import type {
  InboundCommand,
  InboundDeletion,
  InboundEdit,
  InboundMessage,
  InboundReaction,
} from '../surface/inbound.ts';
import { isStopEmoji } from '../surface/reactions.ts';
import type { Surface } from '../surface/surface.ts';
import { type Access, accessIn, accessOf } from './access.ts';
import type { CommandCenter } from './commands.ts';
import { placeOf, touchOf } from './prepare.ts';
import { type PressDeps, takePress } from './presses.ts';
import type { ReadBack } from './read-back.ts';
import type { Profile } from './settings.ts';
import { liveRunOf, meansStop, stopRun } from './stopping.ts';
import { type Trigger, triggerOf } from './trigger.ts';
import type { Traces } from './why.ts';

export interface IntakeDeps extends PressDeps {
  readonly traces: Traces;
  readonly commandCenter: CommandCenter;
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
      case 'reaction':
        return takeReaction(deps, event);
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
  } else if (!(await isCommand(deps, key, message, trigger.addressed))) {
    await store(deps, key, message, trigger, access, profile);
  }
  // Only now is it taken care of: what is not stored is read back again.
  await saw(deps, message, access.kind === 'allowed');
}

/** `!stop`, or `stop` alone where something runs. */
async function isCommand(
  { commandCenter, ...deps }: IntakeDeps,
  key: string,
  message: InboundMessage,
  addressed: boolean,
): Promise<boolean> {
  const isStop = message.files.length === 0 && (await meansStop(deps, key, message.text));
  return commandCenter.takeMessage(isStop ? { ...message, text: '!stop' } : message, addressed);
}

async function store(
  deps: IntakeDeps,
  key: string,
  message: InboundMessage,
  trigger: Extract<Trigger, { kind: 'answer' }>,
  access: Access,
  profile: Profile,
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
  showSeen(deps, key, surface, messageId, profile);
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

/** At once: it was noted for the run under way, or it is being worked on, or it waits for room. */
function showSeen(
  { lanes, signs }: IntakeDeps,
  key: string,
  surface: Surface,
  messageId: string,
  { reply }: Profile,
): void {
  if (lanes.active(key)) signs.putOn(surface, messageId);
  else if (reply.seen.value !== 'status') signs.see(surface, messageId);
  // The platform's own sign comes with the run.
  else if (lanes.isFull()) signs.putOn(surface, messageId);
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

const lookAgainMs = 250;
const mostLooks = 20;

/** An X on what runs ends it, by those who may. Whatever else people put on messages is theirs. */
async function takeReaction(deps: IntakeDeps, event: InboundReaction): Promise<void> {
  if (event.author.isBot || !isStopEmoji(event.emoji)) return;
  if (await takeCross(deps, event)) return;
  // Quicker than the platform's answer to the post that it is on.
  deps.background.start('reaction', async () => {
    for (let look = 1; look < mostLooks; look += 1) {
      await sleep(deps.clock, lookAgainMs);
      if (await takeCross(deps, event)) return;
    }
  });
}

/** False where a message is being posted that the X may be on. */
async function takeCross(deps: IntakeDeps, event: InboundReaction): Promise<boolean> {
  const { place, author, messageId } = event;
  const live = await liveRunOf(deps, messageId, (one) => {
    const { adapter, space, channel } = parseConversationKey(one);
    return adapter === place.adapter && space === place.space && channel === place.channel;
  });
  if (live.kind === 'unsettled') return false;
  if (live.kind === 'none' || !(await deps.inbox.first(event))) return true;
  const { key } = live;
  const conversation = parseConversationKey(key);
  const access = await accessIn(deps, author, conversation, await deps.conversations.head(key));
  if (access.kind === 'refused') await refuse(deps, { author, conversation }, access, true);
  else await stopRun(deps, key, author.name);
  return true;
}

/** One private line, at most once an hour a person; none where the bot was not addressed. */
async function refuse(
  deps: IntakeDeps,
  event: Pick<InboundMessage, 'author' | 'conversation'> | InboundCommand,
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
  const interactionId = 'interactionId' in event ? event.interactionId : undefined;
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
