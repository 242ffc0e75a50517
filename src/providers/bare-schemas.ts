/**
 * A schema that a server does not take costs its tool the schema, and the other tools nothing: it is
 * declared with a bare `{type: 'object'}`.
 */

import type { WireFailure } from './errors.ts';

const prefix = 'bare_schema:';

export function bareToolName(tool: string): string {
  return prefix + tool;
}

/** Is this tool to be declared without its schema? */
export function isBareTool(learned: ReadonlySet<string>, tool: string): boolean {
  return learned.has(bareToolName(tool));
}

export interface RefusedSchema {
  readonly tool: string;
  /** The refusal says that it is about this schema: whatever else it names stands in there. */
  readonly isCertain: boolean;
}

/** The tool whose schema is refused: by its place in the list, or by its name. */
export function refusedSchema(
  { message, param }: WireFailure,
  names: readonly string[],
): RefusedSchema | undefined {
  const text = `${param ?? ''} ${message}`;
  const certain = names[placeIn(text) ?? -1] ?? namedAfter(text, names);
  if (certain !== undefined) return { tool: certain, isCertain: true };
  if (aboutCalls.test(text) || !aboutSchemas.test(text)) return undefined;
  const tool = names.find((name) => new RegExp(`(?<![\\w-])${name}(?![\\w-])`, 'u').test(text));
  return tool === undefined ? undefined : { tool, isCertain: false };
}

/** Of these the schema is innocent: calls without results, what a model wrote, names. */
const aboutCalls =
  /tool_?(?:use|call|result)|\btool calls?\b|arguments|\bname\b.{0,80}(?:pattern|unique|length|long|invalid)/iu;
const aboutSchemas =
  /schema|parameters|propert(?:y|ies)|keyword|\$ref|\b(?:one|any|all)Of\b|\benum\b/iu;

/**
 * `tools.3.custom.input_schema`, `tools[3].function.parameters`, `function_declarations[3]` (Gemini
 * nests its declarations: the inner number counts); not `tools.3.custom.name` or a tool of the
 * vendor's own.
 */
function placeIn(text: string): number | undefined {
  const found =
    /function_declarations\[(\d+)\]((?:\.\w+)*)/iu.exec(text) ??
    /\b(?:tools|functions)[.[](\d+)\]?((?:\.[a-z_]\w*)*)/iu.exec(text);
  if (found === null) return undefined;
  const [, place, path = ''] = found;
  const [field] = path.split('.').filter((key) => !['', 'custom', 'function'].includes(key));
  return field === undefined || /schema|parameters/iu.test(field) ? Number(place) : undefined;
}

/** "Invalid schema for function 'weather': …". */
function namedAfter(text: string, names: readonly string[]): string | undefined {
  const named = /schema (?:for|of|in) (?:the )?(?:function|tool)\W{1,3}([\w-]+)/iu.exec(text)?.[1];
  return names.find((name) => name === named);
}
