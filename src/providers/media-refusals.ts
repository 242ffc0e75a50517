/**
 * A server that refuses an image or a document names it, or not; either way the rest of the
 * conversation must go on. What it names is never sent to it again; what it does not name is found
 * by leaving out the newest first, and remembered once that has helped.
 */

import type { ChatRequest } from '../messages/chat.ts';
import type { MediaPart } from '../messages/media.ts';
import { unquoted } from './adaptation.ts';
import { codeOfFailure, statusOf, type WireFailure } from './errors.ts';
import { hashOf, mostMediaName, noDocuments, noImages, refusalOf, sentMedia } from './media.ts';

export interface MediaCure {
  /** What is learned (see media.ts). */
  readonly names: readonly string[];
  /**
   * if_it_helps: a guess, of which only the last one helped. together: what is left out adds up until
   * the server takes the request.
   */
  readonly lasts: 'model' | 'if_it_helps' | 'together';
}

/** How many are left out one by one before all others go together. */
const mostGuesses = 8;
/** For their size half of them go, and half again, before all others: each try sends the rest anew. */
const mostHalvings = 2;

const aboutImages = /image|vision|picture|multi-?modal|inline_?data|图片/iu;
const aboutDocuments = /pdf|document|input_file|file_data|invalid_file|inline_?data/iu;

/** Texts of servers whose model has no eyes, whatever image it is. */
const blindPatterns = [
  /(?:not|n't) support (?:image|vision|multi-?modal)/iu,
  /image(?:_url| input| content)?s? (?:is|are) (?:not|only) (?:supported|enabled)/iu,
  // OpenRouter: "No endpoints found that support image input".
  /(?:no|not|without|missing) .{0,60}image input/iu,
  /not (?:a|an) (?:vision|multi-?modal)/iu,
  // Servers that know texts alone: "unknown variant `image_url`, expected `text`".
  /unknown variant .{0,4}image/iu,
  /at most 0 image/iu,
];
const unreadablePattern =
  /(?:(?:not|n't) support (?:pdf|document|file)|(?:pdf|document|file)(?: input| content)?s? (?:is|are) not supported|unknown variant .{0,4}(?:file|document))/iu;

const countPattern =
  /(?:at most|up to|max(?:imum)?(?: of| number of)?|limit(?: of| is)?) (\d+) image|too many images/iu;
/** Whatever it is that is too large: what weighs most are images and documents. */
const tooLargePattern =
  /request_too_large|\b(?:payload|request|body|entity)\b.{0,40}(?:too large|size exceeds|exceeds the (?:maximum|limit|size))/iu;
/** "'messages.1.content' : value must be a string": a server that takes no parts. */
const textsOnlyPattern =
  /content\b.{0,60}(?:must be|should be|expected|received|is not|to be|of type)\W{1,3}(?:an? )?(?:valid )?(?:string|str|array|sequence|list)\b|invalid type: sequence/iu;

/** The sum over all documents is too much: the old ones may go before the new one. */
const pagesPattern = /\d+ PDF pages/iu;

/**
 * The cures for one request, one after the other; undefined where the refusal is about something
 * else, or nothing is left to leave out.
 */
export function createMediaCures(
  request: ChatRequest,
): (failure: WireFailure, learned: ReadonlySet<string>) => MediaCure | undefined {
  let guesses = 0;
  let halvings = 0;
  const guessed = (ordered: readonly MediaPart[]): MediaCure => {
    guesses += 1;
    const left = guesses > mostGuesses ? ordered : ordered.slice(0, 1);
    return { names: namesOf(left), lasts: 'if_it_helps' };
  };
  const halved = (ordered: readonly MediaPart[]): MediaCure => {
    halvings += 1;
    const half = Math.max(1, Math.floor(ordered.length / 2));
    const left = halvings > mostHalvings ? ordered : ordered.slice(0, half);
    return { names: namesOf(left), lasts: 'together' };
  };
  return (failure, learned) => {
    const text = textOf(failure);
    const sent = sentMedia(request, learned);
    if (isAboutSize(failure)) {
      return sent.length === 0 ? undefined : halved(sent.toReversed());
    }
    const isAboutImages = aboutImages.test(text);
    const isAboutDocuments = aboutDocuments.test(text);
    const suspects = sent.filter(({ kind }) =>
      kind === 'image' ? isAboutImages : isAboutDocuments,
    );
    if (suspects.length === 0) return undefined;
    // An overload says nothing about a request; llama.cpp alone words a lack of eyes as a failure.
    const isNoRefusal = isPassing(failure);
    if (isNoRefusal && statusOf(failure) !== 500) return undefined;
    const general = abilityCure(text, suspects);
    if (general !== undefined || isNoRefusal) return general;
    const named = suspects.filter(({ base64 }) => failure.accused?.includes(hashOf(base64)));
    if (named.length > 0) return { names: namesOf(named), lasts: 'model' };
    const ordered = pagesPattern.test(text) ? suspects : suspects.toReversed();
    return countCure(text, suspects.length) ?? guessed(ordered);
  };
}

/** Is the request refused for its size in bytes, media or not? A server that failed refused nothing. */
export function isAboutSize(failure: WireFailure): boolean {
  const status = statusOf(failure) ?? 0;
  if (status >= 500 || isPassing(failure)) return false;
  return status === 413 || tooLargePattern.test(textOf(failure));
}

/**
 * The cure where a server wants texts and got parts, which only what holds media is written in.
 * Undefined where the message it names holds none: then its text was missing.
 */
export function textsOnlyCure(
  failure: WireFailure,
  request: ChatRequest,
  learned: ReadonlySet<string>,
): MediaCure | undefined {
  if (!isAboutParts(failure) || failure.accused?.length === 0) return undefined;
  const kinds = new Set(sentMedia(request, learned).map(({ kind }) => kind));
  if (kinds.size === 0) return undefined;
  const names = [
    ...(kinds.has('image') ? [noImages] : []),
    ...(kinds.has('document') ? [noDocuments] : []),
  ];
  return { names, lasts: 'if_it_helps' };
}

function isAboutParts(failure: WireFailure): boolean {
  const text = unquoted(textOf(failure));
  return textsOnlyPattern.test(text) && !/\bnull\b|\bnone\b/iu.test(text);
}

function textOf({ code, type, param, message }: WireFailure): string {
  return [code, type, param, message].join(' ');
}

function namesOf(parts: readonly MediaPart[]): readonly string[] {
  return [...new Set(parts.map(refusalOf))];
}

/** Would the same request be taken later? Inside a stream its code tells, which may be a status. */
function isPassing(failure: WireFailure): boolean {
  const code = codeOfFailure(failure);
  return code === 'overloaded' || code === 'model_rate_limited' || code === 'connection_lost';
}

function abilityCure(text: string, suspects: readonly MediaPart[]): MediaCure | undefined {
  const has = (kind: MediaPart['kind']): boolean => suspects.some((part) => part.kind === kind);
  if (has('image') && blindPatterns.some((pattern) => pattern.test(text))) {
    return { names: [noImages], lasts: 'if_it_helps' };
  }
  return has('document') && unreadablePattern.test(text)
    ? { names: [noDocuments], lasts: 'if_it_helps' }
    : undefined;
}

/** "At most 5 image(s) may be provided in one prompt": so many from now on, the newest. */
function countCure(text: string, sent: number): MediaCure | undefined {
  const found = countPattern.exec(text);
  if (found === null) return undefined;
  const most = found[1] === undefined ? Math.floor(sent / 2) : Number(found[1]);
  return most > 0 && most < sent ? { names: [mostMediaName(most)], lasts: 'model' } : undefined;
}

const placePattern = /\b(?:messages|input|contents)(?:\[\d+\]|\.\d+)(?:\[\d+\]|\.\w+)*/gu;

/**
 * The failure with the hashes of what stands at the places it names, in the body that was sent: an
 * image alone there is meant for certain. Of a complaint about parts all that stands there, if nothing.
 */
export function withAccused(failure: WireFailure, body: unknown): WireFailure {
  const { param = '', message, paths = [] } = failure;
  const isOfParts = isAboutParts(failure);
  if (typeof body !== 'string' || !(isOfParts || aboutMedia(failure))) return failure;
  const places = [...paths, ...(`${param} ${message}`.match(placePattern) ?? [])];
  if (places.length === 0) return failure;
  const sent: unknown = JSON.parse(body);
  const accused = places.flatMap((place) => {
    const found = [...base64In(nodeAt(sent, place))];
    return isOfParts || found.length === 1 ? found.map(hashOf) : [];
  });
  return accused.length === 0 && !isOfParts
    ? failure
    : { ...failure, accused: [...new Set(accused)] };
}

function aboutMedia({ code, param, message }: WireFailure): boolean {
  const text = [code, param, message].join(' ');
  return aboutImages.test(text) || aboutDocuments.test(text);
}

/**
 * What stands at `messages.3.content.1.image.source.base64` or `input[2].content[1].image_url`:
 * as deep as the steps lead, for some of them are names of kinds and no fields.
 */
function nodeAt(body: unknown, place: string): unknown {
  let node = body;
  for (const step of place.split(/[.[\]]+/u).filter((one) => one !== '')) {
    const next = fieldOf(node, step);
    if (next === undefined) break;
    node = next;
  }
  return node;
}

function fieldOf(node: unknown, step: string): unknown {
  return typeof node === 'object' && node !== null
    ? Object.entries(node).find(([key]) => key === step)?.[1]
    : undefined;
}

const dataUrlPattern = /^data:[\w.+/-]+;base64,/u;

/** All base64 below a node: data addresses, and the `data` of a source. */
function* base64In(node: unknown, key = ''): Iterable<string> {
  if (typeof node === 'string') {
    const head = dataUrlPattern.exec(node.slice(0, 100))?.[0];
    if (head !== undefined) yield node.slice(head.length);
    else if (key === 'data') yield node;
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  for (const [name, value] of Object.entries(node)) yield* base64In(value, name);
}
