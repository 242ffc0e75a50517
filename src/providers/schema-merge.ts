/**
 * Several schemas as one: all of them at once (`allOf`, and what stands beside a reference or a
 * union), or any one of them, as the object that the root must be. For schemas that are written out
 * already (schema.ts); what cannot be said in one schema is left out.
 */

/** A schema without references, `allOf`, `oneOf` and `const`. */
export type Fitted = Readonly<Record<string, unknown>>;

export function isSchema(value: unknown): value is Fitted {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The schemas in a list such as `anyOf`. */
export function branchesOf(value: unknown): readonly Fitted[] {
  return listOf(value).filter(isSchema);
}

/** The names of types; none: any. */
export function typesOf({ type }: Fitted): readonly string[] {
  return (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string');
}

/** The schemas of properties, by names that may be any word. */
export function schemaMapOf(value: unknown): ReadonlyMap<string, Fitted> {
  const entries = Object.entries(isSchema(value) ? value : {});
  return new Map(
    entries.flatMap(([name, one]): [string, Fitted][] => (isSchema(one) ? [[name, one]] : [])),
  );
}

/** The one itself, or `anyOf` them; undefined when there is none. */
export function unionOf(schemas: readonly Fitted[]): Fitted | undefined {
  return schemas.length > 1 ? { anyOf: schemas } : schemas[0];
}

const highest = new Set([
  'minimum',
  'exclusiveMinimum',
  'minLength',
  'minItems',
  'minProperties',
  'minContains',
]);
const lowest = new Set([
  'maximum',
  'exclusiveMaximum',
  'maxLength',
  'maxItems',
  'maxProperties',
  'maxContains',
]);
const conditions: readonly string[] = ['if', 'then', 'else'];

/** What all of them say; where only one can be kept (a description) it is the first one's. */
export function everyOf(schemas: readonly Fitted[]): Fitted {
  const saying = schemas.filter((schema) => Object.keys(schema).length > 0);
  if (saying.length <= 1) return saying[0] ?? {};
  const valuesOf = new Map<string, unknown[]>();
  for (const schema of saying) {
    for (const [key, value] of Object.entries(schema)) {
      const values = valuesOf.get(key);
      if (values === undefined) valuesOf.set(key, [value]);
      else values.push(value);
    }
  }
  // Halves of two conditions would make a third.
  const conditional = saying.filter((schema) => conditions.some((word) => word in schema));
  if (conditional.length > 1) for (const word of conditions) valuesOf.delete(word);
  const closed = closedBy(saying);
  if (closed === undefined) valuesOf.delete('additionalProperties');
  else valuesOf.set('additionalProperties', [closed]);
  const merged = [...valuesOf].map(([key, values]) => [key, mergedValue(key, values)] as const);
  return Object.fromEntries(merged.filter(([, value]) => value !== undefined));
}

/** Each speaks of its own properties: together only a common "no others" holds. */
function closedBy(schemas: readonly Fitted[]): unknown {
  const speaking = schemas.filter(
    (schema) =>
      'additionalProperties' in schema || 'properties' in schema || 'patternProperties' in schema,
  );
  const [first] = speaking;
  const areClosed = speaking.every((schema) => schema['additionalProperties'] === false);
  return areClosed || speaking.length === 1 ? first?.['additionalProperties'] : undefined;
}

function mergedValue(key: string, values: readonly unknown[]): unknown {
  const [first] = values;
  if (values.length === 1) return first;
  if (highest.has(key)) return numbersIn(values).reduce((high, one) => Math.max(high, one));
  if (lowest.has(key)) return numbersIn(values).reduce((low, one) => Math.min(low, one));
  switch (key) {
    case 'properties':
    case 'patternProperties':
    case 'dependentSchemas':
      return mergedMaps(values, everyOf);
    case 'items':
      return everyOf(values.filter(isSchema));
    case 'required':
      return [...new Set(values.flatMap(listOf))];
    case 'enum':
      return commonValues(values.map(listOf));
    case 'type':
      return commonTypes(values.map((type) => typesOf({ type })));
    case 'not':
      return undefined;
    default:
      return first;
  }
}

function numbersIn(values: readonly unknown[]): readonly number[] {
  return values.filter((value) => typeof value === 'number');
}

/** Maps of schemas as one: those under one name are merged. */
function mergedMaps(
  maps: readonly unknown[],
  merge: (schemas: readonly Fitted[]) => Fitted,
): Fitted {
  const named = new Map<string, Fitted[]>();
  for (const map of maps) {
    for (const [name, schema] of schemaMapOf(map)) {
      const schemas = named.get(name);
      if (schemas === undefined) named.set(name, [schema]);
      else schemas.push(schema);
    }
  }
  return Object.fromEntries([...named].map(([name, schemas]) => [name, merge(schemas)]));
}

/** Values that are in all lists; the first list where there is none. */
function commonValues(lists: readonly (readonly unknown[])[]): readonly unknown[] {
  const [first = [], ...others] = lists;
  const sets = others.map((list) => new Set(list.map(keyOf)));
  const common = first.filter((value) => sets.every((set) => set.has(keyOf(value))));
  return common.length === 0 ? first : common;
}

function keyOf(value: unknown): string {
  return JSON.stringify(value) ?? '';
}

/** Types that are in all lists, where an integer is a number too; else the first list. */
function commonTypes(lists: readonly (readonly string[])[]): string | readonly string[] {
  const wide = lists.map((list) => new Set(list.includes('number') ? [...list, 'integer'] : list));
  const [first = new Set<string>()] = wide;
  const common = [...first].filter((type) => wide.every((set) => set.has(type)));
  const kept = common.length === 0 ? (lists[0] ?? []) : common;
  const named = kept.includes('number') ? kept.filter((type) => type !== 'integer') : kept;
  return named.length === 1 ? (named[0] ?? 'object') : named;
}

/** No API takes a union or a bare schema at the root: branches are folded into one object. */
export function asObject(schema: Fitted): Fitted {
  const { anyOf, enum: _values, not: _not, ...rest } = schema;
  const branches = branchesOf(anyOf).filter(mayBeObject).map(asObject);
  const { type: _type, ...whole } = everyOf([rest, oneOfObjects(branches)]);
  return { ...whole, type: 'object', properties: whole['properties'] ?? {} };
}

function mayBeObject(schema: Fitted): boolean {
  const types = typesOf(schema);
  return types.length === 0 || types.includes('object');
}

/** An object that may be any of these: all properties, and required what all of them require. */
function oneOfObjects(branches: readonly Fitted[]): Fitted {
  const [first, ...others] = branches;
  if (first === undefined) return {};
  const sets = others.map(({ required }) => new Set(listOf(required)));
  const required = listOf(first['required']).filter((name) => sets.every((set) => set.has(name)));
  const areClosed = branches.every((branch) => branch['additionalProperties'] === false);
  const maps = branches.map(({ properties }) => properties);
  const properties = mergedMaps(maps, eitherOf);
  return {
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
    ...(areClosed ? { additionalProperties: false } : {}),
  };
}

/** A property that is one thing in one branch and another in the next: the kinds of a union. */
function eitherOf(schemas: readonly Fitted[]): Fitted {
  const different = [...new Map(schemas.map((schema) => [keyOf(schema), schema])).values()];
  const [first = {}] = different;
  if (different.length === 1) return first;
  if (!different.every((schema) => Array.isArray(schema['enum']))) {
    return { anyOf: different };
  }
  const values = different.flatMap((schema) => listOf(schema['enum']));
  const types = [...new Set(different.flatMap(typesOf))];
  const isTyped = different.every((schema) => typesOf(schema).length > 0);
  const { type: _type, ...rest } = first;
  return {
    ...rest,
    ...(isTyped ? { type: types.length === 1 ? types[0] : types } : {}),
    enum: [...new Map(values.map((value) => [keyOf(value), value])).values()],
  };
}
