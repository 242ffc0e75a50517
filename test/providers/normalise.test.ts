/** What is mended before any wire sees it. */

import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/messages/chat.ts';
import type { AssistantPart } from '../../src/messages/parts.ts';
import { normaliseMessages, resultText } from '../../src/providers/normalise.ts';
import { assistantText, okResult, userText } from '../support/providers.ts';

const origin = { provider: 'p', endpoint: 'e', model: 'm' };
const raw = { origin, data: { id: 'r1' } };
const foreign = { origin: { ...origin, model: 'other' }, data: { id: 'r2' } };
const callOf = (callId: string): AssistantPart => ({
  kind: 'tool_call',
  callId,
  name: 'clock',
  input: {},
});
const said = (...parts: AssistantPart[]): ChatMessage => ({ role: 'assistant', parts });
const turnsOf = (...messages: ChatMessage[]) => normaliseMessages(messages, { origin });

describe('normaliseMessages', () => {
  it('makes ids of calls unique over the conversation, results follow', () => {
    const turns = turnsOf(
      userText('a'),
      said(callOf('call_0')),
      okResult('call_0', 'clock', 'one'),
      said(callOf('call_0')),
      okResult('call_0', 'clock', 'two'),
    );
    const pairs = turns.flatMap((turn): unknown[] =>
      turn.role === 'user'
        ? turn.results.map((result) => [result.callId, resultText(result)])
        : turn.parts.map((part) => (part.kind === 'tool_call' ? part.callId : '')),
    );
    expect(pairs).toEqual(['call_0', ['call_0', 'one'], 'call_0_2', ['call_0_2', 'two']]);
  });

  it('pairs equal ids within one message in order', () => {
    const turns = turnsOf(
      userText('a'),
      said(callOf('x'), callOf('x')),
      okResult('x', 'clock', 'one'),
      okResult('x', 'clock', 'two'),
    );
    const last = turns.at(-1);
    expect(last?.role === 'user' ? last.results.map(resultText) : []).toEqual(['one', 'two']);
  });

  it('takes results that come after a person’s message, and keeps the message', () => {
    const turns = turnsOf(
      userText('a'),
      said(callOf('x')),
      userText('meanwhile'),
      okResult('x', 'clock', 'noon'),
      said({ kind: 'text', text: 'Noon.' }),
      okResult('x', 'clock', 'late'),
      userText('thanks'),
    );
    expect(turns.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
    expect(turns[2]).toMatchObject({
      results: [{ callId: 'x', outcome: 'ok' }],
      parts: [{ text: 'meanwhile' }],
    });
    expect(turns[4]).toMatchObject({ results: [], parts: [{ text: 'thanks' }] });
  });

  it('keeps vendor data of its own origin only', () => {
    const parts: AssistantPart[] = [
      { kind: 'reasoning', text: 'mine', raw },
      { kind: 'reasoning', text: 'foreign', raw: foreign },
      { kind: 'reasoning', text: 'unsealed' },
      { kind: 'raw', raw: foreign },
      { kind: 'text', text: 'Hi', raw: foreign },
      { ...callOf('x'), raw: foreign },
    ];
    const [, turn] = turnsOf(userText('a'), said(...parts), okResult('x', 'clock', 'noon'));
    expect(turn).toEqual({
      role: 'assistant',
      parts: [{ kind: 'reasoning', text: 'mine', raw }, { kind: 'text', text: 'Hi' }, callOf('x')],
    });
    const [, bare] = normaliseMessages([userText('a'), said(...parts)], {
      origin,
      withReasoning: false,
    });
    expect(JSON.stringify(bare)).not.toContain('"raw"');
  });

  it('leaves thoughts at the end out, and the white space before it', () => {
    const [, turn] = turnsOf(
      userText('a'),
      said({ kind: 'text', text: 'Half \n' }, { kind: 'reasoning', text: 'hm', raw }),
      userText('b'),
    );
    expect(turn).toEqual({ role: 'assistant', parts: [{ kind: 'text', text: 'Half' }] });
  });

  it('begins and ends with a person, but for a paused message', () => {
    const messages = [assistantText('Hi'), said({ kind: 'raw', raw })];
    expect(turnsOf(...messages).map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    const paused = normaliseMessages(messages, {
      origin,
      isContent: () => true,
      isPaused: (parts) => parts.at(-1)?.kind === 'raw',
    });
    expect(paused.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  it('gives the same turns for a prefix, whatever follows', () => {
    const messages = [
      userText('a'),
      said({ kind: 'text', text: 'One. ' }, callOf('x')),
      okResult('x', 'clock', 'noon'),
      said({ kind: 'text', text: 'Two. ' }, callOf('x')),
      okResult('x', 'clock', 'noon'),
      assistantText('Three. \n'),
      userText('b'),
    ];
    const whole = turnsOf(...messages);
    for (const end of [1, 3, 5]) {
      expect(whole.slice(0, end)).toEqual(turnsOf(...messages.slice(0, end)));
    }
  });
});

describe('resultText', () => {
  it.each([
    ['ok', 'noon', 'noon'],
    ['ok', '', '(no output)'],
    ['refused', 'not allowed', '[refused] not allowed'],
  ] as const)('of %s %j is %j', (outcome, text, expected) => {
    const result = { callId: 'x', name: 'n', outcome, parts: [{ kind: 'text', text } as const] };
    expect(resultText(result)).toBe(expected);
  });
});
