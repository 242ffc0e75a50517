/** OpenRouter's `reasoning_details`: pieces of one entry join, everything goes back unchanged. */

type Detail = Record<string, unknown>;

const joinedFields = ['text', 'summary', 'data'] as const;

/** Adds the entries of one chunk: same type and index continue the last entry. */
export function addDetails(details: readonly Detail[], pieces: readonly Detail[]): Detail[] {
  const joined = [...details];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (last !== undefined && last['type'] === piece['type'] && last['index'] === piece['index']) {
      joined[joined.length - 1] = joinDetail(last, piece);
    } else joined.push(piece);
  }
  return joined;
}

function joinDetail(last: Detail, piece: Detail): Detail {
  const result = { ...last };
  for (const [key, value] of Object.entries(piece)) {
    const before = last[key];
    const isText = joinedFields.some((field) => field === key);
    if (isText && typeof before === 'string' && typeof value === 'string') {
      result[key] = before + value;
    } else if (value !== null && value !== undefined) result[key] = value;
  }
  return result;
}
