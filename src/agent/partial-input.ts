/**
 * What a call is about while its arguments still stream: the beginning of their JSON, parsed as far
 * as it goes, in the tool's own words. Long arguments (a whole file) are looked at ever more rarely,
 * so that the cost stays in proportion to their length.
 */

import { Allow, parse } from 'partial-json';
import type { RegisteredTool } from '../tools/contract.ts';

export interface PartialInputs {
  start(callId: string, name: string): void;
  /** Takes a piece of the arguments' JSON; a new line for the activity, undefined when none. */
  add(callId: string, json: string): string | undefined;
}

interface Growing {
  readonly tool: RegisteredTool | undefined;
  json: string;
  /** Length at which it is looked at next. */
  nextLook: number;
  shown: string;
}

/** Up to here each piece is looked at. */
const closeLookChars = 2000;

export function createPartialInputs(tools: readonly RegisteredTool[]): PartialInputs {
  const growing = new Map<string, Growing>();
  return {
    start: (callId, name) => {
      const tool = tools.find((one) => one.name === name);
      growing.set(callId, { tool, json: '', nextLook: 1, shown: '' });
    },
    add: (callId, piece) => {
      const call = growing.get(callId);
      if (!call?.tool) return undefined;
      call.json += piece;
      if (call.json.length < call.nextLook) return undefined;
      call.nextLook = call.json.length < closeLookChars ? 0 : call.json.length * 2;
      const line = call.tool.describe(parsedSoFar(call.json));
      if (line === call.shown) return undefined;
      call.shown = line;
      return line;
    },
  };
}

function parsedSoFar(json: string): unknown {
  try {
    return parse(json, Allow.OBJ | Allow.ARR | Allow.STR);
  } catch {
    return {}; // nothing of it can be read yet
  }
}
