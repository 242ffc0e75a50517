/** Slack's own streaming: the real adapter and the real reply against an emulated workspace. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { SlackSettings } from '../../../adapters/slack/settings.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { createRedactor } from '../../../src/base/redaction.ts';
import { watchedSurface } from '../../../src/render/pacing/paced-surface.ts';
import { createPacer } from '../../../src/render/pacing/pacer.ts';
import { noPages } from '../../../src/render/page-book.ts';
import { createReply, type Reply } from '../../../src/render/reply.ts';
import { createKeptLog } from '../../support/log.ts';
import { readCase } from './cases.ts';
import { type SlackSetUp, usingSlack } from './set-up.ts';

const caseSchema = z.object({
  input: z.object({
    steps: z.array(
      z.object({ model: z.string().optional(), slackAnswersFromNow: z.unknown().optional() }),
    ),
  }),
  expected: z.object({ joinedVisibleText: z.string(), minMessages: z.number() }),
});

interface Stage extends SlackSetUp {
  readonly root: string;
  begin(): Reply;
  /** Methods called, in order. */
  methods(): readonly string[];
  /** What the bot's messages show, in order. */
  shown(): readonly string[];
}

async function using(
  use: (stage: Stage) => Promise<void>,
  options: { streaming?: SlackSettings['streaming']; available?: boolean; channel?: string } = {},
): Promise<void> {
  const { streaming, available = true, channel = 'C1' } = options;
  await usingSlack(
    async (slack) => {
      const root = slack.workspace.say('U_ANNA', channel, 'Hello');
      const { adapter } = slack;
      const conversation = slack.conversation(channel, root);
      const pacer = createPacer({ clock: systemClock }, adapter.capabilities.budgets);
      await use({
        ...slack,
        root,
        begin: () =>
          createReply(
            {
              ...{ clock: systemClock, log: createKeptLog(), redactor: createRedactor([]), pacer },
              surface: watchedSurface(adapter.surfaceOf(conversation), pacer, conversation),
              capabilities: adapter.capabilities,
              savePages: async () => {},
            },
            {
              ...{ replyId: 'r.1', conversation, pages: noPages, steps: [], mentionable: [] },
              asker: 'slack:U_ANNA',
            },
          ),
        methods: () =>
          slack.workspace.calls
            .map(({ method }) => method)
            .filter((method) => method.startsWith('chat.')),
        shown: () =>
          slack.workspace.ofBot(channel).map((message) => slack.workspace.drawn(message.ts)),
      });
    },
    {
      workspace: { streaming: available },
      ...(streaming === undefined ? {} : { settings: { streaming } }),
    },
  );
}

async function say(stage: Stage, reply: Reply, ...pieces: readonly string[]): Promise<void> {
  for (const text of pieces) {
    const before = stage.workspace.calls.length;
    reply.apply({ kind: 'text_delta', text });
    await stage.workspace.until(() => stage.workspace.calls.length > before);
  }
}

describe('an answer on Slack', () => {
  it('streams where the workspace has it, addressed to the asker, with cards for tools', async () => {
    await using(async (stage) => {
      const reply = stage.begin();
      reply.apply({ kind: 'tool_started', callId: 'c1', activity: 'Searching `logs/`' });
      await say(stage, reply, 'The **build** ', 'is green. ');
      reply.apply({ kind: 'tool_finished', callId: 'c1', outcome: 'ok' });
      reply.apply({ kind: 'text_delta', text: '@everyone <!here> see.' });
      await reply.finish({ notices: ['Done.'] });
      expect(stage.methods()[0]).toBe('chat.startStream');
      expect(stage.methods().at(-1)).toBe('chat.stopStream');
      expect(stage.methods()).not.toContain('chat.update');
      const start = stage.workspace.calls.find(({ method }) => method === 'chat.startStream');
      expect(start?.args).toMatchObject({
        recipient_user_id: 'U_ANNA',
        recipient_team_id: stage.workspace.teamId,
        thread_ts: stage.root,
      });
      const [text = ''] = stage.shown();
      expect(text).toMatch(/✓ Searching logs\//u);
      expect(text).toContain('The **build** is green.');
      expect(text).toContain('▸ Done.');
      const [message] = stage.workspace.ofBot('C1');
      expect(stage.workspace.notified(message?.ts ?? '')).toEqual([]);
    });
  });

  it('names no recipient in a direct message', async () => {
    await using(async (stage) => {
      const direct = stage.workspace.directWith('U_ANNA');
      const ts = stage.workspace.say('U_ANNA', direct, 'Hi');
      const surface = stage.adapter.surfaceOf(stage.conversation(direct, ts));
      await surface.stream?.start(
        { text: 'Hi', tasks: [] },
        { key: 'k', maybePosted: false, begunAt: Date.now(), to: 'slack:U_ANNA' },
      );
      const start = stage.workspace.calls.find(({ method }) => method === 'chat.startStream');
      expect(start?.args).not.toHaveProperty('recipient_user_id');
      expect(stage.workspace.ofBot(direct)).toHaveLength(1);
    });
  });

  it('is edited where the workspace has no streaming: tried once, then known', async () => {
    await using(
      async (stage) => {
        for (const round of [1, 2]) {
          const reply = stage.begin();
          await say(stage, reply, `Answer ${round}. `);
          await reply.finish({});
        }
        const starts = stage.methods().filter((method) => method === 'chat.startStream');
        expect(starts).toHaveLength(1);
        expect(stage.shown()).toEqual(['Answer 1.', 'Answer 2.']);
      },
      { available: false },
    );
  });

  it('is tried as a stream for each answer where the setting says native', async () => {
    await using(
      async (stage) => {
        for (const round of [1, 2]) {
          const reply = stage.begin();
          await say(stage, reply, `Answer ${round}. `);
          await reply.finish({});
        }
        const starts = stage.methods().filter((method) => method === 'chat.startStream');
        expect(starts).toHaveLength(2);
        expect(stage.shown()).toEqual(['Answer 1.', 'Answer 2.']);
      },
      { available: false, streaming: 'native' },
    );
  });

  it('is never a stream where the setting says edit', async () => {
    await using(
      async (stage) => {
        const reply = stage.begin();
        await say(stage, reply, 'One. ', 'Two.');
        await reply.finish({});
        expect(new Set(stage.methods())).toEqual(new Set(['chat.postMessage', 'chat.update']));
      },
      { streaming: 'edit' },
    );
  });

  it('goes on in a new message where Slack has ended the stream (B001)', async () => {
    const { input, expected } = readCase('B001', caseSchema);
    await using(async (stage) => {
      const said: string[] = [];
      const reply = stage.begin();
      for (const { model: text, slackAnswersFromNow: refusals } of input.steps) {
        if (refusals !== undefined) stage.workspace.streamRules.mostAgeMs = 0;
        if (text === undefined) continue;
        const starts = stage.methods().filter((method) => method === 'chat.startStream').length;
        said.push(text);
        await say(stage, reply, text);
        if (starts > 0) {
          await stage.workspace.until(() => stage.workspace.ofBot('C1').length > 1);
          stage.workspace.streamRules.mostAgeMs = 300_000;
        }
      }
      await expect(reply.finish({})).resolves.toBe('delivered');
      const read = stage
        .shown()
        .map((one) => one.trim())
        .join(' ');
      expect(read).toBe(expected.joinedVisibleText);
      expect(said.join('')).toBe(expected.joinedVisibleText);
      expect(stage.shown().length).toBeGreaterThanOrEqual(expected.minMessages);
    });
  });

  it('is one message although the answer to its start was lost', async () => {
    await using(async (stage) => {
      stage.workspace.fault('chat.startStream', { kind: 'answer_lost' });
      const reply = stage.begin();
      await say(stage, reply, 'One. ');
      await stage.workspace.until(() => stage.methods().includes('chat.stopStream'));
      reply.apply({ kind: 'text_delta', text: 'Two.' });
      await reply.finish({});
      expect(stage.shown()).toEqual(['One. Two.']);
    });
  });

  it('waits out a limit of appends, and repeats nothing', async () => {
    await using(async (stage) => {
      const reply = stage.begin();
      await say(stage, reply, 'One. ');
      stage.workspace.fault('chat.appendStream', { kind: 'rate_limited', retryAfterSeconds: 1 });
      reply.apply({ kind: 'text_delta', text: 'Two. ' });
      await stage.workspace.until(() =>
        stage.workspace.calls.some(({ outcome }) => outcome === 'rate_limited'),
      );
      await reply.finish({});
      expect(stage.shown()).toEqual(['One. Two.']);
    });
  });
});
