/** What the Responses API refuses by model and by kind of item. Words as the API's, where known. */

import { type JsonObject, objectOf, objectsOf, stringOf, unknownField } from './wire.ts';

interface EffortRules {
  readonly efforts: readonly string[];
}

const upToMax = ['low', 'medium', 'high', 'xhigh', 'max'];
const rules: readonly (readonly [RegExp, EffortRules])[] = [
  [/^gpt-6\.2-|^gpt-6\.1-sol|^gpt-6-astra/u, { efforts: upToMax }],
  [/^gpt-6|^gpt-5\.6/u, { efforts: ['none', ...upToMax] }],
  [/^gpt-5\.[45]/u, { efforts: ['none', 'low', 'medium', 'high', 'xhigh'] }],
  [/^gpt-4/u, { efforts: [] }],
];

/** What is wrong with how the model is asked to think and to write. */
export function thinkingObjection(body: JsonObject): string | undefined {
  const { model } = body;
  const rule = rules.find(([pattern]) => pattern.test(stringOf(model)))?.[1];
  const { reasoning, text } = body;
  const unknown = unknownField(objectOf(reasoning), ['effort', 'summary', 'mode', 'context']);
  if (unknown !== undefined) return `Unknown parameter: 'reasoning.${unknown}'.`;
  const { effort, summary } = objectOf(reasoning);
  if (reasoning !== undefined && rule?.efforts.length === 0) {
    return "Unsupported parameter: 'reasoning.effort' is not supported with this model.";
  }
  if (effort !== undefined && !(rule?.efforts ?? upToMax).includes(stringOf(effort))) {
    return `Unsupported value: 'reasoning.effort' does not support '${stringOf(effort)}' with this model.`;
  }
  if (summary !== undefined && !['auto', 'concise', 'detailed'].includes(stringOf(summary))) {
    return `Invalid value: 'reasoning.summary' is '${stringOf(summary)}'.`;
  }
  const { verbosity } = objectOf(text);
  return verbosity === undefined || ['low', 'medium', 'high'].includes(stringOf(verbosity))
    ? undefined
    : `Invalid value: 'text.verbosity' is '${stringOf(verbosity)}'.`;
}

/** Fields that an item of this kind must have, or must not. */
export function shapeObjection(item: JsonObject): string | undefined {
  if (item['type'] === 'reasoning' && 'status' in item) return "Unknown parameter: 'status'.";
  if (item['type'] === 'web_search_call') {
    const missing = ['id', 'status', 'action'].find((field) => item[field] === undefined);
    if (missing !== undefined) return `Missing required parameter: '${missing}'.`;
  }
  const content = item['type'] === 'function_call_output' ? item['output'] : item['content'];
  const file = objectsOf(content).find(({ type }) => type === 'input_file');
  if (file === undefined) return undefined;
  if (stringOf(file['filename']) === '') return "Missing required parameter: 'filename'.";
  return /^data:application\/pdf;base64,./u.test(stringOf(file['file_data']))
    ? undefined
    : "Invalid value: 'file_data' must be a data URL.";
}

/** Functions and the vendor's own search are all the tools we know. */
export function toolsObjection(body: JsonObject): string | undefined {
  for (const [place, tool] of objectsOf(body['tools']).entries()) {
    const type = stringOf(tool['type']);
    if (type === 'web_search') continue;
    if (type !== 'function') return `Invalid value: 'tools[${place}].type' is '${type}'.`;
    if (objectOf(tool['parameters'])['type'] !== 'object') {
      return `Invalid schema for function '${stringOf(tool['name'])}': schema must be of type object.`;
    }
  }
  return undefined;
}
