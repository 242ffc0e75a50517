/**
 * Images and documents of a request as this model can be sent them: as they are, or as a line that
 * says why they are left out. Like all that is mended before the wire it is done the same way each
 * time: old ones go many at once and rarely, so that a prefix keeps its bytes from step to step.
 */

import { createHash } from 'node:crypto';
import type { ChatMessage, ChatRequest } from '../messages/chat.ts';
import { type MediaPart, mostMediaChars } from '../messages/media.ts';
import type { Abilities } from '../messages/model.ts';
import {
  type AssistantPart,
  type ResultPart,
  type ToolResult,
  type UserPart,
  withoutBoundReasoning,
} from '../messages/parts.ts';
import { documentText } from './normalise.ts';
import { withToolsAsText } from './tool-texts.ts';

/**
 * Images and documents of one request. Anthropic takes 100 together, Gemini and OpenAI hundreds;
 * each costs about 1,600 tokens at every step. Servers that take fewer say so once (`most_media:`).
 */
const mostMedia = 40;
const countPrefix = 'most_media:';
export const noImages = 'no_images';
export const noDocuments = 'no_documents';

/** The name under which it is remembered that a server refuses this image or document. */
export function refusalOf(part: MediaPart): string {
  return `without_${part.kind}:${hashOf(part.base64)}`;
}

/** The first 16 hexadecimal digits of the SHA-256 of the base64. */
export function hashOf(base64: string): string {
  return createHash('sha256').update(base64).digest('hex').slice(0, 16);
}

/** The name that remembers how many a server takes at once. */
export function mostMediaName(most: number): string {
  return countPrefix + most;
}

/** The request's messages, one for one, with what cannot be sent replaced by a line of text. */
export function fitMedia(
  request: Pick<ChatRequest, 'messages' | 'abilities'>,
  learned: ReadonlySet<string>,
): readonly ChatMessage[] {
  const { abilities } = request;
  const messages = abilities.tools ? request.messages : withToolsAsText(request.messages);
  const whyNot = refuser(request, learned);
  const sent = mediaIn(messages, abilities).filter(({ part }) => whyNot(part) === undefined);
  const { gone, editedUntil } = tooOld(sent, limitOf(learned));
  const textFor = (part: MediaPart): string | undefined =>
    gone.has(part) ? leftOut(part, 'only the newest ones are shown') : whyNot(part);
  const firstGone = sent.find(({ part }) => gone.has(part))?.message ?? messages.length;
  return messages.map((message, place) => {
    // Thoughts are bound to all that stood before them; what goes takes them with it.
    const isBound = place >= firstGone && place < editedUntil;
    return withoutMedia(message, textFor, isBound);
  });
}

/** What goes to the wire, oldest first. */
export function sentMedia(
  request: Pick<ChatRequest, 'messages' | 'abilities'>,
  learned: ReadonlySet<string>,
): readonly MediaPart[] {
  return mediaIn(fitMedia(request, learned), request.abilities).map(({ part }) => part);
}

/**
 * Does learning this change what stood before an answer? Then its thoughts are stale. (What is left
 * out from the start changes nothing.)
 */
export function editsHistory(
  request: Pick<ChatRequest, 'messages' | 'abilities'>,
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
): boolean {
  const count = (message: ChatMessage): number =>
    partsOf(message, request.abilities.imageOutput).filter(isMedia).length;
  const shown = fitMedia(request, before).map(count);
  const left = fitMedia(request, after).map(count);
  const first = shown.findIndex((number, place) => number !== left[place]);
  return first >= 0 && request.messages.slice(first).some(({ role }) => role === 'assistant');
}

type AnyPart = UserPart | AssistantPart | ResultPart;

interface Placed {
  readonly part: MediaPart;
  /** The message it stands in. */
  readonly message: number;
}

function mediaIn(messages: readonly ChatMessage[], { imageOutput }: Abilities): readonly Placed[] {
  return messages.flatMap((one, message) =>
    partsOf(one, imageOutput).flatMap((part) => (isMedia(part) ? [{ part, message }] : [])),
  );
}

/** `showsOwn`: the model is sent images that models made; all others read a line in their place. */
function partsOf(message: ChatMessage, showsOwn: boolean): readonly AnyPart[] {
  switch (message.role) {
    case 'user':
      return message.parts;
    case 'assistant':
      return showsOwn ? message.parts : [];
    case 'tool':
      return message.results.flatMap(({ parts }) => parts);
  }
}

function isMedia(part: AnyPart): part is MediaPart {
  return part.kind === 'image' || part.kind === 'document';
}

/** Says why this model is never sent a part; undefined when it may be. */
function refuser(
  { abilities }: Pick<ChatRequest, 'abilities'>,
  learned: ReadonlySet<string>,
): (part: MediaPart) => string | undefined {
  const seesImages = abilities.images && !learned.has(noImages);
  const seesDocuments = abilities.documents && !learned.has(noDocuments);
  // Hashing costs a millisecond per megabyte: only where something was refused before.
  const hasRefused = [...learned].some((name) => name.startsWith('without_'));
  return (part) => {
    if (part.kind === 'image' && !seesImages) return leftOut(part, blind);
    if (part.kind === 'document' && !seesDocuments) return documentText(part);
    return hasRefused && learned.has(refusalOf(part))
      ? leftOut(part, "the model's server refused it")
      : undefined;
  };
}

const blind = 'this model cannot look at images';

function leftOut(part: MediaPart, why: string): string {
  return part.kind === 'image'
    ? `[image left out: ${why}]`
    : `[file ${part.name} (${part.mediaType}) left out: ${why}]`;
}

function limitOf(learned: ReadonlySet<string>): number {
  const counts = [...learned].flatMap((name) =>
    name.startsWith(countPrefix) ? [Number(name.slice(countPrefix.length))] : [],
  );
  return Math.min(mostMedia, ...counts);
}

/**
 * Which are too many, or too large together. Decided one after the other as they came, so that what
 * comes later changes nothing about an earlier step; half of the room is made free at once.
 * `editedUntil` is the message with which the last ones went: what stands before was written when
 * they still stood there.
 */
function tooOld(
  sent: readonly Placed[],
  most: number,
): { readonly gone: ReadonlySet<MediaPart>; readonly editedUntil: number } {
  const gone = new Set<MediaPart>();
  const kept: MediaPart[] = [];
  let chars = 0;
  let editedUntil = 0;
  for (const { part, message } of sent) {
    kept.push(part);
    chars += part.base64.length;
    if (kept.length <= most && chars <= mostMediaChars) continue;
    const room = Math.ceil(most / 2);
    while (kept.length > 1 && (kept.length > room || chars > mostMediaChars / 2)) {
      const oldest = kept.shift();
      if (oldest === undefined) break;
      gone.add(oldest);
      chars -= oldest.base64.length;
    }
    editedUntil = message;
  }
  return { gone, editedUntil };
}

function withoutMedia(
  message: ChatMessage,
  textFor: (part: MediaPart) => string | undefined,
  isBound: boolean,
): ChatMessage {
  const fit = <Part extends AnyPart>(part: Part) => {
    const text = isMedia(part) ? textFor(part) : undefined;
    return text === undefined ? part : ({ kind: 'text', text } as const);
  };
  switch (message.role) {
    case 'user':
      return { role: 'user', parts: message.parts.map(fit) };
    case 'assistant': {
      const parts = message.parts.map(fit);
      return { role: 'assistant', parts: isBound ? withoutBoundReasoning(parts) : parts };
    }
    case 'tool':
      return {
        role: 'tool',
        results: message.results.map(
          (result): ToolResult => ({ ...result, parts: result.parts.map(fit) }),
        ),
      };
  }
}
