/** The real adapter with the real client library, connected to an emulated workspace. */

import { createSlackAdapter, type SlackAdapterDeps } from '../../../adapters/slack/adapter.ts';
import type { SlackSettings } from '../../../adapters/slack/settings.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { type NewId, randomId } from '../../../src/base/ids.ts';
import type { Conversation } from '../../../src/messages/conversation.ts';
import type { Adapter, OnEvent } from '../../../src/surface/adapter.ts';
import type { InboundEvent } from '../../../src/surface/inbound.ts';
import type { OutboundMessage } from '../../../src/surface/outbound.ts';
import {
  createSlackWorkspace,
  type SlackWorkspace,
  type WorkspaceOptions,
} from '../../emulators/slack/workspace.ts';
import { createKeptLog, type KeptLog } from '../../support/log.ts';

export interface SlackSetUp {
  readonly workspace: SlackWorkspace;
  readonly adapter: Adapter;
  readonly log: KeptLog;
  /** What was stored, in order. */
  readonly events: InboundEvent[];
  /** Storing fails from now on, or works again. */
  failStoring(on: boolean): void;
  /** Storing takes until the returned function is called. */
  holdStoring(): () => void;
  /** The first stored event of a kind, once it is there. */
  first<Kind extends InboundEvent['kind']>(
    kind: Kind,
    mostMs?: number,
  ): Promise<Extract<InboundEvent, { kind: Kind }>>;
  conversation(channel: string, thread: string): Conversation;
  close(): Promise<void>;
}

export interface SetUpOptions {
  readonly workspace?: WorkspaceOptions;
  readonly settings?: Partial<SlackSettings>;
  /** Leaves these out of the settings. */
  readonly without?: readonly ('appToken' | 'botToken')[];
  readonly deps?: Partial<SlackAdapterDeps>;
  /** False: the test starts the adapter itself. */
  readonly start?: boolean;
  prepare?(workspace: SlackWorkspace): void;
}

/** #ops (C1) with Anna and Bo; the direct channel D1 of Anna. */
export async function setUpSlack(options: SetUpOptions = {}): Promise<SlackSetUp> {
  const workspace = await createSlackWorkspace({
    ackTimeoutMs: 2_500,
    retryDelaysMs: [30, 60, 120],
    ...options.workspace,
  });
  workspace.addUser({ id: 'U_ANNA', name: 'Anna' });
  workspace.addUser({ id: 'U_BO', name: 'Bo Li' });
  workspace.addChannel({ id: 'C1', name: 'ops', members: ['U_ANNA', 'U_BO'] });
  options.prepare?.(workspace);
  const log = createKeptLog();
  const newId: NewId = randomId;
  const all: SlackSettings = {
    botToken: workspace.botToken,
    appToken: workspace.appToken,
    apiUrl: workspace.apiUrl,
    ...options.settings,
  };
  const without: readonly string[] = options.without ?? [];
  const settings = Object.fromEntries(
    Object.entries(all).filter(([name]) => !without.includes(name)),
  );
  const adapter = createSlackAdapter({ clock: systemClock, log, newId, ...options.deps }, settings);
  const events: InboundEvent[] = [];
  let fails = false;
  let held: Promise<void> | null = null;
  const onEvent: OnEvent = async (event) => {
    if (held !== null) await held;
    if (fails) throw new Error('The store is down.');
    events.push(event);
  };
  if (options.start !== false) await adapter.start(onEvent);
  return {
    workspace,
    adapter,
    log,
    events,
    failStoring: (on) => {
      fails = on;
    },
    holdStoring: () => {
      let release = (): void => undefined;
      held = new Promise((resolve) => {
        release = resolve;
      });
      return () => {
        held = null;
        release();
      };
    },
    first: async (kind, mostMs) => {
      const find = (): InboundEvent | undefined => events.find((event) => event.kind === kind);
      await workspace.until(() => find() !== undefined, mostMs);
      const found = find();
      if (found === undefined || !isKind(found, kind)) throw new Error(`No ${kind} came.`);
      return found;
    },
    conversation: (channel, thread) => ({
      adapter: 'slack',
      space: workspace.teamId,
      channel,
      thread,
    }),
    close: async () => {
      await adapter.stop();
      await workspace.close();
    },
  };
}

/** A set-up that is closed after the test. */
export async function usingSlack(
  test: (slack: SlackSetUp) => Promise<void>,
  options: SetUpOptions = {},
): Promise<void> {
  const slack = await setUpSlack(options);
  try {
    await test(slack);
  } finally {
    await slack.close();
  }
}

function isKind<Kind extends InboundEvent['kind']>(
  event: InboundEvent,
  kind: Kind,
): event is Extract<InboundEvent, { kind: Kind }> {
  return event.kind === kind;
}

/** A message of one Markdown block. */
export function markdown(
  text: string,
  mentionable: OutboundMessage['mentionable'] = [],
): OutboundMessage {
  return { blocks: [{ kind: 'markdown', text }], mentionable };
}
