/** A tool of a test: safe and read-only unless the test says otherwise. */

import type {
  Assessment,
  RegisteredTool,
  ToolContext,
  ToolScene,
} from '../../src/tools/contract.ts';

export const safe: Assessment = {
  isReadOnly: true,
  needsApproval: false,
  why: 'it reads only',
  subjects: [''],
  match: 'text',
  isWhole: true,
  alwaysAsks: false,
  grant: '*',
};

export function plainTool(
  own: Pick<RegisteredTool, 'name' | 'invoke'> & Partial<RegisteredTool>,
): RegisteredTool {
  return {
    description: own.name,
    category: 'core',
    inputSchema: { type: 'object' },
    concurrencyOf: async () => 'never',
    timeoutMsOf: () => undefined,
    describe: () => own.name,
    faultOf: () => undefined,
    assess: async () => safe,
    preview: async (raw) => ({ language: 'json', text: JSON.stringify(raw) }),
    ...own,
  };
}

export const plainScene: ToolScene = {
  workspace: { folder: '/tmp', mounts: [] },
  conversationKey: 'web:local:general:1',
  runId: 'run_1',
  step: 1,
  callId: 'call_1',
  addressed: true,
};

/** A context that nobody listens to. */
export function plainContext(more: Partial<ToolContext> = {}): ToolContext {
  return {
    ...plainScene,
    signal: new AbortController().signal,
    runSignal: new AbortController().signal,
    progress: () => {},
    checklist: () => {},
    sources: () => {},
    ...more,
  };
}
