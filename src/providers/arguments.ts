/** Arguments of a tool call, from the JSON text a model wrote. */

export type ParsedArguments =
  | { readonly input: unknown }
  | { readonly input: Record<string, never>; readonly inputError: string };

/** Nothing and null mean no arguments; text that is no JSON is reported, never guessed. */
export function parseArguments(json: string): ParsedArguments {
  if (json.trim() === '') return { input: {} };
  try {
    const input: unknown = JSON.parse(json);
    return { input: input ?? {} };
  } catch {
    return {
      input: {},
      inputError: `The arguments are no valid JSON (${json.length} characters; cut or malformed).`,
    };
  }
}

/** True when the text is not empty and is whole JSON. */
export function isWholeJson(json: string): boolean {
  return json.trim() !== '' && !('inputError' in parseArguments(json));
}

export const cutArguments: ParsedArguments = {
  input: {},
  inputError: 'The message was cut before the arguments were complete.',
};
