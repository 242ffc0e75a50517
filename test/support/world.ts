/** The runs with a fake adapter, a scripted model and a memory store: a bot without a network. */

import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as realWait } from 'node:timers/promises';
import { afterEach } from 'vitest';
import { createRedactor } from '../../src/base/redaction.ts';
import { replyOf } from '../../src/config/profiles.ts';
import { createConversations, createSeenPlaces } from '../../src/conversations/conversations.ts';
import { conversationKeyOf } from '../../src/messages/conversation.ts';
import type { Entry } from '../../src/messages/entries.ts';
import {
  type LimitSettings,
  mergePermissions,
  type PermissionSettings,
} from '../../src/permissions/settings.ts';
import type { ReplySettings } from '../../src/render/settings.ts';
import type { OfferedModel, ResolvedModel } from '../../src/runs/deps.ts';
import { createRuns, type Runs } from '../../src/runs/runs.ts';
import {
  type AccessLists,
  type FileSettings,
  fileSettings,
  type Governance,
  type Profile,
  type RunSettings,
} from '../../src/runs/settings.ts';
import { createMemoryStore } from '../../src/storage/memory.ts';
import type { Store } from '../../src/storage/store.ts';
import type { InboundClick, InboundMessage, InboundReaction } from '../../src/surface/inbound.ts';
import { builtinTools } from '../../src/tools/builtin/all.ts';
import { createSearches } from '../../src/tools/builtin/searches.ts';
import type { RegisteredTool } from '../../src/tools/contract.ts';
import type { Thread } from '../../src/tools/ports.ts';
import { createGuardedFetch } from '../../src/tools/web/guarded-fetch.ts';
import { createFakeAdapter, type FakeAdapter } from './fake-adapter.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createKeptLog, type KeptLog } from './log.ts';
import { createLife, type Life, mortalAdapter, mortalStore } from './mortal.ts';
import { createMemoryReadMarks } from './read-marks.ts';
import { createScriptedModel, type ScriptedModel } from './scripted-model.ts';

export interface WorldOptions {
  readonly store?: (store: Store) => Store;
  readonly profile?: Partial<Profile>;
  readonly permissions?: PermissionSettings;
  readonly governance?: Partial<Governance>;
  readonly expireDays?: number;
  readonly answerers?: 'participants' | 'asker';
  readonly limits?: Partial<LimitSettings>;
  readonly files?: Partial<FileSettings>;
  readonly receipt?: RunSettings['receipt'];
  readonly reply?: ReplySettings;
  readonly offered?: readonly OfferedModel[];
  /** Another model than the scripted one for a name. */
  readonly modelOf?: (
    name: string | undefined,
    standard: ScriptedModel,
    standIn: string | undefined,
  ) => ResolvedModel;
  readonly choosableModel?: (given: string) => string;
  readonly tools?: readonly RegisteredTool[];
  readonly mostMessageLength?: number;
  readonly concurrency?: number;
  /** The first life ends at this call. */
  readonly dieAt?: Life['dieAt'];
  readonly secrets?: readonly { readonly name: string; readonly value: string }[];
}

export interface World {
  readonly clock: FakeClock;
  readonly log: KeptLog;
  readonly adapter: FakeAdapter;
  readonly model: ScriptedModel;
  readonly store: Store;
  readonly workspace: string;
  /** Conversations whose background commands were ended. */
  readonly stoppedJobs: string[];
  runs: Runs;
  /** Says something; the id is the thread of a top-level message too. */
  say(text: string, more?: Partial<InboundMessage>): Promise<InboundMessage>;
  click(controlId: string, more?: Partial<InboundClick>): Promise<void>;
  /** Puts an emoji on a message. */
  react(messageId: string, more?: Partial<InboundReaction>): Promise<void>;
  /** Moves time on until it is so; fails after a minute of fake time. */
  until(isSo: () => boolean): Promise<void>;
  /** Until every run that started has ended and its last words are shown. */
  atRest(): Promise<void>;
  /** The life that runs now. */
  life: Life;
  /** Ends this life as a crash would and begins a new one over the same store. */
  restart(dieAt?: Life['dieAt'], options?: { readonly start: boolean }): void;
  entries(thread: string): Promise<readonly Entry[]>;
  close(): Promise<void>;
}

export const anna = {
  id: 'web:anna',
  name: 'Anna',
  isBot: false,
  standing: 'member',
  roles: [],
} as const;
export const ben = {
  id: 'web:ben',
  name: 'Ben',
  isBot: false,
  standing: 'member',
  roles: [],
} as const;

export const noLists: AccessLists = { users: [], channels: [], roles: [], spaces: [] };

/** Sets up running worlds in a test file; each is closed when its test is over. */
export function usingWorlds(): (options?: WorldOptions) => Promise<World> {
  const worlds: World[] = [];
  afterEach(async () => {
    await Promise.all(worlds.splice(0).map((world) => world.close()));
  });
  return async (options = {}) => {
    const world = await createWorld(options);
    worlds.push(world);
    world.runs.start();
    return world;
  };
}

/** One thread for all worlds of a test file. */
const searches = createSearches();

/** Real time passes until the thread is up, and fake time must not run away meanwhile. */
async function warmSearches(workspace: string): Promise<void> {
  const place = { real: workspace, root: workspace, shown: '.', canonical: '.' };
  await searches.run(
    { kind: 'glob', place, pattern: '*', includeIgnored: false },
    new AbortController().signal,
  );
}

/** Where a test says nothing of permissions, nobody needs to be asked. */
const allowAll: PermissionSettings = { rules: [{ allow: ['*'] }] };

export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const clock = createFakeClock();
  const log = createKeptLog();
  const adapter = createFakeAdapter(
    options.mostMessageLength === undefined ? {} : { mostMessageLength: options.mostMessageLength },
  );
  const model = createScriptedModel(clock);
  const memory = createMemoryStore({ clock, log });
  const store = options.store ? options.store(memory) : memory;
  const workspace = await mkdtemp(path.join(os.tmpdir(), 'deckhand-'));
  if (!options.tools) await warmSearches(workspace);
  const toolsOf = (thread: Thread): readonly RegisteredTool[] =>
    options.tools ??
    builtinTools({
      clock,
      thread,
      searches,
      readMarks: createMemoryReadMarks(),
      media: () => fileSettings.parse({}),
      web: { fetch: createGuardedFetch(), options: () => ({ allow: [], deny: [] }) },
    });
  let messages = 0;
  let ids = 0;

  const live = (life: Life): Runs =>
    createRuns(
      {
        store: mortalStore(store, life),
        clock,
        log,
        newId: (prefix) => {
          ids += 1;
          return `${prefix}_${ids}`;
        },
        redactor: createRedactor(options.secrets ?? []),
        conversations: createConversations({ store: mortalStore(store, life), clock, log }),
        seen: createSeenPlaces({ store: mortalStore(store, life), clock, log }),
        adapters: new Map([[adapter.name, mortalAdapter(adapter, life)]]),
        modelOf: async (name, standIn) => options.modelOf?.(name, model, standIn) ?? model,
        offeredModels: () => options.offered ?? [{ name: model.name, aliases: [] }],
        choosableModel: options.choosableModel ?? ((given) => given),
        toolsOf,
        stopJobs: async (key) => {
          world.stoppedJobs.push(key);
        },
        profileOf: () => ({
          instructions: [],
          model: undefined,
          followUps: { value: 'all', source: 'default' },
          reasoning: [],
          webSearch: { value: false, source: 'default' },
          channelHistory: { value: true, source: 'default' },
          allow: [],
          deny: [],
          permissions: mergePermissions([
            { value: options.permissions ?? allowAll, source: 'test' },
          ]),
          reply: replyOf([{ value: options.reply ?? {}, source: 'test' }]),
          ...options.profile,
        }),
        governance: () => ({
          admins: [],
          bots: [],
          modelChoice: 'everybody',
          ...options.governance,
        }),
        workspaceOf: async () => ({ folder: workspace, mounts: [] }),
        commands: [],
        botName: 'Deckhand',
        settings: {
          runs: {
            concurrency: options.concurrency ?? 16,
            drainSeconds: 2,
            readBackDays: 7,
            receipt: options.receipt ?? 'changes',
          },
          agent: { toolTimeoutSeconds: 120, toolsAtOnce: 8 },
          limits: { runsPerPersonHour: 10_000, stepsPerRun: 25, ...options.limits },
          questions: {
            answerers: options.answerers ?? 'participants',
            expireDays: options.expireDays ?? 7,
          },
          files: fileSettings.parse(options.files ?? {}),
        },
      },
      { allowedSpaces: () => [] },
    );

  const first = createLife(options.dieAt);
  const world: World = {
    clock,
    log,
    adapter,
    model,
    store,
    workspace,
    stoppedJobs: [],
    life: first,
    runs: live(first),
    say: async (text, more = {}) => {
      messages += 1;
      const messageId = more.messageId ?? `u${messages}`;
      const place = more.place ?? 'channel';
      const thread = more.conversation?.thread ?? messageId;
      const message: InboundMessage = {
        kind: 'message',
        eventKey: `web:general:${messageId}`,
        conversation: { adapter: 'web', space: 'local', channel: 'general', thread },
        author: anna,
        at: clock.now() + messages,
        channelName: 'general',
        channelKind: 'public',
        messageId,
        place,
        text,
        files: [],
        mentionsBot: place === 'channel',
        addressesOther: false,
        ...more,
      };
      await world.runs.onEvent(message);
      return message;
    },
    click: async (controlId, more = {}) => {
      messages += 1;
      await world.runs.onEvent({
        kind: 'click',
        eventKey: `click:${messages}`,
        conversation: { adapter: 'web', space: 'local', channel: 'general', thread: 'u1' },
        author: anna,
        at: clock.now(),
        controlId,
        values: [],
        cardId: 'm1',
        interactionId: `i${messages}`,
        ...more,
      });
    },
    react: async (messageId, more = {}) => {
      messages += 1;
      await world.runs.onEvent({
        kind: 'reaction',
        eventKey: `reaction:${messages}`,
        place: { adapter: 'web', space: 'local', channel: 'general' },
        author: anna,
        at: clock.now(),
        messageId,
        emoji: '❌',
        ...more,
      });
    },
    until: async (isSo) => {
      for (let turn = 0; turn < 600; turn += 1) {
        if (isSo()) return;
        await clock.advance(100);
        // Tools work on real files: give them real turns of the loop.
        await realTurns();
      }
      throw new Error('it did not come to be so within a minute');
    },
    atRest: async () => {
      await clock.settle();
      await realTurns();
      const count = (event: string): number =>
        log.lines.filter((line) => line.event === event).length;
      await world.until(() => count('run_started') === count('run_ended'));
      await clock.advance(5000);
      await realTurns();
    },
    restart: (dieAt, { start } = { start: true }) => {
      world.life.isDead = true;
      world.life = createLife(dieAt);
      world.runs = live(world.life);
      if (start) world.runs.start();
    },
    entries: async (thread) => {
      const key = conversationKeyOf({ adapter: 'web', space: 'local', channel: 'general', thread });
      const read = await createConversations({ store, clock, log }).transcript(key).read({});
      return read.map(({ value }) => value);
    },
    close: () => rm(workspace, { recursive: true, force: true }),
  };
  return world;
}

/** Tools work on real files: real time passes, a millisecond at a time. */
async function realTurns(): Promise<void> {
  await realWait(1);
}

/** A message in an existing thread, without a mention. */
export function inThread(thread: string): Partial<InboundMessage> {
  return {
    place: 'thread',
    mentionsBot: false,
    conversation: { adapter: 'web', space: 'local', channel: 'general', thread },
  };
}
