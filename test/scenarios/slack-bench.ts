/** The whole process beside an emulated Slack workspace and a model server, for scenarios. */

import type { AnswerPiece } from '../emulators/model/script.ts';
import { createModelServer, type ModelServer } from '../emulators/model-server.ts';
import {
  createSlackWorkspace,
  type SlackWorkspace,
  type WorkspaceOptions,
} from '../emulators/slack/workspace.ts';
import { type BotFolder, type BotProcess, createBotFolder } from '../support/bot-process.ts';
import { keepSlackLimits } from '../support/platform-limits.ts';
import { freePort } from '../support/servers.ts';
import { until } from '../support/until.ts';

export interface SlackBench {
  readonly workspace: SlackWorkspace;
  readonly model: ModelServer;
  readonly folder: BotFolder;
  readonly port: number;
  /** Where the process takes signed events. */
  readonly eventsUrl: string;
  readonly start: (environment?: Readonly<Record<string, string>>) => Promise<BotProcess>;
  /** Anna mentions the bot in #ops; the thread. */
  readonly mention: (text: string) => string;
  /** The bot's messages in a thread, oldest first. */
  readonly answers: (thread: string) => readonly string[];
  readonly untilAnswers: (
    thread: string,
    isSo: (answers: readonly string[]) => boolean,
    mostMs?: number,
  ) => Promise<readonly string[]>;
  /** Clicks a button whose label begins so, in the thread's newest card. */
  readonly press: (user: string, thread: string, label: string) => void;
  readonly close: () => Promise<void>;
}

export type SlackWay = 'socket' | 'http' | 'both';

/** #ops is C1, with U_ANNA and U_BEN. */
export async function createSlackBench(
  options: { readonly way?: SlackWay; readonly workspace?: WorkspaceOptions } = {},
): Promise<SlackBench> {
  const { way = 'socket' } = options;
  const [workspace, model, folder, port] = await Promise.all([
    createSlackWorkspace({
      ackTimeoutMs: 2500,
      retryDelaysMs: [100, 500, 2000],
      ...options.workspace,
    }),
    createModelServer(),
    createBotFolder(),
    freePort(),
  ]);
  keepSlackLimits(workspace);
  workspace.addUser({ id: 'U_ANNA', name: 'Anna' });
  workspace.addUser({ id: 'U_BEN', name: 'Ben' });
  workspace.addChannel({ id: 'C1', name: 'ops', members: ['U_ANNA', 'U_BEN'] });
  workspace.sockets.use(way !== 'http');
  const eventsUrl = `http://127.0.0.1:${port}/slack/events`;
  if (way !== 'socket') workspace.eventsTo(eventsUrl);

  const answers = (thread: string): readonly string[] =>
    workspace
      .thread('C1', thread)
      .filter(({ isBot }) => isBot)
      .map(({ text }) => text);

  return {
    workspace,
    model,
    folder,
    port,
    eventsUrl,
    start: (environment = {}) =>
      folder.start({
        PORT: String(port),
        SLACK_BOT_TOKEN: workspace.botToken,
        SLACK_API_URL: workspace.apiUrl,
        ...(way === 'http' ? {} : { SLACK_APP_TOKEN: workspace.appToken }),
        ...(way === 'socket' ? {} : { SLACK_SIGNING_SECRET: workspace.signingSecret }),
        COMPATIBLE_BASE_URL: model.baseUrl('compatible'),
        DECKHAND_MODEL: 'compatible/test-model',
        ...environment,
      }),
    mention: (text) => workspace.say('U_ANNA', 'C1', `${workspace.mention} ${text}`),
    answers,
    untilAnswers: async (thread, isSo, mostMs = 25_000) => {
      await until(() => isSo(answers(thread)), mostMs).catch((thrown: unknown) => {
        throw new Error(`the answers stayed ${JSON.stringify(answers(thread))}`, { cause: thrown });
      });
      return answers(thread);
    },
    press: (user, thread, label) => {
      const cards = workspace.thread('C1', thread);
      const card = cards.findLast(({ text }) => text.includes(`[${label}`));
      const buttons = card?.text.match(/\[([^\]]+)\]/gu) ?? [];
      const button = buttons.find((one) => one.startsWith(`[${label}`));
      if (!card || !button) throw new Error(`no button ${label}`);
      workspace.click(user, card.ts, button.slice(1, -1));
    },
    close: async () => {
      await folder.close();
      await Promise.all([workspace.close(), model.close()]);
    },
  };
}

/** Runs a test on a bench of its own. */
export async function usingSlackBench(
  test: (bench: SlackBench) => Promise<void>,
  options: Parameters<typeof createSlackBench>[0] = {},
): Promise<void> {
  const bench = await createSlackBench(options);
  try {
    await test(bench);
  } finally {
    await bench.close();
  }
}

/** A call of AskUserQuestion with one question. */
export const askWhere = {
  kind: 'call',
  id: 'call_ask',
  name: 'AskUserQuestion',
  input: {
    questions: [
      {
        question: 'Where to?',
        header: 'Target',
        options: [
          { label: 'Staging', description: 'safe' },
          { label: 'Production', description: 'live' },
        ],
        multiSelect: false,
      },
    ],
  },
} satisfies AnswerPiece;
