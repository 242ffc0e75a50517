/** Everything that happens between a platform event and a reply, put together. */

import { createChoices } from '../conversations/choices.ts';
import { createUsageLedger } from '../conversations/usage-ledger.ts';
import { type Conversation, conversationKeyOf } from '../messages/conversation.ts';
import type { Author } from '../messages/people.ts';
import { auditEntrySchema, createAudit } from '../permissions/audit.ts';
import { createGrants } from '../permissions/grants.ts';
import { createApprovals } from '../questions/approvals.ts';
import { createQuestions } from '../questions/questions.ts';
import type { QuestionRecord } from '../questions/record.ts';
import { createAppendLog } from '../storage/append-log.ts';
import type { IndexEntry } from '../storage/store.ts';
import { createWakes, wakeEntryOf } from '../storage/wakes.ts';
import type { OnEvent } from '../surface/adapter.ts';
import type { CommandSummary } from '../surface/command.ts';
import type { Surface } from '../surface/surface.ts';
import { accessIn, accessOf } from './access.ts';
import { approversOf, refusalToDecide } from './approving.ts';
import { createBackground } from './background.ts';
import { builtinCommands } from './builtin-commands.ts';
import { createChooser } from './choice-commands.ts';
import { createCommandCenter } from './commands.ts';
import type { RunsDeps } from './deps.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import { createFeedback } from './feedback.ts';
import { createGrantBook } from './grant-book.ts';
import { createInbox } from './inbox.ts';
import { createIntake } from './intake.ts';
import { createLanes, type Lanes } from './lane.ts';
import { createMessageFiles } from './message-files.ts';
import { outwardAdapters } from './outward.ts';
import { createRunQuota } from './quota.ts';
import { createReadBack, type ReadBack } from './read-back.ts';
import { createRedraws } from './redraws.ts';
import { createRetries } from './retry.ts';
import { createRunRecords } from './run-record.ts';
import { createSigns } from './signs.ts';
import { createSpaces, type Spaces } from './spaces.ts';
import { createStatusBook } from './status-book.ts';
import { createThreadPort } from './thread-port.ts';
import { createTraces } from './why.ts';
import { createWork } from './work.ts';

export interface Runs {
  readonly onEvent: OnEvent;
  readonly commands: readonly CommandSummary[];
  /** Before the adapters connect: notes where they stand. */
  prepare(): Promise<void>;
  /** After the adapters are connected: takes up what an earlier life left and what was missed. */
  start(): void;
  /** Takes no new work and ends running work, so that a next start can take it up. */
  stop(): Promise<void>;
}

export function createRuns(
  given: RunsDeps,
  options: { readonly allowedSpaces: () => readonly string[] },
): Runs {
  const adapters = outwardAdapters(given);
  const deps: RunsDeps = { ...given, adapters };
  const { store, clock, log } = deps;
  const wakes = createWakes(store);
  const background = createBackground({ log });
  const inbox = createInbox({ store, clock, log, wakeOf: wakeEntryOf });
  const files = createMessageFiles({
    ...{ clock, log, workspaceOf: deps.workspaceOf },
    limits: () => deps.settings.files,
  });
  const signs = createSigns({ background });
  const spaces = createSpaces({ store, log }, options.allowedSpaces);
  const traces = createTraces({ store, clock, log });
  const audit = createAppendLog({ store, log }, 'audit', auditEntrySchema);

  const surfaceOf = (conversation: Conversation): Surface => {
    const adapter = deps.adapters.get(conversation.adapter);
    if (!adapter) throw new Error(`no adapter ${conversation.adapter} is on`);
    return adapter.surfaceOf(conversation);
  };
  const statuses = createStatusBook({ store, clock, log, surfaceOf });
  const wakeOf = (conversation: Conversation): IndexEntry =>
    wakeEntryOf(conversationKeyOf(conversation), clock.now());
  const cardDeps = { store, clock, log, newId: deps.newId, wakeOf, surfaceOf };
  const questions = createQuestions({
    ...cardDeps,
    mayAnswer: (author, record) => mayAnswer({ ...deps, spaces }, author, record),
  });
  const approvals = createApprovals({
    ...cardDeps,
    roomOf: ({ adapter }) => {
      const known = deps.adapters.get(adapter)?.capabilities;
      return {
        mostLength: known?.mostMessageLength ?? 2000,
        lengthOf: (markdown) => known?.lengthOf(markdown) ?? markdown.length,
      };
    },
    refusalOf: (author, record, decision) =>
      refusalToDecide({ ...deps, spaces }, author, record, decision),
    approversOf: (record) => approversOf(deps, record),
  });
  const records = createRunRecords({ store, log });
  const executeDeps: ExecuteDeps = {
    ...deps,
    adapters,
    tools: deps.toolsOf(createThreadPort({ ...deps, records })),
    inbox,
    files,
    questions,
    approvals,
    grants: createGrants({
      now: () => clock.now(),
      newId: deps.newId,
      book: createGrantBook({ store, log, now: () => clock.now() }),
    }),
    records,
    signs,
    statuses,
    redraws: createRedraws(),
    traces,
    choices: createChoices({ store, log }),
    ledger: createUsageLedger({ store, clock, log }),
    quota: createRunQuota({ store, clock }),
    audit: createAudit({
      now: () => clock.now(),
      append: (entries) => audit.append(entries),
    }),
  };
  const work = createWork(executeDeps);
  const lanes: Lanes = createLanes(
    { clock, log, wakes, work },
    { concurrency: deps.settings.runs.concurrency },
  );
  const chooser = createChooser({
    ...executeDeps,
    accessOf: async (author, { adapter, space, channel, channelName, sharedSpaces }) => {
      const own = deps.adapters.get(adapter);
      const allowedSpaces = own ? await spaces.allowed(own) : [];
      const profile = deps.profileOf({ adapter, space, channel, channelName });
      const place = { adapter, space, channel, ...(sharedSpaces ? { sharedSpaces } : {}) };
      return accessOf(author, place, profile, allowedSpaces);
    },
  });
  const commandCenter = createCommandCenter(
    { ...executeDeps, background },
    builtinCommands({ ...executeDeps, lanes: () => lanes, spaces, traces }, [
      ...chooser.commands,
      ...deps.commands,
    ]),
  );
  const onEvent = createIntake({
    ...executeDeps,
    lanes,
    spaces,
    traces,
    background,
    commandCenter,
    chooser,
    feedback: createFeedback(executeDeps),
    retries: createRetries({ ...executeDeps, lanes: () => lanes }),
    readBack: () => readBack,
  });

  const readBack: ReadBack = createReadBack(
    { clock, log, background, adapters: deps.adapters, seen: deps.seen, onEvent },
    { days: deps.settings.runs.readBackDays },
  );

  return {
    onEvent,
    prepare: () => readBack.prepare(),
    commands: commandCenter.summaries,
    start: () => {
      lanes.start();
      background.start('statuses', () =>
        statuses.sweep(async (key) => {
          const record = await records.read(key);
          return record !== undefined && record.state !== 'suspended';
        }),
      );
      for (const adapter of deps.adapters.values()) {
        background.start('read_back', async () => {
          await spaces.settle(adapter);
          await onEvent({ kind: 'gap', adapter: adapter.name });
        });
      }
    },
    stop: async () => {
      readBack.stop();
      statuses.stop();
      const graceMs = deps.settings.runs.drainSeconds * 1000;
      const cancelStop = clock.setTimer(graceMs, () => files.stop());
      await lanes.drain(graceMs);
      cancelStop();
      files.stop();
      await background.settled();
    },
  };
}

/** Who may answer a question: of those who may use the bot here, the people of the thread, or the
 * asker alone. */
async function mayAnswer(
  deps: RunsDeps & { readonly spaces: Spaces },
  author: Author,
  record: QuestionRecord,
): Promise<boolean> {
  const head = await deps.conversations.head(conversationKeyOf(record.conversation));
  const access = await accessIn(deps, author, record.conversation, head);
  if (access.kind === 'refused') return false;
  if (author.id === record.asker.id) return true;
  if (deps.settings.questions.answerers === 'asker') return false;
  return head?.people.some(({ id }) => id === author.id) ?? false;
}
