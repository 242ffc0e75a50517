/** The table of tools: folds away input types, validates arguments, keeps a stable order. */

import { z } from 'zod';
import type { ToolSpec } from '../messages/chat.ts';
import type { Assessment, RegisteredTool, Tool } from './contract.ts';

/** A tool behind its validation. Faulty arguments become an error that names each problem. */
export function registerTool<Input>(tool: Tool<Input>): RegisteredTool {
  const schema = z.toJSONSchema(tool.input, { io: 'input' });
  const { $schema: _dialect, ...inputSchema } = schema;
  const parse = (raw: unknown): z.ZodSafeParseResult<Input> =>
    tool.input.safeParse(tool.prepare ? tool.prepare(raw) : raw);
  const whole: Assessment = {
    isReadOnly: tool.isReadOnly,
    needsApproval: tool.needsApproval,
    why: tool.isReadOnly ? 'it reads only' : `${tool.name} may change something`,
    subjects: [''],
    match: 'text',
    isWhole: true,
    alwaysAsks: false,
    grant: '*',
  };
  return {
    name: tool.name,
    description: tool.description,
    category: tool.category,
    inputSchema: { ...inputSchema, additionalProperties: false },
    concurrencyOf: async (raw, scene) => {
      if (typeof tool.concurrency === 'string') return tool.concurrency;
      const parsed = parse(raw);
      return parsed.success ? tool.concurrency(parsed.data, scene) : 'never';
    },
    timeoutMsOf: (raw) => {
      const parsed = parse(raw);
      return parsed.success ? tool.timeoutMs?.(parsed.data) : undefined;
    },
    describe: (raw) => {
      const parsed = parse(raw);
      return tool.describe(parsed.success ? parsed.data : partialInputOf(tool.input, raw));
    },
    faultOf: (raw) => faultOf(tool.name, parse(raw)),
    assess: async (raw, scene) => {
      const parsed = parse(raw);
      return parsed.success && tool.assess ? tool.assess(parsed.data, scene) : whole;
    },
    preview: async (raw, scene) => {
      const parsed = parse(raw);
      if (parsed.success && tool.preview) return tool.preview(parsed.data, scene);
      return { language: 'json', text: JSON.stringify(raw, null, 2) };
    },
    invoke: async (raw, context) => {
      const parsed = parse(raw);
      if (parsed.success) return tool.invoke(parsed.data, context);
      return { kind: 'error', text: faultOf(tool.name, parsed) ?? '' };
    },
  };
}

function faultOf(name: string, parsed: z.ZodSafeParseResult<unknown>): string | undefined {
  if (parsed.success) return undefined;
  const problems = parsed.error.issues.map(
    (issue) => `- ${issue.path.length > 0 ? issue.path.join('.') : 'input'}: ${issue.message}`,
  );
  return `The arguments of ${name} are not right. Mend them and call it again.\n${problems.join('\n')}`;
}

/** Those fields of unfinished arguments that are already right. */
function partialInputOf<Input>(schema: z.ZodType<Input>, raw: unknown): Partial<Input> {
  if (!(schema instanceof z.ZodObject) || typeof raw !== 'object' || raw === null) return {};
  // Field by field: rules over several fields cannot be kept by an unfinished input. The model chooses
  // the names: `constructor` is none of the fields.
  const fields = new Map<string, z.ZodType>(Object.entries(schema.shape));
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(raw)) {
    const parsed = fields.get(name)?.safeParse(value);
    if (parsed?.success) known[name] = parsed.data;
  }
  return known as Partial<Input>; // each field is parsed by its own schema
}

export function specOf(tool: RegisteredTool): ToolSpec {
  return { name: tool.name, description: tool.description, inputSchema: tool.inputSchema };
}
