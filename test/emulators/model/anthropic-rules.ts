/**
 * What the Messages API refuses by model: forms of thinking, efforts, cache marks, and the vendor's
 * own tools. Words as the API's, where they are known.
 */

import { type JsonObject, objectOf, objectsOf, stringOf, unknownField } from './wire.ts';

interface ThinkingRules {
  readonly types: readonly string[];
  readonly efforts: readonly string[];
  /** `disabled` stands only beside efforts up to high. */
  readonly restsUpToHigh?: true;
}

const allEfforts = ['low', 'medium', 'high', 'xhigh', 'max'];
const rules: readonly (readonly [RegExp, ThinkingRules])[] = [
  [/^claude-(?:opus-5-5|fable-5|mythos-5)/u, { types: ['adaptive'], efforts: allEfforts }],
  [/^claude-sonnet-5-5/u, { types: ['adaptive', 'between_tools'], efforts: allEfforts }],
  [
    /^claude-(?:haiku-5-5|opus-5$)/u,
    { types: ['adaptive', 'disabled'], efforts: allEfforts, restsUpToHigh: true },
  ],
  [/^claude-(?:sonnet-5$|opus-4-[78])/u, { types: ['adaptive', 'disabled'], efforts: allEfforts }],
  [
    /^claude-(?:opus|sonnet)-4-6/u,
    { types: ['adaptive', 'enabled', 'disabled'], efforts: ['low', 'medium', 'high', 'max'] },
  ],
  [/^claude-opus-4-5/u, { types: ['enabled', 'disabled'], efforts: ['low', 'medium', 'high'] }],
  [/^claude-haiku-4-5/u, { types: ['enabled', 'disabled'], efforts: [] }],
];

/** What is wrong with how the model is asked to think. */
export function thinkingObjection(body: JsonObject): string | undefined {
  const model = stringOf(body['model']);
  const rule = rules.find(([pattern]) => pattern.test(model))?.[1];
  return thinkingFieldObjection(body, rule) ?? effortObjection(body, rule);
}

/** With a budget the turn that waits for results must have begun with a thought. */
export function turnObjection(body: JsonObject): string | undefined {
  if (objectOf(body['thinking'])['type'] !== 'enabled') return undefined;
  const messages = objectsOf(body['messages']);
  const isAnswer = ({ content }: JsonObject): boolean =>
    objectsOf(content).some(({ type }) => type === 'tool_result');
  if (!isAnswer(messages.at(-1) ?? {})) return undefined;
  const begun = messages.findLastIndex((one) => one['role'] === 'user' && !isAnswer(one));
  const answers = messages.slice(begun + 1).filter(({ role }) => role === 'assistant');
  const heads = answers.map(({ content }) => stringOf(objectsOf(content)[0]?.['type']));
  if (heads.some((type) => type === 'thinking' || type === 'redacted_thinking')) return undefined;
  return `messages.${messages.length - 2}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${heads.at(-1)}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`. Please consult our documentation.`;
}

function thinkingFieldObjection(
  body: JsonObject,
  rule: ThinkingRules | undefined,
): string | undefined {
  if (body['thinking'] === undefined) return undefined;
  const thinking = objectOf(body['thinking']);
  const type = stringOf(thinking['type']);
  const fields = {
    adaptive: ['type', 'display'],
    enabled: ['type', 'display', 'budget_tokens'],
    disabled: ['type'],
    between_tools: ['type'],
  };
  const known = Object.entries(fields).find(([name]) => name === type)?.[1];
  if (known === undefined) return `thinking: Input tag '${type}' does not match any of the tags`;
  const unknown = unknownField(thinking, known);
  if (unknown !== undefined) return `thinking.${type}.${unknown}: Extra inputs are not permitted`;
  if (rule !== undefined && !rule.types.includes(type)) {
    const cure =
      type === 'disabled' && rule.types.includes('between_tools') ? 'between_tools' : 'adaptive';
    return `"thinking.type.${type}" is not supported for this model. Use "thinking.type.${cure}" and "output_config.effort" to control thinking behavior.`;
  }
  if (type !== 'enabled') return undefined;
  const budget = Number(thinking['budget_tokens']);
  if (!(budget >= 1_024))
    return 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024';
  return budget < Number(body['max_tokens'])
    ? undefined
    : '`max_tokens` must be greater than `thinking.budget_tokens`';
}

function effortObjection(body: JsonObject, rule: ThinkingRules | undefined): string | undefined {
  if (body['output_config'] === undefined) return undefined;
  const config = objectOf(body['output_config']);
  const unknown = unknownField(config, ['effort', 'format']);
  if (unknown !== undefined) return `output_config.${unknown}: Extra inputs are not permitted`;
  const effort = stringOf(config['effort']);
  if (rule?.efforts.length === 0) return 'This model does not support the effort parameter.';
  if (!(rule?.efforts ?? allEfforts).includes(effort)) {
    return `output_config.effort: This model does not support effort level '${effort}'.`;
  }
  const rests = objectOf(body['thinking'])['type'] === 'disabled';
  return rests && rule?.restsUpToHigh && ['xhigh', 'max'].includes(effort)
    ? `Thinking can be disabled only with effort high or lower, not ${effort}.`
    : undefined;
}

/** At most four cache marks, the one for the whole request among them. */
export function cacheObjection(body: JsonObject): string | undefined {
  const marks = JSON.stringify(body).split('"cache_control":{').length - 1;
  return marks > 4
    ? `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`
    : undefined;
}

const searchTypes = ['web_search_20250305', 'web_search_20260209', 'web_search_20260318'];

/** Names stand once, and the vendor's own tools are those we know. */
export function toolsObjection(body: JsonObject): string | undefined {
  const tools = objectsOf(body['tools']);
  const names = tools.map(({ name }) => stringOf(name));
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) return `tools: Tool names must be unique: ${twice}`;
  for (const [place, { type, input_schema: schema }] of tools.entries()) {
    if (type === undefined || type === 'custom') {
      if (objectOf(schema)['type'] !== 'object') {
        return `tools.${place}.custom.input_schema.type: Input should be 'object'`;
      }
    } else if (!searchTypes.includes(stringOf(type))) {
      return `tools.${place}: Input tag '${stringOf(type)}' found using 'type' does not match`;
    }
  }
  return undefined;
}

/** Blocks that stand where they may not. */
export function placeObjection(role: unknown, blocks: readonly JsonObject[]): string | undefined {
  for (const [place, block] of blocks.entries()) {
    if (role === 'assistant' && block['type'] === 'document') {
      return `content.${place}: \`document\` blocks are not permitted in assistant messages`;
    }
    if (role === 'user' && objectsOf(block['citations']).length > 0) {
      return `content.${place}.text.citations: must be empty in user messages`;
    }
  }
  return undefined;
}

/**
 * The vendor's own calls have their results in the same message or the next answer, unless the
 * server is still to run them: the message is the last, or only results of our tools follow it.
 */
export function serverToolObjection(
  answers: readonly (readonly JsonObject[])[],
  canWait: boolean,
): string | undefined {
  const called: string[] = [];
  const waiting = new Set<string>();
  for (const [place, blocks] of answers.entries()) {
    for (const block of blocks) {
      const type = stringOf(block['type']);
      if (type === 'server_tool_use') {
        called.push(stringOf(block['id']));
        waiting.add(stringOf(block['id']));
      } else if (type.endsWith('_tool_result') && type !== 'tool_result') {
        const id = stringOf(block['tool_use_id']);
        if (!called.includes(id)) return `unexpected \`tool_use_id\` in ${type}: ${id}`;
        waiting.delete(id);
      }
    }
    const isLast = place === answers.length - 1;
    if (waiting.size > 0 && !isLast && !mayComeNext(answers[place + 1], waiting)) {
      return unpaired(waiting);
    }
  }
  return waiting.size > 0 && !canWait ? unpaired(waiting) : undefined;
}

function mayComeNext(
  next: readonly JsonObject[] | undefined,
  waiting: ReadonlySet<string>,
): boolean {
  const results = (next ?? []).map((block) => block['tool_use_id']);
  return [...waiting].every((id) => results.includes(id));
}

function unpaired(waiting: ReadonlySet<string>): string {
  return `server tool use ids were found without a corresponding result block: ${[...waiting].join()}`;
}
