/** What the bot shows in a Slack thread. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ErrorCode } from '../../../src/base/errors.ts';
import type { Block, OutboundMessage } from '../../../src/surface/outbound.ts';
import { readCase } from './cases.ts';
import { markdown, setUpSlack } from './set-up.ts';
import { addMessages, key, setUpThread } from './set-up-thread.ts';

const buttonsOf = (...labels: readonly string[]): Block => ({
  kind: 'buttons',
  buttons: labels.map((label, index) => ({ controlId: `b.${index}`, label, style: 'plain' })),
});

describe('posting', () => {
  it('posts into the thread with blocks, text, no previews and its key', async () => {
    const slack = await setUpThread();
    const { messageId } = await slack.surface.post(markdown('**Hi** https://example.com'), key);
    expect(slack.callsOf('chat.postMessage')).toEqual([
      {
        channel: 'C1',
        thread_ts: slack.root,
        text: '*Hi* <https://example.com>',
        blocks: JSON.stringify([{ type: 'markdown', text: '**Hi** https://example.com' }]),
        unfurl_links: 'false',
        unfurl_media: 'false',
        metadata: JSON.stringify({
          event_type: 'deckhand_reply',
          event_payload: { key: 'run_1.p1' },
        }),
      },
    ]);
    expect(slack.workspace.thread('C1', slack.root).map((one) => one.ts)).toContain(messageId);
    await slack.close();
  });

  it('finds its earlier post in a long thread by the key', async () => {
    const slack = await setUpThread();
    addMessages(slack, 450, () => ({ threadTs: slack.root }));
    slack.workspace.fault('chat.postMessage', { kind: 'answer_lost' });
    await expect(slack.surface.post(markdown('once'), key)).rejects.toMatchObject({
      code: 'surface_unavailable',
    });
    const found = await slack.surface.post(markdown('once'), { ...key, maybePosted: true });
    expect(slack.workspace.ofBot('C1').map((message) => message.ts)).toEqual([found.messageId]);
    await slack.close();
  });

  it('finds an earlier post at top level too, and does not take another one for it', async () => {
    const slack = await setUpThread();
    const surface = slack.adapter.surfaceOf(slack.conversation('C1', 'none'));
    const first = await surface.post(markdown('one'), { key: 'a.1', maybePosted: true });
    const other = await surface.post(markdown('two'), { key: 'a.2', maybePosted: true });
    expect(await surface.post(markdown('one'), { key: 'a.1', maybePosted: true })).toEqual(first);
    expect(other).not.toEqual(first);
    expect(slack.workspace.ofBot('C1').map((message) => message.threadTs)).toEqual([
      undefined,
      undefined,
    ]);
    await slack.close();
  });

  it('refuses a message with nothing to show without asking Slack', async () => {
    const slack = await setUpThread();
    await expect(slack.surface.post(markdown(' \n'), key)).rejects.toMatchObject({
      code: 'message_refused',
    });
    expect(slack.callsOf('chat.postMessage')).toEqual([]);
    await slack.close();
  });
});

describe('editing', () => {
  it('always sends blocks and text, so that old blocks go', async () => {
    const slack = await setUpThread();
    const card: OutboundMessage = {
      blocks: [{ kind: 'markdown', text: 'Which?' }, buttonsOf('Yes', 'No')],
      mentionable: [],
    };
    const { messageId } = await slack.surface.post(card, key);
    expect(slack.workspace.drawn(messageId)).toBe('Which?\n[Yes] [No]');
    await slack.surface.edit(messageId, markdown('Anna chose Yes.'));
    expect(slack.workspace.drawn(messageId)).toBe('Anna chose Yes.');
    await slack.close();
  });

  it.each([3_899, 3_900, 3_901, 11_000])(
    'keeps the text inside what chat.update takes for %i letters',
    async (letters) => {
      const slack = await setUpThread();
      const { messageId } = await slack.surface.post(markdown('one'), key);
      const text = 'é&'.repeat(Math.ceil(letters / 2)).slice(0, letters);
      await slack.surface.edit(messageId, markdown(text));
      expect(slack.workspace.drawn(messageId)).toBe(text);
      const sent = String(slack.callsOf('chat.update')[0]?.['text']);
      expect(Buffer.byteLength(sent)).toBeLessThanOrEqual(3_900);
      expect(sent).not.toMatch(/&(?!(?:amp|lt|gt);)/u);
      await slack.close();
    },
  );

  it('B002: an answer "ok: false" is no success', async () => {
    const { input } = readCase(
      'B002',
      z.object({
        input: z.object({
          steps: z.array(
            z.looseObject({
              slackAnswers: z.object({ 'chat.update': z.object({ error: z.string() }) }).optional(),
            }),
          ),
        }),
      }),
    );
    const word = input.steps.find((step) => step.slackAnswers)?.slackAnswers?.['chat.update'].error;
    const slack = await setUpThread();
    const { messageId } = await slack.surface.post(markdown('Working on it'), key);
    slack.workspace.fault('chat.update', { kind: 'refused', word: word ?? 'none' });
    await expect(slack.surface.edit(messageId, markdown('done'))).rejects.toMatchObject({
      code: 'message_gone',
    });
    await slack.close();
  });
});

describe('what Slack refuses', () => {
  it.each<[string, ErrorCode]>([
    ['message_not_found', 'message_gone'],
    ['cant_update_message', 'message_uneditable'],
    ['edit_window_closed', 'message_uneditable'],
    ['msg_too_long', 'message_too_long'],
    ['msg_blocks_too_long', 'message_too_long'],
    ['channel_not_found', 'surface_gone'],
    ['not_in_channel', 'surface_gone'],
    ['is_archived', 'surface_gone'],
    ['token_revoked', 'surface_gone'],
    ['missing_scope', 'surface_gone'],
    ['ratelimited', 'rate_limited'],
    ['internal_error', 'surface_unavailable'],
    ['a_word_nobody_knows', 'message_refused'],
    ['<html>Bad gateway</html>', 'surface_unavailable'],
  ])('%s is %s', async (word, code) => {
    const slack = await setUpThread();
    const { messageId } = await slack.surface.post(markdown('one'), key);
    slack.workspace.fault('chat.update', { kind: 'refused', word });
    await expect(slack.surface.edit(messageId, markdown('two'))).rejects.toMatchObject({ code });
    await slack.close();
  });

  it('names the scope that is missing', async () => {
    const slack = await setUpThread();
    slack.workspace.fault('chat.postMessage', { kind: 'refused', word: 'missing_scope' });
    await expect(slack.surface.post(markdown('one'), key)).rejects.toThrow('chat:write');
    await slack.close();
  });

  it.each(['chat.postMessage', 'chat.update', 'chat.delete'])(
    'is asked once when %s fails: no retries of the client',
    async (method) => {
      const slack = await setUpThread();
      const { messageId } = await slack.surface.post(markdown('one'), key);
      const before = slack.callsOf(method).length;
      for (const fault of [
        { kind: 'status', status: 500 },
        { kind: 'cut' },
        { kind: 'rate_limited', retryAfterSeconds: 2 },
      ] as const) {
        slack.workspace.fault(method, fault);
        const attempt = {
          'chat.postMessage': () => slack.surface.post(markdown('two'), key),
          'chat.update': () => slack.surface.edit(messageId, markdown('two')),
          'chat.delete': () => slack.surface.remove(messageId),
        }[method];
        await expect(attempt?.()).rejects.toMatchObject({
          code: fault.kind === 'rate_limited' ? 'rate_limited' : 'surface_unavailable',
        });
      }
      expect(slack.callsOf(method)).toHaveLength(before + 3);
      await slack.close();
    },
  );

  it('lets other calls through while one method is limited', async () => {
    const slack = await setUpThread();
    slack.workspace.limit('chat.postMessage', 1, 60_000);
    const { messageId } = await slack.surface.post(markdown('one'), key);
    const [limited] = await Promise.allSettled([
      slack.surface.post(markdown('two'), { ...key, key: 'k2' }),
      slack.surface.edit(messageId, markdown('edited')),
    ]);
    expect(limited).toMatchObject({ status: 'rejected', reason: { code: 'rate_limited' } });
    expect(slack.workspace.drawn(messageId)).toBe('edited');
    await slack.close();
  });

  it('B062: cuts labels, keeps them apart, and shows full texts', async () => {
    const { input, expected } = readCase(
      'B062',
      z.object({
        input: z.object({ question: z.string(), options: z.array(z.string()) }),
        expected: z.object({ everyLabelAtMost: z.number() }),
      }),
    );
    const slack = await setUpThread();
    const numbered = input.options.map((option, index) => `${index + 1}. ${option}`);
    const { messageId } = await slack.surface.post(
      {
        blocks: [
          { kind: 'markdown', text: [input.question, '', ...numbered].join('\n') },
          buttonsOf(...numbered),
        ],
        mentionable: [],
      },
      key,
    );
    const blocks = JSON.stringify(slack.workspace.model.messages.at(-1)?.blocks);
    const labels = [...blocks.matchAll(/"type":"plain_text","text":"([^"]*)"/gu)].map(
      (match) => match[1] ?? '',
    );
    expect(labels).toHaveLength(4);
    expect(new Set(labels).size).toBe(4);
    for (const label of labels) {
      expect(label.length).toBeLessThanOrEqual(expected.everyLabelAtMost);
      expect(label).not.toMatch(/\p{Surrogate}/u);
    }
    for (const option of input.options) expect(slack.workspace.drawn(messageId)).toContain(option);
    await slack.close();
  });

  it('shows mrkdwn and the buttons where Slack refuses markdown blocks', async () => {
    const slack = await setUpThread();
    const card: OutboundMessage = {
      blocks: [{ kind: 'markdown', text: '**Which?**' }, buttonsOf('Blue', 'Red <3')],
      mentionable: [],
    };
    slack.workspace.fault('chat.postMessage', { kind: 'refused', word: 'invalid_blocks' });
    const { messageId } = await slack.surface.post(card, key);
    expect(slack.workspace.drawn(messageId)).toContain('*Which?*');
    expect(slack.workspace.drawn(messageId)).toContain('Blue');
    expect(slack.workspace.drawn(messageId)).not.toContain('1. Blue');
    await slack.close();
  });

  it('B062: falls back once to plain text with numbered options on invalid_blocks', async () => {
    const slack = await setUpThread();
    const card: OutboundMessage = {
      blocks: [{ kind: 'markdown', text: '**Which?**' }, buttonsOf('Blue', 'Red <3')],
      mentionable: [],
    };
    const refused = { kind: 'refused', word: 'invalid_blocks' } as const;
    slack.workspace.fault('chat.postMessage', refused, { times: 2 });
    const { messageId } = await slack.surface.post(card, key);
    expect(slack.workspace.drawn(messageId)).toBe('*Which?*\n\n1. Blue\n2. Red <3');
    slack.workspace.fault('chat.update', refused, { times: 2 });
    await slack.surface.edit(messageId, {
      blocks: [{ kind: 'markdown', text: 'Again?' }, buttonsOf('Yes')],
      mentionable: [],
    });
    expect(slack.workspace.drawn(messageId)).toBe('Again?\n\n1. Yes');
    slack.workspace.fault('chat.update', refused, { times: 3 });
    await expect(slack.surface.edit(messageId, card)).rejects.toMatchObject({
      code: 'message_refused',
    });
    expect(slack.log.lines.filter((line) => line.event === 'slack_blocks_refused')).toHaveLength(7);
    await slack.close();
  });

  it('leaves the thumbs out where they are not known, and keeps the rest', async () => {
    const slack = await setUpThread();
    slack.workspace.fault('chat.postMessage', { kind: 'refused', word: 'invalid_blocks' });
    const { messageId } = await slack.surface.post(
      {
        blocks: [
          { kind: 'markdown', text: 'x'.repeat(5_000) },
          buttonsOf('Details'),
          { kind: 'feedback', controlId: 'run.feedback.run_1' },
        ],
        mentionable: [],
      },
      key,
    );
    expect(slack.workspace.drawn(messageId)).toBe(`${'x'.repeat(5_000)}\n[Details]`);
    await slack.close();
  });

  it('says too long where the plain text does not fit', async () => {
    const slack = await setUpThread();
    const refused = { kind: 'refused', word: 'invalid_blocks' } as const;
    slack.workspace.fault('chat.postMessage', refused, { times: 2 });
    await expect(slack.surface.post(markdown('x'.repeat(4_001)), key)).rejects.toMatchObject({
      code: 'message_too_long',
    });
    await slack.close();
  });
});

describe('signs', () => {
  it('shows the status of an agent session', async () => {
    const slack = await setUpThread();
    await slack.surface.status('working');
    expect(slack.workspace.model.statuses.get(`C1:${slack.root}`)).toBe('processing');
    await slack.surface.status('idle');
    expect(slack.workspace.model.statuses.get(`C1:${slack.root}`)).toBe('active');
    await slack.close();
  });

  it.each(['unknown_method', 'missing_scope', 'a_word_nobody_knows'])(
    'learns from %s to use the older line, and then nothing',
    async (word) => {
      const slack = await setUpThread();
      slack.workspace.withhold('agents.sessions.setStatus', word);
      await slack.surface.status('working');
      await slack.surface.status('working');
      expect(slack.workspace.model.statuses.get(`C1:${slack.root}`)).toBe('is working…');
      expect(slack.callsOf('agents.sessions.setStatus')).toHaveLength(1);
      slack.workspace.withhold('assistant.threads.setStatus', word);
      await slack.surface.status('idle');
      await slack.surface.status('idle');
      expect(slack.callsOf('assistant.threads.setStatus')).toHaveLength(3);
      const told = slack.log.lines.filter((line) => line.event === 'slack_status_unavailable');
      expect(told).toHaveLength(2);
      await slack.close();
    },
  );

  it('tries the older line for a place that the newer one refuses, and learns nothing', async () => {
    const slack = await setUpThread();
    slack.workspace.fault('agents.sessions.setStatus', {
      kind: 'refused',
      word: 'channel_not_found',
    });
    await slack.surface.status('working');
    expect(slack.workspace.model.statuses.get(`C1:${slack.root}`)).toBe('is working…');
    await slack.surface.status('working');
    expect(slack.workspace.model.statuses.get(`C1:${slack.root}`)).toBe('processing');
    await slack.close();
  });

  it('does not learn from being too fast', async () => {
    const slack = await setUpThread();
    slack.workspace.fault('agents.sessions.setStatus', { kind: 'refused', word: 'ratelimited' });
    await slack.surface.status('working');
    expect(slack.callsOf('assistant.threads.setStatus')).toEqual([]);
    await slack.surface.status('working');
    expect(slack.workspace.model.statuses.get(`C1:${slack.root}`)).toBe('processing');
    await slack.close();
  });

  it('does not learn from an outage', async () => {
    const slack = await setUpThread();
    slack.workspace.fault('agents.sessions.setStatus', { kind: 'status', status: 500 });
    await slack.surface.status('working');
    await slack.surface.status('working');
    expect(slack.workspace.model.statuses.get(`C1:${slack.root}`)).toBe('processing');
    await slack.close();
  });

  it('puts a sign on a message and takes it off, and survives an outage', async () => {
    const slack = await setUpThread();
    const message = slack.workspace.model.messages.find((one) => one.ts === slack.root);
    await slack.surface.react(slack.root, 'waiting', true);
    await slack.surface.react(slack.root, 'waiting', true);
    expect([...(message?.reactions ?? [])]).toEqual(['eyes']);
    slack.workspace.fault('reactions.remove', { kind: 'cut' });
    await slack.surface.react(slack.root, 'waiting', false);
    await slack.surface.react(slack.root, 'waiting', false);
    expect([...(message?.reactions ?? [])]).toEqual([]);
    await slack.close();
  });
});

describe('a surface without a connection', () => {
  it('can be asked for, but says that Slack is not connected', async () => {
    const slack = await setUpSlack({ start: false });
    const surface = slack.adapter.surfaceOf(slack.conversation('C1', '1.1'));
    await expect(surface.post(markdown('x'), key)).rejects.toMatchObject({
      code: 'surface_unavailable',
    });
    await surface.status('working');
    await surface.react('1.1', 'waiting', true);
    expect(slack.workspace.calls).toEqual([]);
    await slack.close();
  });
});
