/** The table of tools: folds away input types, validates arguments, keeps a stable order. */

import { z } from 'zod';
import type { ToolSpec } from '../messages/chat.ts';
import type { RegisteredTool, Tool } from './contract.ts';

/** A tool behind its validation. Faulty arguments become an error that names each problem. */
export function registerTool<Input>(tool: Tool<Input>): RegisteredTool {
  const schema = z.toJSONSchema(tool.input, { io: 'input' });
  const { $schema: _dialect, ...inputSchema } = schema;
  const parse = (raw: unknown): z.ZodSafeParseResult<Input> =>
    tool.input.safeParse(tool.prepare ? tool.prepare(raw) : raw);
  return {
    name: tool.name,
    description: tool.description,
    category: tool.category,
    inputSchema: { ...inputSchema, additionalProperties: false },
    isReadOnly: tool.isReadOnly,
    needsApproval: tool.needsApproval,
    concurrencyOf: (raw) => {
      if (typeof tool.concurrency === 'string') return tool.concurrency;
      const parsed = parse(raw);
      return parsed.success ? tool.concurrency(parsed.data) : 'never';
    },
    describe: (raw) => {
      const parsed = parse(raw);
      return tool.describe(parsed.success ? parsed.data : {});
    },
    invoke: async (raw, context) => {
      const parsed = parse(raw);
      if (parsed.success) return tool.invoke(parsed.data, context);
      const problems = parsed.error.issues.map(
        (issue) => `- ${issue.path.length > 0 ? issue.path.join('.') : 'input'}: ${issue.message}`,
      );
      return {
        kind: 'error',
        text: `The arguments of ${tool.name} are not right. Mend them and call it again.\n${problems.join('\n')}`,
      };
    },
  };
}

export function specOf(tool: RegisteredTool): ToolSpec {
  return { name: tool.name, description: tool.description, inputSchema: tool.inputSchema };
}
