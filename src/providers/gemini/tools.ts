/** What a Gemini model may call: our functions, and Google's own tools next to them. */

import type { FunctionDeclaration, GenerateContentConfig, Tool } from '@google/genai';
import type { ChatRequest, ToolSpec } from '../../messages/chat.ts';
import { isBareTool } from '../bare-schemas.ts';
import { fitSchema } from '../schema.ts';

export function toolConfigOf(
  request: ChatRequest,
  learned: ReadonlySet<string>,
): Pick<GenerateContentConfig, 'tools' | 'toolConfig'> {
  const own = request.tools;
  const functions: Tool =
    own.length === 0
      ? {}
      : { functionDeclarations: own.map((tool) => declarationOf(tool, learned)) };
  const server = serverTools(request, own.length > 0, learned);
  const tool = { ...functions, ...server };
  if (Object.keys(tool).length === 0) return {};
  const isMixed = own.length > 0 && Object.keys(server).length > 0;
  return {
    tools: [tool],
    ...(isMixed ? { toolConfig: { includeServerSideToolInvocations: true } } : {}),
  };
}

/** Before Gemini 3 they could not stand next to functions: then the functions win. */
function serverTools(
  { abilities, reasoning, webSearch }: ChatRequest,
  hasFunctions: boolean,
  learned: ReadonlySet<string>,
): Tool {
  if (hasFunctions && (!abilities.thinking.includes('level') || learned.has('no_mixed_tools'))) {
    return {};
  }
  return {
    ...(webSearch && abilities.webSearch ? { googleSearch: {} } : {}),
    ...(reasoning.urlContext === true && abilities.urlContext ? { urlContext: {} } : {}),
  };
}

function declarationOf(tool: ToolSpec, learned: ReadonlySet<string>): FunctionDeclaration {
  return {
    name: tool.name,
    description: tool.description,
    // Never `parameters`: the SDK would convert that and lose half of it.
    parametersJsonSchema: isBareTool(learned, tool.name)
      ? { type: 'object' }
      : fitSchema(tool.inputSchema, 'gemini'),
  };
}
