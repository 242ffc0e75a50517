/**
 * What the rehearsal model decides to do, by simple words in the last message. Pure rules: the same
 * conversation gives the same answer. It is not a language model, and says so.
 */

import type { ChatRequest } from '../../messages/chat.ts';
import { type ToolResult, textOf } from '../../messages/parts.ts';
import { longAnswer } from './long-answer.ts';
import { questionsOf } from './questions.ts';

interface PlannedCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Plan {
  readonly text: string;
  readonly calls: readonly PlannedCall[];
}

const keyAdvice =
  'Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY (or COMPATIBLE_BASE_URL with ' +
  'DECKHAND_MODEL) and start me again to talk to a real one.';

/** The answer to a request. */
export function planOf(request: ChatRequest): Plan {
  const last = request.messages.at(-1);
  if (last?.role === 'tool') return { text: reportOf(last.results), calls: [] };
  const said = lastWords(request);
  const hasTool = (name: string): boolean => request.tools.some((tool) => tool.name === name);
  const wanted = wantedCall(said);
  if (wanted !== undefined) {
    if (hasTool(wanted.call.name)) return { text: wanted.text, calls: [wanted.call] };
    return { text: `I would call ${wanted.call.name}, but it is not among my tools.`, calls: [] };
  }
  const words = /\bwrite (\d{1,5}) words\b/iu.exec(said)?.[1];
  if (words !== undefined) return { text: longAnswer(Number(words)), calls: [] };
  if (/\blong answer\b/iu.test(said)) return { text: longAnswer(400), calls: [] };
  return { text: greeting(request), calls: [] };
}

/** The text of the last person's message without the author's name and mentions before it. */
function lastWords(request: ChatRequest): string {
  const last = request.messages.findLast((message) => message.role === 'user');
  const parts = last?.role === 'user' ? last.parts : [];
  // Where several messages came together, the newest one counts.
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  return (texts.at(-1) ?? '').trim();
}

function wantedCall(said: string): { text: string; call: PlannedCall } | undefined {
  const planned = /(?:^|: )plan: ?([\s\S]+)/iu.exec(said)?.[1];
  if (planned !== undefined) {
    const plan = `1. ${planned.trim()}\n2. Say what came of it`;
    return {
      text: 'This is how I would go about it.',
      call: { name: 'ExitPlanMode', input: { plan } },
    };
  }
  const command = /\brun: ?([\s\S]+)/iu.exec(said)?.[1]?.trim();
  if (command !== undefined && command !== '') {
    return { text: 'I run that.', call: { name: 'Bash', input: { command } } };
  }
  const url = /\bfetch (https?:\/\/\S+)/iu.exec(said)?.[1];
  if (url !== undefined) {
    return { text: `I fetch ${url}.`, call: { name: 'WebFetch', input: { url } } };
  }
  if (/\blist (?:the |all )?files\b/iu.test(said)) {
    return { text: 'I list the files.', call: { name: 'Glob', input: { pattern: '**/*' } } };
  }
  const written = /\bwrite ([^\s:]*[^\s:\d][^\s:]*): ?([\s\S]+)/iu.exec(said);
  if (written?.[1] !== undefined && written[2] !== undefined) {
    const [, path, content] = written;
    return { text: `I write ${path}.`, call: { name: 'FileWrite', input: { path, content } } };
  }
  const asked = questionsOf(said);
  if (asked.length > 0) {
    return {
      text: 'Here is what I would like to know.',
      call: { name: 'AskUserQuestion', input: { questions: asked } },
    };
  }
  const read = /\bread (?:the file )?(?=\S*[./]\S|\S+\s*$)([^\s,;]+[^\s,;.?!])/iu.exec(said)?.[1];
  if (read !== undefined) {
    return { text: `I read ${read}.`, call: { name: 'FileRead', input: { path: read } } };
  }
  const sought = /\b(?:search|grep)(?: for)? ([^\s,;]+[^\s,;.?!]|\S)/iu.exec(said)?.[1];
  if (sought !== undefined) {
    return { text: `I search for ${sought}.`, call: { name: 'Grep', input: { pattern: sought } } };
  }
  return undefined;
}

function reportOf(results: readonly ToolResult[]): string {
  return results.map(sentenceOf).join('\n\n');
}

const mostShownChars = 1_500;

function sentenceOf(result: ToolResult): string {
  const text = textOf(result.parts).trim();
  if (result.outcome !== 'ok') return `${result.name} did not work (${result.outcome}): ${text}`;
  if (result.name === 'AskUserQuestion') return `Thank you. The answer: ${text}`;
  if (text === '') return `${result.name} is done; it gave nothing back.`;
  const lines = text.split('\n').length;
  const shown = text.length > mostShownChars ? `${text.slice(0, mostShownChars)}…` : text;
  const what = `${lines} ${lines === 1 ? 'line' : 'lines'}`;
  // A fence longer than any in the text keeps it whole.
  const fence = '`'.repeat(
    Math.max(3, ...[...shown.matchAll(/`+/gu)].map(([run]) => run.length + 1)),
  );
  return `${result.name} came back with ${what}:\n\n${fence}\n${shown}\n${fence}`;
}

function greeting(request: ChatRequest): string {
  const earlier = request.messages.length - 1;
  const seen =
    earlier <= 0
      ? 'This is the first message I can see here.'
      : `I can see ${earlier} earlier ${earlier === 1 ? 'message' : 'messages'} in this conversation.`;
  return [
    `Hello! ${seen}`,
    'I am the rehearsal model: a few simple rules, not a language model. ' +
      'Try "list files", "read NAME", "write NAME: text", "search WORD", ' +
      '"run: COMMAND", "fetch ADDRESS", "plan: TASK", "ask me whether A or B" or "write 200 words".',
    keyAdvice,
  ].join('\n\n');
}
