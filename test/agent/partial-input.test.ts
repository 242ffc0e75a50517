/** What a call is about while its arguments stream. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createPartialInputs } from '../../src/agent/partial-input.ts';
import { createWaitTool } from '../../src/tools/builtin/wait.ts';
import type { RegisteredTool, Tool } from '../../src/tools/contract.ts';
import { registerTool } from '../../src/tools/registry.ts';

const writeInput = z.strictObject({ path: z.string(), text: z.string(), line: z.int().optional() });
type WriteInput = z.infer<typeof writeInput>;

interface SetUp {
  readonly add: (json: string) => string | undefined;
  /** What `describe` was given. */
  readonly seen: Partial<WriteInput>[];
}

function setUp(name = 'Write', more: readonly RegisteredTool[] = []): SetUp {
  const seen: Partial<WriteInput>[] = [];
  const tool: Tool<WriteInput> = {
    name: 'Write',
    description: 'Writes.',
    input: writeInput,
    category: 'core',
    concurrency: 'never',
    isReadOnly: false,
    needsApproval: true,
    describe: (input) => {
      seen.push(input);
      const { path, line } = input;
      return `Writing ${path ?? '…'}${line === undefined ? '' : ` at ${line}`}`;
    },
    invoke: async () => ({ kind: 'error', text: 'never' }),
  };
  const inputs = createPartialInputs([registerTool(tool), ...more]);
  inputs.start('c1', name);
  return { add: (json) => inputs.add('c1', json), seen };
}

describe('the line of a call that streams', () => {
  it('is there at the first piece, grows with it, and comes only when it changes', () => {
    const { add } = setUp();
    expect(['{', '"path', '":', ' "re', 'port', '.md"', ', "te', 'xt": "'].map(add)).toEqual([
      'Writing …',
      undefined,
      undefined,
      'Writing re',
      'Writing report',
      'Writing report.md',
      undefined,
      undefined,
    ]);
  });

  it('holds no number before its end', () => {
    const { add } = setUp();
    expect(add('{"line": 4')).toBe('Writing …');
    expect(add('2')).toBeUndefined();
    expect(add(', ')).toBe('Writing … at 42');
  });

  it.each([
    ['half an escape', '{"path": "a\\', 'Writing a'],
    ['half a code', '{"path": "a\\u00', 'Writing a'],
    ['a field of the wrong kind', '{"path": 5, "line": 1}', 'Writing … at 1'],
    ['a field that is not known', '{"where": "x"}', 'Writing …'],
    ['a list', '["path"', 'Writing …'],
    ['a text', '"path', 'Writing …'],
    ['null', 'null', 'Writing …'],
    ['no JSON', 'path=x', 'Writing …'],
    ['more after the end', '{"path": "x"} {', 'Writing x'],
    ['a closing bracket too many', '{"path": "x"}}', 'Writing x'],
    ['the name of a method', '{"constructor": "x", "toString": 1, "path": "a"}', 'Writing a'],
    ['a prototype', '{"__proto__": {"line": 7}, "path": "a"}', 'Writing a'],
  ])('is told from %s', (_what, json, line) => {
    expect(setUp().add(json)).toBe(line);
  });

  it('changes the prototype of nothing', () => {
    setUp().add('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": 1}}}');
    expect('polluted' in {}).toBe(false);
  });

  it('is none for a tool that is not there, or a call that did not start', () => {
    expect(setUp('Unknown').add('{"path": "a"}')).toBeUndefined();
    expect(createPartialInputs([]).add('c1', '{')).toBeUndefined();
  });

  it('is told of a tool whose fields depend on each other', () => {
    const wait = registerTool(createWaitTool({ now: () => 0 }));
    const { add } = setUp('Wait', [wait]);
    expect(add('{')).toBe('Waiting');
    expect(add('"minutes": 5')).toBeUndefined();
    expect(add('}')).toBe('Waiting 5 min');
  });

  it('is looked for at each piece up to 2,000 characters, then at each doubling', () => {
    const { add, seen } = setUp();
    const head = '{"path": "a", "text": "';
    add(head);
    for (let size = head.length; size < 1999; size += 1) add('x');
    expect(seen).toHaveLength(1 + 1999 - head.length);
    add('x');
    const before = seen.length;
    for (let size = 2000; size < 3999; size += 1) add('x');
    expect(seen).toHaveLength(before);
    add('x');
    expect(seen).toHaveLength(before + 1);
    for (let size = 4000; size < 100_000; size += 1) add('x');
    expect(seen.length - before).toBe(5);
  });
});
