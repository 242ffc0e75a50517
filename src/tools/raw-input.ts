/** Common faults of arguments, mended before they are validated. */

export function isRecord(raw: unknown): raw is Record<string, unknown> {
  return typeof raw === 'object' && raw !== null;
}

/** A value that was sent as its JSON text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // stays as it is: validation then says what is wrong
  }
}
