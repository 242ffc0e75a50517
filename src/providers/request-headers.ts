/** The headers of a request to a model server. */

/** Ours, and over them those of the settings: names of headers have no case. */
export function withOwnHeaders(
  ours: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const lowered = Object.entries(own).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { ...ours, ...Object.fromEntries(lowered) };
}
