/** The whole process on one platform, under permissions that a test writes into its configuration. */

import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { PermissionSettings } from '../../src/permissions/settings.ts';
import { type MessageAnswer, say } from '../emulators/model/script.ts';
import { createModelServer } from '../emulators/model-server.ts';
import { type BotProcess, createBotFolder } from '../support/bot-process.ts';
import { until } from '../support/until.ts';
import type { PlatformStage } from './stages.ts';

interface ToldResult {
  readonly callId: string;
  readonly text: string;
}

export interface ApprovalsBench {
  readonly stage: PlatformStage;
  readonly start: () => Promise<BotProcess>;
  /** Writes the permissions and the answers of the test; the running process takes them over. */
  readonly play: (
    permissions: PermissionSettings,
    ...answers: readonly MessageAnswer[]
  ) => Promise<void>;
  /** Requests to the model since `play`. */
  readonly requests: () => number;
  /** Results of tools in such a request, in order. */
  readonly told: (request: number) => readonly ToldResult[];
  readonly untilAnswers: (
    thread: string,
    isSo: (answers: readonly string[]) => boolean,
  ) => Promise<readonly string[]>;
  /** Contents of the files with this name, in the workspaces of all conversations. */
  readonly onDisk: (name: string) => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

const bodySchema = z.looseObject({
  messages: z.array(
    z.looseObject({ role: z.string(), content: z.unknown(), tool_call_id: z.string().optional() }),
  ),
});

export async function createApprovalsBench(
  createStage: () => Promise<PlatformStage>,
): Promise<ApprovalsBench> {
  const [stage, model, folder] = await Promise.all([
    createStage(),
    createModelServer(),
    createBotFolder(),
  ]);
  let from = 0;
  return {
    stage,
    start: () =>
      folder.start({
        ...stage.environment,
        COMPATIBLE_BASE_URL: model.baseUrl('compatible'),
        DECKHAND_MODEL: 'compatible/test-model',
      }),
    play: async (permissions, ...answers) => {
      // JSON is YAML.
      const file = path.join(folder.path, 'config/deckhand.yaml');
      await writeFile(file, JSON.stringify({ permissions }));
      from = model.requests.length;
      const queue = [...answers];
      model.otherwise(() => queue.shift() ?? say('More than was played.'));
    },
    requests: () => model.requests.length - from,
    told: (request) => {
      const body = bodySchema.parse(model.requests[from + request]?.body);
      return body.messages.flatMap(({ role, content, tool_call_id: callId }) =>
        role === 'tool' ? [{ callId: callId ?? '', text: textOf(content) }] : [],
      );
    },
    untilAnswers: async (thread, isSo) => {
      let last: readonly string[] = [];
      await until(async () => {
        last = await stage.answers(thread);
        return isSo(last);
      }, 25_000).catch((thrown: unknown) => {
        throw new Error(`the answers stayed ${JSON.stringify(last)}`, { cause: thrown });
      });
      return last;
    },
    onDisk: async (name) => {
      const root = path.join(folder.path, 'data/workspaces');
      const all = await readdir(root, { recursive: true }).catch(() => []);
      const found = all.filter((one) => path.basename(one) === name);
      return Promise.all(found.map((one) => readFile(path.join(root, one), 'utf8')));
    },
    close: async () => {
      await folder.close();
      await Promise.all([stage.close(), model.close()]);
    },
  };
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}
