/** Tools behind their validation: faults in words, lines from unfinished arguments, mended ones. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Tool } from '../../src/tools/contract.ts';
import { registerTool, specOf } from '../../src/tools/registry.ts';
import { plainContext, plainScene } from '../support/tools.ts';

const input = z
  .strictObject({
    path: z.string().min(1),
    most: z.int().min(1).max(5).default(3),
    range: z.strictObject({ from: z.int(), to: z.int() }).optional(),
  })
  .refine(({ path }) => path !== 'forbidden', { message: 'must be another', path: ['path'] });
type Input = z.infer<typeof input>;

function setUp(more: Partial<Tool<Input>> = {}) {
  const got: Input[] = [];
  const tool: Tool<Input> = {
    name: 'Look',
    description: 'Looks.',
    input,
    category: 'core',
    concurrency: 'always',
    isReadOnly: true,
    needsApproval: false,
    describe: ({ path, most }) => `${path ?? '…'} ${most ?? '-'}`,
    invoke: async (call) => {
      got.push(call);
      return { kind: 'done', parts: [] };
    },
    ...more,
  };
  return { got, tool: registerTool(tool) };
}

const mending: Partial<Tool<Input>> = {
  prepare: (raw) => (typeof raw === 'string' ? { path: raw } : raw),
};

describe('faulty arguments', () => {
  it.each<[string, unknown, readonly string[]]>([
    ['nothing', undefined, ['- input: ']],
    ['a text', 'x', ['- input: ']],
    ['no path', {}, ['- path: ']],
    [
      'three faults',
      { path: '', most: 9, range: { from: 1, to: 'x' } },
      ['- path: ', '- most: ', '- range.to: '],
    ],
    ['an unknown field', { path: 'x', constructor: 1 }, ['- input: Unrecognized key']],
    ['a rule over fields', { path: 'forbidden' }, ['- path: must be another']],
  ])('of %s are told one by one', async (_what, raw, told) => {
    const { tool, got } = setUp();
    const fault = tool.faultOf(raw) ?? '';
    const [first, ...lines] = fault.split('\n');
    expect(first).toBe('The arguments of Look are not right. Mend them and call it again.');
    expect(lines).toHaveLength(told.length);
    for (const [index, line] of told.entries()) expect(lines[index]).toContain(line);
    expect(await tool.invoke(raw, plainContext())).toEqual({ kind: 'error', text: fault });
    expect(got).toEqual([]);
  });

  it('are judged strictly: they run alone, at the configured time, as the tool itself', async () => {
    const { tool } = setUp({
      concurrency: async () => 'always',
      timeoutMs: () => 5,
      assess: () => {
        throw new Error('not to be asked');
      },
      preview: () => {
        throw new Error('not to be asked');
      },
    });
    expect(await tool.concurrencyOf({}, plainScene)).toBe('never');
    expect(tool.timeoutMsOf({})).toBeUndefined();
    expect(await tool.assess({}, plainScene)).toMatchObject({ isReadOnly: true, subjects: [''] });
    expect(await tool.preview({ a: 1 }, plainScene)).toEqual({
      language: 'json',
      text: '{\n  "a": 1\n}',
    });
  });
});

describe('right arguments', () => {
  it('have no fault, get their defaults, and decide', async () => {
    const { tool, got } = setUp({
      concurrency: async ({ most }) => (most === 3 ? 'always' : 'never'),
      timeoutMs: ({ most }) => most * 10,
    });
    expect(tool.faultOf({ path: 'a' })).toBeUndefined();
    expect(await tool.concurrencyOf({ path: 'a' }, plainScene)).toBe('always');
    expect(tool.timeoutMsOf({ path: 'a', most: 5 })).toBe(50);
    await tool.invoke({ path: 'a' }, plainContext());
    expect(got).toEqual([{ path: 'a', most: 3 }]);
  });

  it('are what is left after mending, everywhere', async () => {
    const { tool, got } = setUp(mending);
    expect(tool.faultOf('a.txt')).toBeUndefined();
    expect(tool.describe('a.txt')).toBe('a.txt 3');
    expect(await tool.concurrencyOf('a.txt', plainScene)).toBe('always');
    await tool.invoke('a.txt', plainContext());
    expect(got).toEqual([{ path: 'a.txt', most: 3 }]);
  });
});

describe('a line about unfinished arguments', () => {
  it.each<[unknown, string]>([
    [undefined, '… -'],
    [null, '… -'],
    ['path', '… -'],
    [['path'], '… -'],
    [{}, '… -'],
    [{ path: 'a' }, 'a 3'],
    [{ path: 'forbidden', most: 2 }, 'forbidden 2'],
    [{ path: 'a', range: { from: 1 } }, 'a -'],
    [{ path: 5, most: 2 }, '… 2'],
    [{ most: 99 }, '… -'],
    [JSON.parse('{"__proto__": {"path": "a"}, "constructor": 1, "hasOwnProperty": 2}'), '… -'],
  ])('of %j is %j: what is right of it counts', (raw, line) => {
    expect(setUp().tool.describe(raw)).toBe(line);
  });
});

describe('the spec of a tool', () => {
  it('is closed, and asks for no field that has a default', () => {
    expect(specOf(setUp().tool)).toMatchObject({
      name: 'Look',
      description: 'Looks.',
      inputSchema: { type: 'object', required: ['path'], additionalProperties: false },
    });
    expect(specOf(setUp().tool).inputSchema).not.toHaveProperty('$schema');
  });
});
