/**
 * Tool schemas as each API takes them, from any JSON Schema (ours by `z.toJSONSchema` with
 * `io: "input"`, later foreign ones). Pure and total: a schema that cannot be kept becomes a looser
 * one, never an exception. Arguments are validated by us afterwards, so a looser schema is safe.
 */

export type JsonSchema = Readonly<Record<string, unknown>>;

/** `plain` suits Anthropic, OpenAI and most compatible servers; `gemini` is a narrow subset. */
export type SchemaDialect = 'plain' | 'gemini';

/** Keywords that Gemini's `parametersJsonSchema` documents and every model version takes. */
const geminiKeywords = new Set([
  'type',
  'format',
  'title',
  'description',
  'enum',
  'items',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'anyOf',
  'properties',
  'required',
]);

/** References are written out; a schema that would grow beyond this many nodes is cut. */
const mostNodes = 5_000;

interface Fitting {
  readonly root: JsonSchema;
  readonly dialect: SchemaDialect;
  nodes: number;
}

/** The schema for one API: an object at the root without a union there. */
export function fitSchema(schema: JsonSchema, dialect: SchemaDialect): Record<string, unknown> {
  const fitting: Fitting = { root: schema, dialect, nodes: 0 };
  const fitted = asObjectSchema(fitNode(schema, fitting, []));
  delete fitted['$schema'];
  return fitted;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** No API takes a union or a bare schema at the root: branches are folded into one object. */
function asObjectSchema(schema: Record<string, unknown>): Record<string, unknown> {
  const { anyOf, oneOf, allOf, ...rest } = schema;
  const properties: Record<string, unknown> = {};
  const branches = [anyOf, oneOf, allOf].flatMap((list): unknown[] =>
    Array.isArray(list) ? list : [],
  );
  for (const branch of branches) {
    if (isObject(branch) && isObject(branch['properties'])) {
      Object.assign(properties, branch['properties']);
    }
  }
  const own = isObject(rest['properties']) ? rest['properties'] : {};
  return { ...rest, type: 'object', properties: { ...properties, ...own } };
}

function fitNode(
  node: unknown,
  fitting: Fitting,
  refs: readonly string[],
): Record<string, unknown> {
  fitting.nodes += 1;
  if (fitting.nodes > mostNodes) return { type: 'object' };
  if (!isObject(node)) return fitting.dialect === 'gemini' ? { type: 'string' } : {};
  const ref = node['$ref'];
  if (fitting.dialect === 'gemini' && typeof ref === 'string') {
    const target = refs.includes(ref) ? undefined : resolveRef(fitting.root, ref);
    if (target === undefined) return { type: 'object' };
    const { $ref: _ref, ...beside } = node;
    return fitNode({ ...target, ...beside }, fitting, [...refs, ref]);
  }
  const fitted: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    fitKeyword(key, value, node, fitted, fitting, refs);
  }
  return fitting.dialect === 'gemini' ? withoutNull(fitted) : fitted;
}

function fitKeyword(
  key: string,
  value: unknown,
  node: Record<string, unknown>,
  fitted: Record<string, unknown>,
  fitting: Fitting,
  refs: readonly string[],
): void {
  const fitAll = (list: unknown): unknown[] =>
    Array.isArray(list) ? list.map((item) => fitNode(item, fitting, refs)) : [];
  switch (key) {
    case 'properties':
      fitted['properties'] = Object.fromEntries(
        Object.entries(isObject(value) ? value : {}).map(([name, child]) => [
          name,
          fitNode(child, fitting, refs),
        ]),
      );
      return;
    case 'items':
      // `items: false` closes a tuple.
      if (typeof value === 'boolean') return;
      fitted['items'] = Array.isArray(value)
        ? { anyOf: fitAll(value) }
        : fitNode(value, fitting, refs);
      return;
    case 'oneOf':
    case 'anyOf':
      fitted['anyOf'] = fitAll(value);
      return;
    case 'minimum':
    case 'maximum':
      // zod bounds every integer by 2^53: noise.
      if (Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER) fitted[key] = value;
      return;
    default:
      if (fitting.dialect === 'plain') fitted[key] = value;
      else fitForGemini(key, value, node, fitted, fitAll);
  }
}

/** Keywords outside Gemini's subset are put in its words, or left out. */
function fitForGemini(
  key: string,
  value: unknown,
  node: Record<string, unknown>,
  fitted: Record<string, unknown>,
  fitAll: (list: unknown) => unknown[],
): void {
  switch (key) {
    case 'const':
      fitEnum([value], fitted);
      return;
    case 'enum':
      fitEnum(Array.isArray(value) ? value : [value], fitted);
      return;
    case 'prefixItems':
      if (!isObject(node['items'])) fitted['items'] = { anyOf: fitAll(value) };
      return;
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      fitBound(key, value, node, fitted);
      return;
    case 'type':
      if (Array.isArray(value)) fitTypes(value, fitted);
      else fitted['type'] ??= value;
      return;
    default:
      if (geminiKeywords.has(key)) fitted[key] = value;
  }
}

/** Gemini's enums hold texts. */
function fitEnum(values: readonly unknown[], fitted: Record<string, unknown>): void {
  const texts = values.filter((value) => typeof value === 'string');
  if (texts.length === values.length) {
    fitted['type'] = 'string';
    fitted['enum'] = texts;
    return;
  }
  const [first] = values;
  const kind = typeof first;
  fitted['type'] = kind === 'number' || kind === 'boolean' ? kind : 'string';
  fitted['description'] ??= `One of: ${values.map((value) => JSON.stringify(value)).join(', ')}`;
}

/** `exclusiveMinimum: 0` of an integer is `minimum: 1`; of other numbers the bound is dropped. */
function fitBound(
  key: 'exclusiveMinimum' | 'exclusiveMaximum',
  value: unknown,
  node: Record<string, unknown>,
  fitted: Record<string, unknown>,
): void {
  if (node['type'] !== 'integer' || typeof value !== 'number') return;
  if (Math.abs(value) === Number.MAX_SAFE_INTEGER) return;
  if (key === 'exclusiveMinimum') fitted['minimum'] = Math.floor(value) + 1;
  else fitted['maximum'] = Math.ceil(value) - 1;
}

function fitTypes(types: readonly unknown[], fitted: Record<string, unknown>): void {
  const named = types.filter((type) => type !== 'null');
  if (named.length === 1) fitted['type'] = named[0];
  else fitted['anyOf'] = named.map((type) => ({ type }));
}

/** A union with null is the other branch: absence says the same to a model. */
function withoutNull(schema: Record<string, unknown>): Record<string, unknown> {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const branches = anyOf.filter(
    (branch: unknown) => !isObject(branch) || branch['type'] !== 'null',
  );
  const only: unknown = branches[0];
  return branches.length === 1 && isObject(only)
    ? { ...only, ...rest }
    : { ...rest, anyOf: branches };
}

/** The schema that `#/a/b` names, or undefined. */
function resolveRef(root: JsonSchema, ref: string): Record<string, unknown> | undefined {
  if (!ref.startsWith('#')) return undefined;
  let node: unknown = root;
  for (const step of ref
    .slice(1)
    .split('/')
    .filter((piece) => piece !== '')) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(node)) node = node[Number(name)];
    else node = isObject(node) ? node[name] : undefined;
  }
  return isObject(node) ? node : undefined;
}
