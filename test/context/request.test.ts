/** The request that a transcript gives: repaired, stable, with people's names. */

import { describe, expect, it } from 'vitest';
import { buildPrompt, messagesOf } from '../../src/context/request.ts';
import { systemPromptOf } from '../../src/context/system-prompt.ts';
import type { Entry } from '../../src/messages/entries.ts';
import type { AssistantPart } from '../../src/messages/parts.ts';
import { anna, ben } from '../support/world.ts';

const origin = { provider: 'p', endpoint: 'e', model: 'm' };
const monday = Date.UTC(2026, 10, 30, 14, 3);

function user(
  messageId: string,
  text: string,
  more: { at?: number; author?: typeof ben | typeof anna } = {},
): Entry {
  const { at = monday, author = anna } = more;
  return {
    v: 1,
    at,
    kind: 'user_message',
    messageId,
    author,
    parts: [{ kind: 'text', text }],
    addressed: true,
  };
}
function assistant(step: number, ...parts: readonly AssistantPart[]): Entry {
  return {
    v: 1,
    at: monday + step,
    kind: 'assistant_message',
    runId: 'r',
    step,
    parts,
    stop: 'end',
    origin,
  };
}
function results(step: number, ...callIds: readonly string[]): Entry {
  return {
    v: 1,
    at: monday + step,
    kind: 'tool_results',
    runId: 'r',
    step,
    results: callIds.map((callId) => ({
      callId,
      name: 'T',
      outcome: 'ok',
      parts: [{ kind: 'text', text: callId }],
    })),
  };
}
const call = (callId: string): AssistantPart => ({
  kind: 'tool_call',
  callId,
  name: 'T',
  input: {},
});
const text = (said: string): AssistantPart => ({ kind: 'text', text: said });

describe('messages', () => {
  it('name their authors, and the day when it changes', () => {
    const messages = messagesOf([
      user('1', 'hello'),
      user('2', 'and me', { author: ben }),
      user('3', 'next day', { at: monday + 24 * 3600 * 1000 }),
    ]);
    expect(messages).toEqual([
      {
        role: 'user',
        parts: [
          { kind: 'text', text: '[Monday 2026-11-30 14:03 UTC] Anna: hello' },
          { kind: 'text', text: 'Ben: and me' },
          { kind: 'text', text: '[Tuesday 2026-12-01 14:03 UTC] Anna: next day' },
        ],
      },
    ]);
  });

  it('give every call exactly one result, in call order, whatever is stored (B067, B075)', () => {
    const messages = messagesOf([
      user('1', 'go'),
      assistant(1, text('x'), call('a'), call('b'), call('c')),
      results(1, 'b'),
      results(1, 'a', 'b', 'stray'),
      user('2', 'and?'),
    ]);
    expect(messages[2]).toMatchObject({
      role: 'tool',
      results: [
        { callId: 'a', outcome: 'ok' },
        { callId: 'b', outcome: 'ok' },
        {
          callId: 'c',
          outcome: 'interrupted',
          parts: [{ text: 'interrupted: the process stopped; outcome unknown' }],
        },
      ],
    });
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
  });

  it('begin after the last fresh start', () => {
    const { messages } = buildPrompt({
      entries: [
        user('1', 'old'),
        { v: 1, at: monday, kind: 'fresh_start', by: 'web:anna' },
        user('2', 'new'),
      ],

      system: 's',
      tools: [],
      reasoning: {},
      webSearch: false,
      cacheKey: 'k',
    });
    expect(JSON.stringify(messages)).not.toContain('old');
    expect(JSON.stringify(messages)).toContain('new');
  });

  it('drop reasoning that was bound to words deleted later', () => {
    const reasoning: AssistantPart = {
      kind: 'reasoning',
      text: 'r',
      raw: { origin, data: 'signature' },
    };
    const tombstone: Entry = {
      v: 1,
      at: monday,
      kind: 'tombstone',
      messageId: '1',
      deletedAt: monday + 5,
    };
    const messages = messagesOf([
      tombstone,
      assistant(1, reasoning, text('a')),
      user('2', 'x'),
      assistant(9, reasoning, text('b')),
    ]);
    expect(JSON.stringify(messages[1])).not.toContain('signature');
    expect(JSON.stringify(messages[3])).toContain('signature');
  });
});

describe('the request', () => {
  it('of a step is the request of the step before with something appended', () => {
    const entries: Entry[] = [];
    let before = '';
    const grow = (...added: readonly Entry[]): void => {
      entries.push(...added);
      const now = JSON.stringify(
        messagesOf(entries).flatMap((message): object[] =>
          message.role === 'tool' ? [...message.results] : [...message.parts],
        ),
      );
      expect(now.startsWith(before.slice(0, -1))).toBe(true);
      before = now;
    };
    for (let turn = 0; turn < 20; turn += 1) {
      grow(user(`u${turn}`, `question ${turn}`, { at: monday + turn * 3_600_000 }));
      grow(assistant(turn * 2, text('looking'), call(`c${turn}`)), results(turn * 2, `c${turn}`));
      grow(assistant(turn * 2 + 1, text(`answer ${turn}`)));
      grow({ v: 1, at: monday, kind: 'note', text: 'Anna edited', about: 'u1' });
    }
    expect(before.length).toBeGreaterThan(2000);
  });

  it('has a system prompt that is the same bytes for all conversations of a profile', () => {
    const input = { botName: 'Deckhand', platform: 'Slack', instructions: ['Be kind.'] };
    expect(systemPromptOf(input)).toBe(systemPromptOf({ ...input }));
    expect(systemPromptOf(input)).not.toMatch(/\d{4}-\d{2}-\d{2}/u);
    expect(systemPromptOf(input).endsWith('Be kind.')).toBe(true);
  });
});
