/** Think tags in the content of compatible servers. */

import { describe, expect, it } from 'vitest';
import type { ChatStreamEvent } from '../../src/messages/chat.ts';
import { createCompatibleProvider } from '../../src/providers/compatible/provider.ts';
import { createThinkSplitter } from '../../src/providers/compatible/think-tags.ts';
import { createMessageAccumulator } from '../../src/providers/message-accumulator.ts';
import { type AnswerPiece, call, message, say } from '../emulators/model/script.ts';
import { createModelServer } from '../emulators/model-server.ts';
import { chatRequestOf, collect, createTestDeps } from '../support/providers.ts';

function split(text: string, size: number, startsInside = false) {
  const splitter = createThinkSplitter(startsInside);
  const joined = { text: '', reasoning: '' };
  const take = (pieces: readonly { kind: 'text' | 'reasoning'; text: string }[]): void => {
    for (const piece of pieces) joined[piece.kind] += piece.text;
  };
  for (let at = 0; at < text.length; at += size) take(splitter.add(text.slice(at, at + size)));
  take(splitter.end());
  return { ...joined, verdict: splitter.verdict };
}

describe('createThinkSplitter', () => {
  it.each<[string, string, string, string]>([
    ['<think>Hm.</think>\n\nYes.', 'Yes.', 'Hm.', 'no'],
    ['\n<think>\nHm </thin\n</think>Yes', 'Yes', '\nHm </thin\n', 'no'],
    ['Plain <b>text</b> with <think> inside', 'Plain <b>text</b> with <think> inside', '', 'no'],
    ['\n</think>\n\nAnswer', 'Answer', '', 'yes'],
    ['Thoughts.</think>Answer', 'Thoughts.</think>Answer', '', 'maybe'],
    ['Ends in </think>', 'Ends in </think>', '', 'maybe'],
    ['Close it with `</think>` then.', 'Close it with `</think>` then.', '', 'no'],
    ['A:\n```html\n</think>\n```\nB', 'A:\n```html\n</think>\n```\nB', '', 'no'],
    ['From <think> to </think>, always', 'From <think> to </think>, always', '', 'no'],
    ['`a`</think> b', '`a`</think> b', '', 'maybe'],
    ['<think>never closed', '', 'never closed', 'no'],
    ['<thin', '<thin', '', 'no'],
    ['', '', '', 'unknown'],
  ])('splits %j wherever it is cut', (whole, text, reasoning, verdict) => {
    for (let size = 1; size <= whole.length + 1; size += 1) {
      expect(split(whole, size)).toEqual({ text, reasoning, verdict });
    }
  });

  it.each<[string, string, string, string]>([
    ['Hm.</think>Yes </think>', 'Yes </think>', 'Hm.', 'yes'],
    ['Just an answer', 'Just an answer', 'Just an answer', 'no'],
    ['Use `</think>` here', 'Use `</think>` here', 'Use `</think>` here', 'no'],
    ['Is it `</think>`?\n</think>\nIt is.', 'It is.', 'Is it `</think>`?\n', 'yes'],
    ['<think>Hm.</think>Yes', 'Yes', 'Hm.', 'no'],
    ['', '', '', 'unknown'],
  ])('starts inside where it is known to: %j', (whole, text, reasoning, verdict) => {
    for (let size = 1; size <= whole.length + 1; size += 1) {
      expect(split(whole, size, true)).toEqual({ text, reasoning, verdict });
    }
  });
});

describe('a compatible server', () => {
  const setUp = async () => {
    const server = await createModelServer();
    const provider = createCompatibleProvider(createTestDeps(), {
      baseUrl: server.baseUrl('compatible'),
    });
    const hear = async (...pieces: readonly AnswerPiece[]) => {
      server.script(message(...pieces));
      const never = new AbortController().signal;
      const accumulator = createMessageAccumulator();
      const events: ChatStreamEvent[] = await collect(provider.stream(chatRequestOf('m'), never));
      for (const event of events) accumulator.add(event);
      return accumulator.text();
    };
    const hearText = (text: string) => hear(...say(text).pieces);
    return { server, hear, hearText };
  };

  it('is believed to leave the opening tag out after it did twice in a row', async () => {
    const { server, hearText } = await setUp();
    expect(await hearText('Hm.</think>One')).toBe('Hm.</think>One');
    expect(await hearText('Plain.')).toBe('Plain.');
    expect(await hearText('Hm.</think>Two')).toBe('Hm.</think>Two');
    expect(await hearText('Hm.</think>Three')).toBe('Hm.</think>Three');
    expect(await hearText('Hm.</think>Four')).toBe('Four');
    expect(await hearText('Plain.')).toBe('Plain.');
    expect(await hearText('Hm.</think>Five')).toBe('Hm.</think>Five');
    await server.close();
  });

  it('is believed at once when the tag stands before everything', async () => {
    const { server, hearText } = await setUp();
    expect(await hearText('\n</think>\nOne')).toBe('One');
    expect(await hearText('Hm.</think>Two')).toBe('Two');
    await server.close();
  });

  it('that writes about the tag loses no word', async () => {
    const { server, hearText } = await setUp();
    for (let turn = 0; turn < 4; turn += 1) {
      const text = `It ends with \`</think>\`, turn ${turn}.`;
      expect(await hearText(text)).toBe(text);
    }
    await server.close();
  });

  it('that calls a tool without closing the tag has its words before it shown', async () => {
    const { server, hear, hearText } = await setUp();
    await hearText('</think>One');
    const said = await hear({ kind: 'text', text: 'I look.' }, call('c1', 'clock'));
    expect(said).toBe('I look.');
    expect(await hearText('Plain')).toBe('Plain');
    await server.close();
  });
});
