/**
 * Puts tool calls together from the pieces of Chat Completions streams, whatever a server makes of
 * ids, indexes and names: missing, repeated, random or in fragments. A call is ready when the next
 * one starts with its own arguments whole, or when the message ends; never because its JSON parses.
 */

import type { NewId } from '../../base/ids.ts';
import type { ChatStreamEvent } from '../../messages/chat.ts';
import type { Origin } from '../../messages/parts.ts';
import { cutArguments, parseArguments } from '../arguments.ts';
import { idMark } from '../call-ids.ts';
import { rawOf } from '../raw.ts';
import { createJsonScan, type JsonScan } from './json-scan.ts';

/** One entry of `delta.tool_calls`; empty texts count as absent. */
export interface CallPiece {
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  /** Text of the arguments; an object was made text before. */
  readonly json: string;
}

export interface CallAssembler {
  /** The entries of one chunk, in order. */
  add(pieces: readonly CallPiece[]): Generator<ChatStreamEvent>;
  /**
   * The message is over. `isCut`: by the token limit, so that empty arguments prove nothing.
   * `data`: what came behind the last call, and rides on it.
   */
  finish(isCut: boolean, data?: Readonly<Record<string, unknown>>): Generator<ChatStreamEvent>;
  readonly count: number;
  /** True when a call has begun whose arguments are no whole JSON yet. */
  readonly hasBrokenCall: boolean;
}

interface Assembled {
  readonly index: number | undefined;
  readonly serverId: string | undefined;
  readonly callId: string;
  readonly json: JsonScan;
  name: string;
  hasStarted: boolean;
  isReady: boolean;
}

export function createCallAssembler(
  newId: NewId,
  toolNames: ReadonlySet<string>,
  origin: Origin,
): CallAssembler {
  const calls: Assembled[] = [];
  const names = createNames(toolNames);

  const open = (piece: CallPiece): Assembled => {
    const isTaken = calls.some(({ callId }) => callId === piece.id);
    const call: Assembled = {
      index: piece.index,
      serverId: piece.id,
      callId: piece.id === undefined || isTaken ? newId('call') : piece.id,
      json: createJsonScan(),
      name: '',
      hasStarted: false,
      isReady: false,
    };
    calls.push(call);
    return call;
  };

  function* start(call: Assembled): Generator<ChatStreamEvent> {
    if (call.hasStarted) return;
    call.hasStarted = true;
    yield { kind: 'tool_call_start', callId: call.callId, name: call.name };
  }

  function* ready(call: Assembled, isCut: boolean, data = {}): Generator<ChatStreamEvent> {
    if (call.isReady) return;
    call.isReady = true;
    yield* start(call);
    const { isBlank, text } = call.json;
    const parsed = isBlank && isCut ? cutArguments : parseArguments(text);
    const own = { ...idMark(call.callId), ...data };
    const raw = Object.keys(own).length === 0 ? {} : { raw: rawOf(origin, own) };
    yield { kind: 'tool_call_ready', callId: call.callId, name: call.name, ...parsed, ...raw };
  }

  /** Another call begins: this one is complete, unless the server sends all heads first. */
  function* settle(call: Assembled): Generator<ChatStreamEvent> {
    if (!call.isReady && call.json.isWhole) yield* ready(call, false);
    else if (names.isTool(call.name)) yield* start(call);
  }

  function* addPiece(piece: CallPiece, inThisChunk: ReadonlySet<Assembled>, place: number) {
    const found = findCall(calls, piece, inThisChunk, place, names);
    if (found === undefined) for (const call of calls) yield* settle(call);
    const call = found ?? open(piece);
    if (piece.name !== undefined && !call.hasStarted) call.name = names.join(call, piece.name);
    if (!call.isReady && piece.json !== '') {
      call.json.add(piece.json);
      yield* start(call);
      yield { kind: 'tool_call_delta', callId: call.callId, json: piece.json } as const;
    } else if (names.isSettled(call.name)) yield* start(call);
    return call;
  }

  /** An id alone, after the last call's end, is none. */
  const isCall = ({ name, json }: Assembled): boolean => name !== '' || !json.isBlank;

  return {
    add: function* (pieces) {
      const inThisChunk = new Set<Assembled>();
      for (const [place, piece] of pieces.entries()) {
        const count = pieces.length > 1 ? place : -1;
        inThisChunk.add(yield* addPiece(piece, inThisChunk, count));
      }
    },
    finish: function* (isCut, data) {
      const real = calls.filter(isCall);
      const last = real.at(-1);
      for (const call of real) {
        if (call === last) yield* ready(call, isCut, data);
        else yield* ready(call, false);
      }
    },
    get count() {
      return calls.filter(isCall).length;
    },
    get hasBrokenCall() {
      return calls.some(({ json }) => !json.isBlank && !json.isWhole);
    },
  };
}

/** The call a piece belongs to; undefined when it begins a new one. `place` is -1 when alone. */
function findCall(
  calls: readonly Assembled[],
  piece: CallPiece,
  inThisChunk: ReadonlySet<Assembled>,
  place: number,
  names: Names,
): Assembled | undefined {
  const { id, index } = piece;
  const last = calls.at(-1);
  if (last === undefined) return undefined;
  const known = id === undefined ? [] : calls.filter(({ serverId }) => serverId === id);
  const ofIndex = (some: readonly Assembled[]): Assembled | undefined =>
    index === undefined ? undefined : some.findLast((call) => call.index === index);
  const positional = piece.name === undefined && id === undefined && index === undefined;
  // An id says more than an index, an index more than a place; else it goes on with what is open.
  const call =
    ofIndex(known) ??
    known.at(-1) ??
    ofIndex(calls) ??
    (positional && place >= 0 ? calls[place] : undefined) ??
    last;
  return beginsAnew(call, piece, inThisChunk.has(call), names) ? undefined : call;
}

/** Does this piece begin another call than the one it would go on with? */
function beginsAnew(
  call: Assembled,
  piece: CallPiece,
  isInThisChunk: boolean,
  names: Names,
): boolean {
  const { name } = piece;
  const { isBlank, isWhole } = call.json;
  const hasNewId = isOther(piece.id, call.serverId);
  const hasNewIndex = isOther(piece.index, call.index);
  const isOwn = piece.id !== undefined && piece.id === call.serverId;
  const isElsewhere = hasNewId || (hasNewIndex && !isOwn);
  const isEmpty = piece.json.trim() === '';
  // Arguments begin with a bracket: other text goes on with those that are open.
  const goesOn = !isEmpty && !piece.json.trimStart().startsWith('{') && !isBlank && !isWhole;
  if (goesOn) return name !== undefined && isInThisChunk;
  if (isInThisChunk) return name !== undefined || hasNewId;
  if (name === undefined) {
    return piece.id !== undefined && !isOwn && (hasNewIndex || (hasNewId && isWhole));
  }
  if (isElsewhere) return true;
  if (name !== call.name) return isOtherName(call, name, names);
  // Heads that come first may share an id, but each has an index.
  return isWhole ? !isEmpty : isOwn && hasNewIndex && isBlank && isEmpty;
}

function isOtherName(call: Assembled, name: string, names: Names): boolean {
  const { isBlank, isWhole } = call.json;
  if (call.name === '') return isWhole;
  return !names.isFragment(call, name) && (isBlank || isWhole || names.isTool(name));
}

function isOther<T>(one: T | undefined, known: T | undefined): boolean {
  return one !== undefined && known !== undefined && one !== known;
}

/** What is known of names: some servers repeat the whole one in every chunk, some send fragments. */
interface Names {
  isTool(name: string): boolean;
  /** A tool, and no beginning of another. */
  isSettled(name: string): boolean;
  /** Does a further name go on with the call's own? */
  isFragment(call: Assembled, name: string): boolean;
  /** The name of a call after a further piece of it. */
  join(call: Assembled, name: string): string;
}

function createNames(toolNames: ReadonlySet<string>): Names {
  const all = [...toolNames];
  const isBeginning = (name: string): boolean =>
    all.some((tool) => tool !== name && tool.startsWith(name));
  const isSettled = (name: string): boolean => toolNames.has(name) && !isBeginning(name);
  const isFragment = ({ name: before, json }: Assembled, name: string): boolean => {
    if (!json.isBlank) return false;
    const joined = before + name;
    if (toolNames.has(joined) || isBeginning(joined)) return true;
    if (toolNames.has(before)) return false;
    return name.startsWith(before) || !toolNames.has(name);
  };
  return {
    isTool: (name) => toolNames.has(name),
    isSettled,
    isFragment,
    join: ({ name: before, json }, name) => {
      if (before === '' || before === name) return name;
      if (!json.isBlank) return before;
      return name.startsWith(before) ? name : before + name;
    },
  };
}
