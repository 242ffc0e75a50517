/**
 * Tool schemas as each API takes them, from any JSON Schema: ours by `z.toJSONSchema` with
 * `io: "input"`, and foreign ones. Pure and total: never an exception, bounded in time, depth and
 * size; what cannot be kept becomes looser. Arguments are validated by us afterwards, so a looser
 * schema is safe.
 */

import { narrowForGemini } from './schema-gemini.ts';
import { asObject, everyOf, type Fitted, isSchema, listOf, unionOf } from './schema-merge.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** `plain` suits Anthropic, OpenAI and most compatible servers; `gemini` is a narrow subset. */
export type SchemaDialect = 'plain' | 'gemini';

/** The schema for one API: an object at the root without a union or a reference there. */
export function fitSchema(schema: JsonSchema, dialect: SchemaDialect): Record<string, unknown> {
  const whole = asObject(writtenOut(schema));
  return { ...(dialect === 'gemini' ? narrowForGemini(whole) : whole) };
}

const mostNodes = 5_000;
const mostChars = 200_000;
const mostDepth = 32;
/** How many references deep; a schema that grows too large is written out again with the next. */
const refDepths: readonly number[] = [mostDepth, 4, 2, 1, 0];

/**
 * What the value of a keyword is. `closer`: a schema or, where it is false, nothing else.
 * `condition`: a schema that must not become one for anything.
 */
type Kind =
  | 'schema'
  | 'items'
  | 'condition'
  | 'closer'
  | 'schema_map'
  | 'schema_list'
  | 'text'
  | 'number'
  | 'type'
  | 'values'
  | 'names'
  | 'dropped'
  | 'data';

const words = (kind: Kind, names: string): [string, Kind][] =>
  names.split(' ').map((name) => [name, kind]);

/** `dropped`: of no use once references are written out, or read with the keyword beside. */
const kinds: ReadonlyMap<string, Kind> = new Map([
  ...words('schema', 'contains propertyNames then else contentSchema'),
  ...words('items', 'items'),
  ...words('condition', 'not if'),
  ...words('closer', 'additionalProperties unevaluatedItems unevaluatedProperties'),
  ...words('schema_map', 'properties patternProperties dependentSchemas'),
  ...words('schema_list', 'prefixItems anyOf'),
  ...words('text', 'title description format pattern'),
  ...words('number', 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'),
  ...words('number', 'minLength maxLength minItems maxItems minProperties maxProperties'),
  ...words('number', 'minContains maxContains'),
  ...words('type', 'type'),
  ...words('values', 'enum'),
  ...words('names', 'required'),
  ...words('dropped', '$ref allOf oneOf const $schema $id $anchor $defs definitions $comment'),
  ...words('dropped', '$vocabulary $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor'),
  ...words('dropped', 'additionalItems'),
]);

const typeNames = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

/** One form for all: references written out, `oneOf` as `anyOf`, `const` as `enum`, no `allOf`. */
function writtenOut(schema: JsonSchema): Fitted {
  const targetOf = createPointers(schema);
  let written: Fitted = {};
  for (const mostRefs of refDepths) {
    const room = { nodes: mostNodes, chars: mostChars, isFull: false };
    written = write(schema, { room, targetOf, mostRefs, depth: 0, refs: [] });
    if (!room.isFull) break;
  }
  return written;
}

/** What one writing out may still use. */
interface Room {
  nodes: number;
  chars: number;
  /** Something was left out for want of room. */
  isFull: boolean;
}

/** Where in the schema, and on which way there. */
interface Place {
  readonly room: Room;
  readonly targetOf: (ref: string) => unknown;
  readonly mostRefs: number;
  readonly depth: number;
  readonly refs: readonly string[];
}

/** Takes room; false when there is none left. */
function takes(room: Room, nodes: number, chars: number): boolean {
  room.nodes -= nodes;
  room.chars -= chars;
  room.isFull ||= room.nodes < 0 || room.chars < 0;
  return !room.isFull;
}

function write(node: unknown, place: Place): Fitted {
  const { room, depth } = place;
  if (!isSchema(node) || depth > mostDepth || !takes(room, 1, 0)) return {};
  const below = { ...place, depth: depth + 1 };
  const own: [string, unknown][] = [];
  for (const [key, value] of Object.entries(plainWords(node))) {
    if (!takes(room, 0, key.length)) break;
    const kept = writeKeyword(key, value, below);
    if (kept !== undefined) own.push([key, kept]);
  }
  // What is left of it must not look like all there is.
  const kept = room.isFull ? own.filter(([key]) => kinds.get(key) !== 'closer') : own;
  const { $ref: ref, allOf } = node;
  const target = typeof ref === 'string' ? [writeTarget(ref, below)] : [];
  return everyOf([Object.fromEntries(kept), ...target, ...writeList(allOf, below)]);
}

/** Undefined when there is nothing to keep. */
function writeKeyword(key: string, value: unknown, below: Place): unknown {
  const kind = kinds.get(key) ?? 'data';
  switch (kind) {
    case 'schema':
      return writeSchema(value, below);
    case 'items':
      // A tuple, as drafts before 2020 have it.
      return Array.isArray(value) ? unionOf(writeList(value, below)) : writeSchema(value, below);
    case 'condition': {
      const written = writeSchema(value, below) ?? {};
      return Object.keys(written).length === 0 ? undefined : written;
    }
    case 'closer':
      return typeof value === 'boolean' ? value : writeSchema(value, below);
    case 'schema_map':
      return writeMap(value, below);
    case 'schema_list': {
      const written = writeList(value, below);
      // Half a union would be narrower.
      return written.length === 0 || below.room.isFull ? undefined : written;
    }
    case 'type':
      return typeOf(value);
    case 'dropped':
      return undefined;
    case 'text':
    case 'number':
    case 'values':
    case 'names':
    case 'data':
      return writeData(kind, value, below.room);
  }
}

function writeSchema(value: unknown, below: Place): Fitted | undefined {
  return isSchema(value) ? write(value, below) : undefined;
}

function writeList(list: unknown, below: Place): readonly Fitted[] {
  const written: Fitted[] = [];
  for (const one of listOf(list)) {
    if (below.room.isFull) break;
    written.push(write(one, below));
  }
  return written;
}

function writeMap(map: unknown, below: Place): Fitted | undefined {
  if (!isSchema(map)) return undefined;
  const written: [string, Fitted][] = [];
  for (const [name, one] of Object.entries(map)) {
    if (!takes(below.room, 0, name.length)) break;
    written.push([name, write(one, below)]);
  }
  return Object.fromEntries(written);
}

/** What a reference names, up to where it comes round again. */
function writeTarget(ref: string, below: Place): Fitted {
  const { targetOf, refs, mostRefs } = below;
  const target = targetOf(ref);
  if (target === true) return {};
  if (!isSchema(target)) return { type: 'object' };
  if (refs.includes(ref) || refs.length >= mostRefs) {
    return { type: typeOf(target['type']) ?? 'object' };
  }
  return write(target, { ...below, refs: [...refs, ref] });
}

function writeData(
  kind: 'text' | 'number' | 'values' | 'names' | 'data',
  value: unknown,
  room: Room,
): unknown {
  switch (kind) {
    case 'text':
      return typeof value === 'string' ? copyOf(value, room) : undefined;
    case 'number':
      // zod bounds every integer by 2^53: noise.
      return typeof value !== 'number' || Math.abs(value) === Number.MAX_SAFE_INTEGER
        ? undefined
        : copyOf(value, room);
    case 'values':
      return Array.isArray(value) && value.length > 0 ? copyOf(value, room) : undefined;
    case 'names': {
      const names = listOf(value).filter((name) => typeof name === 'string');
      return names.length === 0 ? undefined : copyOf(names, room);
    }
    case 'data':
      return copyOf(value, room);
  }
}

/** A copy of plain data, whole or not at all. */
function copyOf(value: unknown, room: Room, depth = 0): unknown {
  const isText = typeof value === 'string';
  if (depth > mostDepth || !takes(room, 0, isText ? value.length : 4)) return undefined;
  if (typeof value !== 'object' || value === null) return isPlain(value) ? value : undefined;
  const copied: [string, unknown][] = [];
  for (const [key, one] of Object.entries(value)) {
    const copy = takes(room, 0, key.length) ? copyOf(one, room, depth + 1) : undefined;
    if (copy === undefined) return undefined;
    copied.push([key, copy]);
  }
  return Array.isArray(value) ? copied.map(([, one]) => one) : Object.fromEntries(copied);
}

function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

/** `const` as `enum`, `oneOf` as `anyOf`. */
function plainWords(node: JsonSchema): JsonSchema {
  const { const: only, oneOf } = node;
  return {
    ...node,
    ...(only === undefined ? {} : { enum: [only] }),
    ...(Array.isArray(oneOf) && !Array.isArray(node['anyOf']) ? { anyOf: oneOf } : {}),
  };
}

/** The names that there are, in small letters: some write them large. */
function typeOf(value: unknown): string | readonly string[] | undefined {
  const names = (Array.isArray(value) ? value : [value])
    .map((name: unknown) => (typeof name === 'string' ? name.toLowerCase() : ''))
    .filter((name) => typeNames.has(name));
  const unique = [...new Set(names)];
  return unique.length > 1 ? unique : unique[0];
}

/** Finds what `#/a/b` names. */
function createPointers(root: JsonSchema): (ref: string) => unknown {
  const found = new Map<string, unknown>();
  const find = (ref: string): unknown => {
    if (ref !== '#' && !ref.startsWith('#/')) return undefined;
    let node: unknown = root;
    for (const step of ref.split('/').slice(1)) {
      const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
      if (Array.isArray(node)) node = node[Number(name)];
      else node = isSchema(node) && Object.hasOwn(node, name) ? node[name] : undefined;
    }
    return node;
  };
  return (ref) => {
    if (!found.has(ref)) found.set(ref, find(ref));
    return found.get(ref);
  };
}

/** A step is an escaped URI by the book; many write it bare. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step; // `50%` is no escape.
  }
}
