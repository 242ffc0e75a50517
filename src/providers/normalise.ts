/**
 * The conversation as every wire format accepts it, made from what is stored. The stored history is
 * not touched. Whatever is mended here is mended the same way each time, so that the bytes of a
 * prefix stay the same from step to step.
 *
 * Afterwards: turns alternate, user first and user last (but for a paused message); every call has
 * exactly one result, in call order, at the head of the next user turn, and an id and a name that
 * the server takes; no empty text, no message of thoughts alone; vendor data only where its origin
 * is the one spoken to.
 */

import type { ChatMessage } from '../messages/chat.ts';
import type {
  AssistantPart,
  DocumentPart,
  FilePart,
  MadeImagePart,
  Origin,
  Raw,
  ToolCallPart,
  ToolResult,
  UserPart,
} from '../messages/parts.ts';
import { fitName, fitId as plainId } from './call-ids.ts';

export type Turn = UserTurn | AssistantTurn;

interface UserTurn {
  readonly role: 'user';
  /** Results of the assistant turn before it, in call order, each call exactly once. */
  readonly results: readonly ToolResult[];
  readonly parts: readonly UserPart[];
}

interface AssistantTurn {
  readonly role: 'assistant';
  readonly parts: readonly SentPart[];
}

/** What a message of the model is sent back as. Its images are vendor data by then, or a line. */
export type SentPart = Exclude<AssistantPart, MadeImagePart>;

export interface NormaliseOptions {
  readonly origin: Origin;
  /** True for vendor data that is something said or done, not a thought. Default: never. */
  readonly isContent?: (raw: Raw) => boolean;
  /** True when the message waits for the same provider to go on with it. Default: never. */
  readonly isPaused?: (parts: readonly SentPart[]) => boolean;
  /** True keeps empty texts that carry vendor data of this origin (Gemini's signatures). */
  readonly keepsSealedText?: boolean;
  /**
   * True where vendor data is good only with the call's own name (Gemini): such a name goes back as
   * it came, and where it must be replaced the data is left out.
   */
  readonly bindsNames?: boolean;
  /** An image that a model made as vendor data to send back; `raw` is there where it is the origin's
   * own. Default: a line says that one was made. */
  readonly imageRaw?: (image: MadeImagePart) => Raw;
  /** Makes an id that this server takes, the same one each time. Default: fitId. */
  readonly fitId?: (id: string) => string;
  /** Messages before this place go without thoughts and seals, as a foreign model's. Default 0. */
  readonly thoughtsFrom?: number;
}

const continueText = 'Continue.';
const interruptedText = 'interrupted: outcome unknown';
/** What a model reads where an image stood that it cannot be sent. */
const madeImageText = '[an image was made and posted here]';
const never = (): boolean => false;

/** The turns to send. */
export function normaliseMessages(
  messages: readonly ChatMessage[],
  options: NormaliseOptions,
): readonly Turn[] {
  const isContent = options.isContent ?? never;
  const isPaused = options.isPaused ?? never;
  const { thoughtsFrom = 0 } = options;
  const turns: Turn[] = [];
  const withFitCalls = createCallFitter(options);
  const addUser = (results: readonly ToolResult[], parts: readonly UserPart[]): void => {
    if (results.length === 0 && parts.length === 0) return;
    const last = turns.at(-1);
    if (last?.role !== 'user') turns.push({ role: 'user', results, parts });
    else {
      turns[turns.length - 1] = {
        role: 'user',
        results: [...last.results, ...results],
        parts: [...last.parts, ...parts],
      };
    }
  };
  const addAssistant = (
    parts: readonly AssistantPart[],
    results: readonly ToolResult[],
    origin: Origin | undefined,
  ): void => {
    const fitted = withFitCalls(parts, results);
    const own = fitted.parts.flatMap((part) => {
      const cleaned = cleanPart(part, origin, options);
      return cleaned === undefined ? [] : [cleaned];
    });
    const named = withoutIdleThoughts(own, isContent);
    if (named.length > 0) {
      const last = turns.at(-1);
      if (last?.role === 'assistant' && isPaused(last.parts)) {
        turns[turns.length - 1] = { role: 'assistant', parts: [...last.parts, ...named] };
      } else {
        // Also between two answers: it stood at the end when the second one was asked for, and the
        // thoughts of that one are bound to it.
        if (last?.role !== 'user') addUser([], [{ kind: 'text', text: continueText }]);
        turns.push({ role: 'assistant', parts: named });
      }
    }
    addUser(fitted.answers, []);
  };
  for (const [place, message] of messages.entries()) {
    // Results are taken with their calls; those without a call are left out.
    if (message.role === 'user') addUser([], message.parts.filter(isSayable));
    if (message.role === 'assistant') {
      const origin = place < thoughtsFrom ? undefined : options.origin;
      addAssistant(message.parts, resultsBeforeNextAssistant(messages, place + 1), origin);
    }
  }
  const last = turns.at(-1);
  const goesOn = last?.role === 'assistant' && isPaused(last.parts);
  if (!goesOn && last?.role !== 'user') addUser([], [{ kind: 'text', text: continueText }]);
  return turns;
}

/** Results may be stored in pieces, and a person's message may stand between them. */
function resultsBeforeNextAssistant(
  messages: readonly ChatMessage[],
  from: number,
): readonly ToolResult[] {
  const found: ToolResult[] = [];
  for (let place = from; place < messages.length; place += 1) {
    const message = messages[place];
    if (message?.role === 'assistant') break;
    if (message?.role === 'tool') found.push(...message.results);
  }
  return found;
}

function isSayable(part: UserPart): boolean {
  return part.kind !== 'text' || part.text.trim() !== '';
}

/** No message of thoughts alone, no thoughts and no white space at the end. */
function withoutIdleThoughts(
  kept: readonly SentPart[],
  isContent: (raw: Raw) => boolean,
): readonly SentPart[] {
  const isSaid = (part: SentPart): boolean => {
    if (part.kind === 'text') return part.text.trim() !== '';
    return part.kind === 'tool_call' || (part.kind === 'raw' && isContent(part.raw));
  };
  if (!kept.some(isSaid)) return [];
  const isThought = (part: SentPart): boolean =>
    part.kind === 'reasoning' || (part.kind === 'raw' && !isContent(part.raw));
  const whole = kept.slice(0, kept.findLastIndex((part) => !isThought(part)) + 1);
  const last = whole.at(-1);
  // Where a text carries vendor data it goes back as it came.
  if (last?.kind === 'text' && last.raw === undefined)
    whole[whole.length - 1] = { ...last, text: last.text.trimEnd() };
  return whole;
}

/** The part without foreign vendor data; undefined when nothing of it can be sent. */
function cleanPart(
  part: AssistantPart,
  origin: Origin | undefined,
  { keepsSealedText = false, imageRaw }: NormaliseOptions,
): SentPart | undefined {
  switch (part.kind) {
    case 'image': {
      if (!imageRaw) return { kind: 'text', text: madeImageText };
      const isOwn = part.raw !== undefined && isSameOrigin(part.raw.origin, origin);
      const { raw: _raw, ...bare } = part;
      return { kind: 'raw', raw: imageRaw(isOwn ? part : bare) };
    }
    case 'raw':
      return isSameOrigin(part.raw.origin, origin) ? part : undefined;
    case 'reasoning':
      // Unsealed thoughts are refused by some vendors and useless to all others.
      return part.raw !== undefined && isSameOrigin(part.raw.origin, origin) ? part : undefined;
    case 'tool_call':
    case 'text': {
      const isOwn = part.raw !== undefined && isSameOrigin(part.raw.origin, origin);
      const { raw: _raw, ...bare } = part;
      const cleaned = isOwn ? part : bare;
      const isEmpty = part.kind === 'text' && part.text.trim() === '';
      return isEmpty && !(isOwn && keepsSealedText) ? undefined : cleaned;
    }
  }
}

function isSameOrigin(a: Origin, b: Origin | undefined): boolean {
  return a.provider === b?.provider && a.endpoint === b.endpoint && a.model === b.model;
}

interface FittedCalls {
  readonly parts: readonly AssistantPart[];
  /** One for each call, in call order, under the call's id and name. */
  readonly answers: readonly ToolResult[];
}

/**
 * Calls keep their id unless an earlier call of the conversation has it (some servers count from
 * zero in every message) or the server spoken to might refuse it; its own ids it gets back as they
 * came. The result follows its call, and a missing one is filled in.
 */
function createCallFitter({ origin, bindsNames, fitId = plainId }: NormaliseOptions) {
  const takenIds = new Set<string>();
  const freeId = (callId: string, wanted: string): string => {
    let id = wanted;
    for (let count = 2; takenIds.has(id); count += 1) id = fitId(`${callId}_${count}`);
    takenIds.add(id);
    return id;
  };
  const fitCall = (call: ToolCallPart): ToolCallPart => {
    const isOwn = call.raw !== undefined && isSameOrigin(call.raw.origin, origin);
    const callId = freeId(call.callId, isOwn ? call.callId : fitId(call.callId));
    const keepsName = isOwn && bindsNames === true && call.name !== '';
    const name = keepsName ? call.name : fitName(call.name);
    const { raw: _raw, ...bare } = call;
    return { ...(name !== call.name && bindsNames === true ? bare : call), callId, name };
  };
  return (parts: readonly AssistantPart[], results: readonly ToolResult[]): FittedCalls => {
    const left = [...results];
    const answers: ToolResult[] = [];
    const fitted = parts.map((part): AssistantPart => {
      if (part.kind !== 'tool_call') return part;
      const call = fitCall(part);
      const at = left.findIndex((result) => result.callId === part.callId);
      const [result] = at < 0 ? [] : left.splice(at, 1);
      answers.push({
        ...(result ?? interruptedResult(part)),
        callId: call.callId,
        name: call.name,
      });
      return call;
    });
    return { parts: fitted, answers };
  };
}

function interruptedResult(call: ToolCallPart): ToolResult {
  return {
    callId: call.callId,
    name: call.name,
    outcome: 'interrupted',
    parts: [{ kind: 'text', text: interruptedText }],
  };
}

/** The text of a result, with the outcome where it is not ok; never empty. */
export function resultText(result: ToolResult): string {
  const text = result.parts
    .map((part) => (part.kind === 'text' ? part.text : ''))
    .filter((piece) => piece !== '')
    .join('\n');
  const body = text === '' ? '(no output)' : text;
  return result.outcome === 'ok' ? body : `[${result.outcome}] ${body}`;
}

/** What a model reads of a document that it cannot look into. */
export function documentText({ name, mediaType, text }: DocumentPart): string {
  if (text === undefined) return `[file ${name} (${mediaType}): this model cannot read it]`;
  const head = `[file ${name} (${mediaType}): this model cannot look at it; its text, or its beginning, follows]`;
  return `${head}\n${fenced(text)}`;
}

/** What the model reads of a file: what is known of it, and its text where it is one. */
export function fileText({ name, mediaType, bytes, note, path, text }: FilePart): string {
  const kept = path === undefined ? '' : `, kept as ${path}`;
  const head = `[file ${name} (${mediaType}, ${bytes} bytes)${kept}: ${note}]`;
  return text === undefined ? head : `${head}\n${fenced(text)}`;
}

function fenced(text: string): string {
  // Longer than any in the text, so that none of it ends the text.
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/gu), ([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}
