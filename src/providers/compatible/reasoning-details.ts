/**
 * OpenRouter's `reasoning_details`: pieces of one entry join, everything goes back unchanged and in
 * order, wherever in the message it came.
 */

import type { AssistantPart } from '../../messages/parts.ts';
import { fieldsOf } from '../raw.ts';

type Detail = Readonly<Record<string, unknown>>;

/** Sealed data (`reasoning.encrypted`) comes whole and is never joined. */
const joinedFields = ['text', 'summary'] as const;

/** Adds the entries of one chunk: what goes on with an entry is put to it. */
export function addDetails(details: readonly Detail[], pieces: readonly Detail[]): Detail[] {
  const joined = [...details];
  for (const piece of pieces) {
    const place = placeOf(joined, piece);
    const before = joined[place];
    if (before === undefined) joined.push(piece);
    else joined[place] = joinDetail(before, piece);
  }
  return joined;
}

/** By its index, else it goes on with the last one. */
function placeOf(details: readonly Detail[], piece: Detail): number {
  const { index } = piece;
  const last = details.length - 1;
  const place = index == null ? last : details.findLastIndex((detail) => detail['index'] === index);
  const before = details[place];
  return before !== undefined && goesOnWith(before, piece) ? place : -1;
}

function goesOnWith(before: Detail, piece: Detail): boolean {
  if (before['type'] !== piece['type'] || (before['index'] ?? null) !== (piece['index'] ?? null)) {
    return false;
  }
  if ([before['data'], piece['data']].some((data) => data != null)) return false;
  const id = piece['id'] ?? null;
  const known = before['id'] ?? null;
  // Without an index an id begins an entry.
  const isOtherId = id !== null && id !== known && (known !== null || piece['index'] == null);
  // A signature ends one.
  const hasText = joinedFields.some(
    (field) => typeof piece[field] === 'string' && piece[field] !== '',
  );
  return !isOtherId && !(before['signature'] && hasText);
}

function joinDetail(before: Detail, piece: Detail): Detail {
  const result: Record<string, unknown> = { ...before };
  for (const [key, value] of Object.entries(piece)) {
    const known = before[key];
    const isText = joinedFields.some((field) => field === key);
    if (isText && typeof known === 'string' && typeof value === 'string') {
      result[key] = known + value;
    } else if (value !== null && value !== undefined) result[key] = value;
  }
  return result;
}

/** All entries of a message: of its thoughts, and what came behind a text or call. */
export function detailsOf(parts: readonly AssistantPart[]): readonly unknown[] {
  return parts.flatMap(({ raw }): readonly unknown[] => {
    const details: unknown = fieldsOf(raw)['details'];
    return Array.isArray(details) ? details : [];
  });
}
