/**
 * The keywords that Gemini's `parametersJsonSchema` documents and every model version takes. What
 * is said in other words is put in these, or in the description, or left out.
 */

import {
  branchesOf,
  everyOf,
  type Fitted,
  isSchema,
  listOf,
  schemaMapOf,
  typesOf,
  unionOf,
} from './schema-merge.ts';

/** A schema that is written out already (schema.ts), in Gemini's words. */
export function narrowForGemini(whole: Fitted): Fitted {
  const schema = withoutNull(whole);
  const { title, description, enum: values } = schema;
  const said = {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
  };
  if (values !== undefined) return { ...said, ...ofValues(listOf(values), description) };
  const union = branchesOf(schema['anyOf']).map(narrowForGemini);
  // A branch that takes anything makes the union say nothing.
  const says = union.length > 0 && union.every((branch) => Object.keys(branch).length > 0);
  const types = typesOf(schema);
  if (types.length > 1 && !says) {
    return { ...said, anyOf: types.map((type) => ofType(type, schema)) };
  }
  const type = types.length > 1 ? undefined : (types[0] ?? impliedType(schema));
  return {
    ...(type === undefined ? {} : ofType(type, schema)),
    ...said,
    ...(says ? { anyOf: union } : {}),
  };
}

/** A union with null is the rest of it: absence says the same to a model. */
function withoutNull(schema: Fitted): Fitted {
  const { anyOf, ...rest } = schema;
  const values = listOf(rest['enum']);
  const types = typesOf(rest);
  if (isNull(rest)) return { ...rest, type: 'null', enum: undefined };
  const bare = {
    ...rest,
    ...(values.length === 0 ? {} : { enum: values.filter((value) => value !== null) }),
    ...(types.length === 0 ? {} : { type: types.filter((type) => type !== 'null') }),
  };
  const branches = branchesOf(anyOf);
  const kept = branches.filter((branch) => !isNull(branch));
  const [only] = kept;
  if (only === undefined) return branches.length === 0 ? bare : { ...bare, type: 'null' };
  return kept.length === 1 ? withoutNull(everyOf([bare, only])) : { ...bare, anyOf: kept };
}

function isNull(schema: Fitted): boolean {
  const types = typesOf(schema);
  const values = listOf(schema['enum']);
  if (values.length > 0) return values.every((value) => value === null);
  return types.length > 0 && types.every((type) => type === 'null');
}

function impliedType(schema: Fitted): string | undefined {
  if (schemaMapOf(schema['properties']).size > 0) return 'object';
  return isSchema(schema['items']) || schema['prefixItems'] !== undefined ? 'array' : undefined;
}

/** The type and what goes with it. */
function ofType(type: string, schema: Fitted): Fitted {
  const { format, minItems, maxItems } = schema;
  switch (type) {
    case 'object':
      return { type, ...propertiesOf(schema) };
    case 'array': {
      const items = itemsOf(schema);
      return {
        type,
        ...(items === undefined ? {} : { items }),
        ...(minItems === undefined ? {} : { minItems }),
        ...(maxItems === undefined ? {} : { maxItems }),
      };
    }
    case 'integer':
    case 'number':
      return { type, ...(format === undefined ? {} : { format }), ...boundsOf(type, schema) };
    default:
      return { type, ...(format === undefined || type !== 'string' ? {} : { format }) };
  }
}

/** Required may be only what is there. */
function propertiesOf(schema: Fitted): Fitted {
  if (!isSchema(schema['properties'])) return {};
  const properties = schemaMapOf(schema['properties']);
  const required = listOf(schema['required']).filter(
    (name) => typeof name === 'string' && properties.has(name),
  );
  return {
    properties: Object.fromEntries(
      [...properties].map(([name, property]) => [name, narrowForGemini(property)]),
    ),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** The items of a tuple are any of its places. */
function itemsOf({ items, prefixItems }: Fitted): Fitted | undefined {
  const schemas = isSchema(items) ? [items] : branchesOf(prefixItems);
  const union = unionOf(schemas);
  return union === undefined ? undefined : narrowForGemini(union);
}

/** `exclusiveMinimum: 0` of an integer is `minimum: 1`; of other numbers the bound is dropped. */
function boundsOf(type: 'integer' | 'number', schema: Fitted): Fitted {
  const numberOf = (key: string): readonly number[] => {
    const value = schema[key];
    return typeof value === 'number' ? [value] : [];
  };
  const isWhole = type === 'integer';
  const above = isWhole ? numberOf('exclusiveMinimum').map((bound) => Math.floor(bound) + 1) : [];
  const below = isWhole ? numberOf('exclusiveMaximum').map((bound) => Math.ceil(bound) - 1) : [];
  const lows = [...numberOf('minimum'), ...above];
  const highs = [...numberOf('maximum'), ...below];
  return {
    ...(lows.length === 0 ? {} : { minimum: Math.max(...lows) }),
    ...(highs.length === 0 ? {} : { maximum: Math.min(...highs) }),
  };
}

/** Gemini's enums hold texts, none of them empty; other values are told in words. */
function ofValues(values: readonly unknown[], description?: unknown): Fitted {
  const kinds = [...new Set(values.map(kindOf))];
  const [kind = 'object'] = kinds;
  if (kinds.length > 1) {
    return { anyOf: kinds.map((one) => ofValues(values.filter((value) => kindOf(value) === one))) };
  }
  if (kind === 'string' && !values.includes('')) return { type: kind, enum: values };
  const list = `One of: ${values.map((value) => JSON.stringify(value)).join(', ')}`;
  const before = typeof description === 'string' ? description.trimEnd() : '';
  const told = before === '' ? list : `${before}${/[.!?:]$/u.test(before) ? '' : '.'} ${list}`;
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length === 0) return { type: kind, description: told };
  const isWhole = numbers.every((value) => Number.isInteger(value));
  return {
    type: isWhole ? 'integer' : 'number',
    minimum: numbers.reduce((low, value) => Math.min(low, value)),
    maximum: numbers.reduce((high, value) => Math.max(high, value)),
    description: told,
  };
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value;
}
