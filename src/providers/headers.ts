/** Headers of a request to a model server: ours, and over them what an operator set. */

type HeaderFields = Readonly<Record<string, string>>;

/**
 * Names are compared without their case, and each stands there once: two spellings of one name would
 * be sent as one header with both values.
 */
export function headersOver(ours: HeaderFields, given: HeaderFields = {}): HeaderFields {
  const merged: Record<string, string> = { ...ours };
  for (const [name, value] of Object.entries(given)) merged[name.toLowerCase()] = value;
  return merged;
}
