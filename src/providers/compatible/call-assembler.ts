/**
 * Puts tool calls together from the pieces of Chat Completions streams, whatever a server makes of
 * ids, indexes and names: missing, repeated, random or in fragments. A call is ready when the next
 * one starts with its own arguments whole, or when the message ends; never because its JSON parses.
 */

import type { NewId } from '../../base/ids.ts';
import type { ChatStreamEvent } from '../../messages/chat.ts';
import type { Origin } from '../../messages/parts.ts';
import { cutArguments, isWholeJson, parseArguments } from '../arguments.ts';
import { idMark } from '../call-ids.ts';
import { rawOf } from '../raw.ts';

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
  /** The message is over. `isCut`: by the token limit, so that empty arguments prove nothing. */
  finish(isCut: boolean): Generator<ChatStreamEvent>;
  readonly count: number;
  /** True when a call has begun whose arguments are no whole JSON yet. */
  readonly hasBrokenCall: boolean;
}

interface Assembled {
  readonly index: number | undefined;
  readonly serverId: string | undefined;
  readonly callId: string;
  name: string;
  json: string;
  hasStarted: boolean;
  isReady: boolean;
}

export function createCallAssembler(
  newId: NewId,
  toolNames: ReadonlySet<string>,
  origin: Origin,
): CallAssembler {
  const calls: Assembled[] = [];

  const open = (piece: CallPiece): Assembled => {
    const isTaken = calls.some(({ callId }) => callId === piece.id);
    const call: Assembled = {
      index: piece.index,
      serverId: piece.id,
      callId: piece.id === undefined || isTaken ? newId('call') : piece.id,
      name: '',
      json: '',
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

  function* ready(call: Assembled, isCut: boolean): Generator<ChatStreamEvent> {
    if (call.isReady) return;
    call.isReady = true;
    yield* start(call);
    const isEmpty = call.json.trim() === '';
    const parsed = isEmpty && isCut ? cutArguments : parseArguments(call.json);
    const mark = idMark(call.callId);
    const raw = mark === undefined ? {} : { raw: rawOf(origin, mark) };
    yield { kind: 'tool_call_ready', callId: call.callId, name: call.name, ...parsed, ...raw };
  }

  function* addPiece(piece: CallPiece, inThisChunk: ReadonlySet<Assembled>, place: number) {
    const found = findCall(calls, piece, inThisChunk, place);
    if (found === undefined) {
      // The ones before are complete, unless the server sends all heads first.
      for (const call of calls) if (isWholeJson(call.json)) yield* ready(call, false);
    }
    const call = found ?? open(piece);
    if (piece.name !== undefined) call.name = joinName(call, piece.name, toolNames);
    if (!call.isReady && piece.json !== '') {
      call.json += piece.json;
      yield* start(call);
      yield { kind: 'tool_call_delta', callId: call.callId, json: piece.json } as const;
    } else if (toolNames.has(call.name)) yield* start(call);
    return call;
  }

  return {
    add: function* (pieces) {
      const inThisChunk = new Set<Assembled>();
      for (const [place, piece] of pieces.entries()) {
        const count = pieces.length > 1 ? place : -1;
        inThisChunk.add(yield* addPiece(piece, inThisChunk, count));
      }
    },
    finish: function* (isCut) {
      const last = calls.at(-1);
      for (const call of calls) yield* ready(call, isCut && call === last);
    },
    get count() {
      return calls.length;
    },
    get hasBrokenCall() {
      return calls.some(({ json }) => 'inputError' in parseArguments(json));
    },
  };
}

/** The call a piece belongs to; undefined when it begins a new one. `place` is -1 when alone. */
function findCall(
  calls: readonly Assembled[],
  piece: CallPiece,
  inThisChunk: ReadonlySet<Assembled>,
  place: number,
): Assembled | undefined {
  if (calls.length === 0) return undefined;
  if (piece.id !== undefined) return findById(calls, piece, piece.id);
  if (piece.index !== undefined) {
    const same = calls.findLast(({ index }) => index === piece.index);
    if (same !== undefined) return beginsAnew(same, piece) ? undefined : same;
    // An unknown index without a name goes on with what is open.
    return piece.name === undefined ? calls.at(-1) : undefined;
  }
  const last = calls.at(-1);
  if (piece.name === undefined) return (place < 0 ? undefined : calls[place]) ?? last;
  if (last === undefined || inThisChunk.has(last)) return undefined;
  const isRepeat = last.name === piece.name || last.name === '';
  return isRepeat && !beginsAnew(last, piece) ? last : undefined;
}

function findById(
  calls: readonly Assembled[],
  piece: CallPiece,
  id: string,
): Assembled | undefined {
  const same = calls.findLast(({ serverId }) => serverId === id);
  if (same === undefined) {
    // An id that comes after its call's first piece.
    const last = calls.at(-1);
    const isLate =
      last?.serverId === undefined && piece.name === undefined && last?.index === piece.index;
    return isLate ? last : undefined;
  }
  const isOtherIndex =
    piece.index !== undefined && same.index !== undefined && piece.index !== same.index;
  if (isOtherIndex && piece.name !== undefined && isWholeJson(same.json)) return undefined;
  return beginsAnew(same, piece) ? undefined : same;
}

/** A name with arguments after arguments that are already whole. */
function beginsAnew(call: Assembled, piece: CallPiece): boolean {
  if (piece.name === undefined || !isWholeJson(call.json)) return false;
  return piece.json.trim() !== '' || piece.name !== call.name;
}

/** Some servers repeat the whole name in every chunk, some send it in fragments. */
function joinName(call: Assembled, piece: string, toolNames: ReadonlySet<string>): string {
  if (call.name === '') return piece;
  if (call.hasStarted || call.json !== '' || call.name === piece) return call.name;
  if (piece.startsWith(call.name)) return piece;
  const joined = call.name + piece;
  return toolNames.has(joined) || !toolNames.has(call.name) ? joined : call.name;
}
