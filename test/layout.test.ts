/** Who may import whom. The rules are the design's; the test proves that it looked, and that it can
 * fail. */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');

/** Folder → folders it may import besides itself. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  base: [],
  messages: ['base'],
  config: ['base', 'messages'],
  surface: ['base', 'messages'],
  providers: ['base', 'messages'],
  tools: ['base', 'messages'],
  permissions: ['base', 'messages', 'tools'],
  storage: ['base'],
  conversations: ['base', 'messages', 'storage'],
  context: ['base', 'messages', 'providers', 'tools'],
  agent: ['base', 'messages', 'providers', 'tools', 'permissions', 'context'],
  render: ['base', 'messages', 'surface'],
  questions: ['base', 'messages', 'storage', 'surface', 'permissions'],
  server: ['base', 'surface'],
  runs: [
    'base',
    'messages',
    'surface',
    'storage',
    'tools',
    'permissions',
    'conversations',
    'schedules',
    'context',
    'agent',
    'render',
    'questions',
  ],
  adapters: ['base', 'messages', 'surface'],
};

/** Vendor packages and the one place that may know each. */
const vendors: readonly { readonly pattern: RegExp; readonly home: string }[] = [
  { pattern: /^@slack\//u, home: 'adapters/slack' },
  { pattern: /^(discord\.js|@discordjs\/)/u, home: 'adapters/discord' },
  { pattern: /^@anthropic-ai\//u, home: 'src/providers/anthropic' },
  { pattern: /^@google\/genai/u, home: 'src/providers/gemini' },
  { pattern: /^openai(\/|$)/u, home: 'src/providers/' },
  { pattern: /^@modelcontextprotocol\//u, home: 'src/mcp' },
  { pattern: /^sharp$/u, home: 'src/base/images.ts' },
  { pattern: /^(keyv|@keyv\/|libsql|pg$|redis)/u, home: 'src/storage' },
];

interface Import {
  readonly from: string;
  readonly to: string;
}

function sourceFiles(): readonly string[] {
  return ['src', 'adapters'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => path.join(folder, name).replaceAll(path.sep, '/')),
  );
}

/** Static and dynamic imports; relative ones resolved from the root. */
function importsOf(file: string, text: string): readonly Import[] {
  const found = text.matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*)'([^']+)'/gu);
  return [...found].map(([, target = '']) => ({
    from: file,
    to: target.startsWith('.') ? path.posix.join(path.posix.dirname(file), target) : target,
  }));
}

/** `src/runs/x.ts` → runs; `adapters/slack/x.ts` → adapters. */
function folderOf(file: string): string {
  const [top = '', folder = ''] = file.split('/');
  return top === 'src' ? folder : top;
}

function problemOf({ from, to }: Import): string | undefined {
  const vendor = vendors.find(({ pattern }) => pattern.test(to));
  if (vendor && !from.startsWith(vendor.home))
    return `${from} imports ${to}, which lives in ${vendor.home}`;
  if (!to.startsWith('src/') && !to.startsWith('adapters/')) return undefined;
  const source = folderOf(from);
  const target = folderOf(to);
  if (source === 'app' || source === 'cli') {
    const isOther = target === 'adapters' && from !== 'src/app/adapters.ts';
    return isOther ? `${from} imports ${to}: only src/app/adapters.ts may` : undefined;
  }
  if (source === 'adapters' && target === 'adapters') {
    const isSame = from.split('/')[1] === to.split('/')[1];
    return isSame ? undefined : `${from} imports another adapter, ${to}`;
  }
  if (source === target) return undefined;
  // Settings are composed by config, from wherever they are declared.
  if (source === 'config' && to.endsWith('/settings.ts')) return undefined;
  return allowed[source]?.includes(target) ? undefined : `${from} imports ${to}`;
}

describe('the layout', () => {
  const files = sourceFiles();
  const imports = files.flatMap((file) =>
    importsOf(file, readFileSync(path.join(root, file), 'utf8')),
  );

  it('was looked at', () => {
    expect(files.length).toBeGreaterThan(60);
    expect(imports.length).toBeGreaterThan(200);
    expect(imports.some(({ to }) => to.startsWith('@slack/'))).toBe(true);
    expect(
      imports.some(({ from, to }) => from.startsWith('src/app/') && to.startsWith('adapters/')),
    ).toBe(true);
  });

  it('lets no folder import what it may not', () => {
    expect(imports.map(problemOf).filter((problem) => problem !== undefined)).toEqual([]);
  });

  it.each<[string, Import]>([
    ['base imports runs', { from: 'src/base/x.ts', to: 'src/runs/y.ts' }],
    ['runs import config', { from: 'src/runs/x.ts', to: 'src/config/load.ts' }],
    ['runs import providers', { from: 'src/runs/x.ts', to: 'src/providers/registry.ts' }],
    ['tools import storage', { from: 'src/tools/x.ts', to: 'src/storage/store.ts' }],
    ['an adapter imports another', { from: 'adapters/slack/x.ts', to: 'adapters/discord/y.ts' }],
    ['an adapter imports runs', { from: 'adapters/slack/x.ts', to: 'src/runs/runs.ts' }],
    ['cli imports an adapter', { from: 'src/cli/main.ts', to: 'adapters/web/adapter.ts' }],
    ['runs import a model SDK', { from: 'src/runs/x.ts', to: '@anthropic-ai/sdk' }],
    ['slack’s SDK outside its adapter', { from: 'adapters/web/x.ts', to: '@slack/bolt' }],
  ])('refuses that %s', (_what, wrong) => {
    expect(problemOf(wrong)).toBeTypeOf('string');
  });

  it('has at its top only what the design names', () => {
    const top = readdirSync(root).filter((name) => !name.startsWith('.'));
    const named = [
      'LICENSE',
      'Procfile',
      'README.md',
      'adapters',
      'config',
      'package-lock.json',
      'package.json',
      'src',
      'test',
      'tsconfig.json',
    ];
    const made = ['artifacts', 'coverage', 'data', 'dist', 'node_modules'];
    expect(top.filter((name) => !made.includes(name)).sort()).toEqual(named);
  });

  it('keeps files to one job: none over 400 lines', () => {
    const long = files.filter(
      (file) => readFileSync(path.join(root, file), 'utf8').split('\n').length > 401,
    );
    expect(long).toEqual([]);
  });
});
