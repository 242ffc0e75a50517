/**
 * What a new run begins with: the model and prompt of its place, the thread's history where the bot
 * comes to an older thread, and the decision trace that `why` shows.
 */

import { errorFacts } from '../base/log.ts';
import { systemPromptOf } from '../context/system-prompt.ts';
import type { Choice } from '../conversations/choices.ts';
import type { Touch } from '../conversations/conversations.ts';
import type { ToolSpec } from '../messages/chat.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { Entry } from '../messages/entries.ts';
import type { Author } from '../messages/people.ts';
import type { InboundMessage } from '../surface/inbound.ts';
import { specOf } from '../tools/registry.ts';
import { modelSource, reasoningOf, settleChoice } from './choice.ts';
import type { RunsDeps } from './deps.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import type { WaitingMessage } from './inbox.ts';
import { placeOfScene } from './membership.ts';
import type { RunRecord } from './run-record.ts';
import type { Scene } from './scene.ts';
import type { Place, Profile } from './settings.ts';
import { refusalToStart } from './spending.ts';

/** Messages of an older thread that are read as context. */
const mostHistory = 50;

const platformNames: Readonly<Record<string, string>> = {
  slack: 'Slack',
  discord: 'Discord',
  web: 'the local page',
};

export async function prepareRun(
  deps: ExecuteDeps,
  scene: Scene,
  waiting: readonly WaitingMessage[],
): Promise<RunRecord> {
  const messages = waiting.flatMap(({ event }) => (event.kind === 'message' ? [event] : []));
  const [first] = messages;
  if (!first) throw new Error('a run without a message');
  const isOfBots = messages.every(({ author }) => author.isBot);
  // A crash can leave a message stored whose conversation has no head yet.
  if (!scene.head) await deps.conversations.touch(scene.key, touchOf(first));
  await deps.conversations.update(scene.key, (head) => ({
    ...head,
    botRuns: isOfBots ? head.botRuns + 1 : 0,
  }));
  await readHistory(deps, scene, first);
  const isPlanning = asksForPlan(messages);
  if (isPlanning) {
    await notePlanning(deps, scene);
  }
  const profile = deps.profileOf(placeOf(first));
  const { choice, ended, notices } = await settleChoice(deps, scene.key);
  const { why, ...asked } = await modelFor(deps, profile, choice);
  const runId = deps.newId('run');
  const start = await whoStarts(deps, scene.key, runId, messages);
  const record: RunRecord = {
    v: 1,
    runId,
    state: 'running',
    triggerIds: messages.map(({ messageId }) => messageId),
    asker: {
      id: start.asker.id,
      name: start.asker.name,
      roles: start.asker.roles,
      isBot: start.asker.isBot,
    },
    addressed: waiting.some(({ addressed }) => addressed),
    startedAt: deps.clock.now(),
    segment: 1,
    segmentFromStep: 0,
    system: systemPromptOf({
      botName: deps.botName,
      platform: platformNames[first.conversation.adapter] ?? first.conversation.adapter,
      instructions: profile.instructions.map(({ value }) => value),
    }),
    ...asked,
    isRetry: false,
    rulings: [],
    callTimes: [],
    handovers: [],
    sources: [],
    images: {},
    endedChoice: ended,
    notices: [...notices, ...(start.refusal === undefined ? [] : [start.refusal])],
    decisions: [],
    refused: [],
    isPlanning,
    isRefused: start.refusal !== undefined,
  };
  const newest = messages.at(-1) ?? first;
  const source = modelSource(profile, choice) ?? why ?? 'not available';
  const chosen = `${record.modelName} (${source})`;
  await deps.traces.noteModel(scene.key, newest.messageId, chosen);
  deps.log.info('run_started', {
    runId: record.runId,
    conversation: scene.key,
    model: record.modelName,
  });
  return record;
}

/** What a run is asked with: the model of its place or choice, its tools, how it is to think. */
async function modelFor(
  deps: ExecuteDeps,
  profile: Profile,
  choice: Choice,
): Promise<
  Pick<RunRecord, 'modelName' | 'toolSpecs' | 'reasoning' | 'webSearch'> & {
    readonly why: string | undefined;
  }
> {
  const wanted = choice.model?.value ?? profile.model?.value;
  const model = await deps.modelOf(wanted).catch((thrown: unknown) => {
    deps.log.error('model_not_available', errorFacts(thrown));
    return undefined;
  });
  return {
    why: model?.why,
    // A model that is not to be had makes the run fail with its reason, visibly.
    modelName: model?.name ?? wanted ?? '',
    toolSpecs: specsFor(deps, profile.webSearch.value && (model?.hasWebSearch ?? false)),
    reasoning: reasoningOf(profile, choice),
    webSearch: profile.webSearch.value,
  };
}

/** The same for a run that is there already: as things are chosen now. */
export async function modelNow(
  deps: ExecuteDeps,
  scene: Scene,
): Promise<Pick<RunRecord, 'modelName' | 'toolSpecs' | 'reasoning' | 'webSearch'>> {
  const { choice } = await settleChoice(deps, scene.key);
  const profile = deps.profileOf(placeOfScene(scene));
  const { why: _why, ...asked } = await modelFor(deps, profile, choice);
  return asked;
}

/** Where the vendor searches the web itself, no second search is offered. */
function specsFor({ tools }: ExecuteDeps, hasOwnSearch: boolean): readonly ToolSpec[] {
  return tools.filter(({ name }) => !(hasOwnSearch && name === 'WebSearch')).map(specOf);
}

const planningNote =
  'Plan mode: look at what you need, but change nothing. When the plan is complete, call ExitPlanMode with it; carry it out only after it was approved.';

/** Tells the model that it is to make a plan. */
export async function notePlanning(
  { clock }: Pick<ExecuteDeps, 'clock'>,
  { transcript }: Pick<Scene, 'transcript'>,
): Promise<void> {
  const at = clock.now();
  await transcript.append([{ v: 1, at, kind: 'note', text: planningNote, about: 'run' }]);
}

/** `plan: …`: nothing is changed before a plan is approved. */
export function asksForPlan(messages: readonly InboundMessage[]): boolean {
  return messages.some(({ text }) => /^\s*plan:/iu.test(text));
}

/**
 * The first of the people who wrote that has runs left is the asker; the others' messages enter the
 * run too. Where nobody has, the run says so and makes no step.
 */
async function whoStarts(
  deps: ExecuteDeps,
  key: ConversationKey,
  runId: string,
  messages: readonly InboundMessage[],
): Promise<{ readonly asker: Author; readonly refusal?: string }> {
  const authors = new Map(messages.map(({ author }) => [author.id, author]));
  let refused: { readonly asker: Author; readonly refusal: string } | undefined;
  for (const asker of authors.values()) {
    const refusal = await refusalToStart(deps, key, runId, asker);
    if (refusal === undefined) return { asker };
    refused ??= { asker, refusal };
  }
  if (!refused) throw new Error('a run without an author');
  return refused;
}

export function touchOf(message: InboundMessage): Touch {
  return {
    title: message.text,
    messageId: message.messageId,
    channelName: message.channelName,
    channelKind: message.channelKind,
    author: message.author,
    authorIsBot: message.author.isBot,
  };
}

export function placeOf(message: InboundMessage): Place {
  const { adapter, space, channel } = message.conversation;
  return { adapter, space, channel, channelName: message.channelName };
}

/** Once, where the thread was there before the bot. */
async function readHistory(deps: RunsDeps, scene: Scene, first: InboundMessage): Promise<void> {
  if (first.place !== 'thread' || scene.transcript.entries().length > 0) return;
  if (scene.head && scene.head.contextFrom > 1) return;
  const { seen } = deps.profileOf(placeOf(first)).reply;
  try {
    const [history] = await Promise.all([
      scene.surface.history(mostHistory),
      // Reading may take long: that the mention was seen is shown before the run is.
      seen.value === 'reaction' ? undefined : scene.surface.status('working'),
    ]);
    const before = history.filter(
      ({ messageId, at }) => messageId !== first.messageId && at <= first.at,
    );
    if (before.length === 0) return;
    const entry: Entry = {
      v: 1,
      at: first.at,
      kind: 'history',
      messages: before.map(({ messageId, author, text, at }) => ({ messageId, author, text, at })),
    };
    await scene.transcript.append([entry]);
  } catch (thrown) {
    // The run is worth more than what was said before it.
    deps.log.warn('history_not_read', { conversation: scene.key, ...errorFacts(thrown) });
  }
}
