/** Reads the catalog of models, `config/models.yaml`. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { catalogSchema, type ModelEntry } from '../providers/settings.ts';
import { configInvalid } from './load.ts';

/** The file of this folder, or the one that comes with the program. Throws config_invalid. */
export function readModels(folder: string): readonly ModelEntry[] {
  const own = path.join(folder, 'config/models.yaml');
  const found = textOf(own) ?? textOf(shippedFile());
  if (found === undefined) return [];
  const file = path.relative(folder, found.file);
  let raw: unknown;
  try {
    raw = parse(found.text);
  } catch (thrown) {
    const [reason] = thrown instanceof Error ? thrown.message.split('\n') : ['not YAML'];
    throw configInvalid([`${file}: ${reason}`]);
  }
  const parsed = catalogSchema.safeParse(raw);
  if (parsed.success) return parsed.data.models;
  throw configInvalid(
    parsed.error.issues.map((issue) => `${file}: ${issue.path.join('.')}: ${issue.message}`),
  );
}

/** Beside the sources, and beside the compiled program one folder up. */
function shippedFile(): string {
  const root = path.resolve(import.meta.dirname, '../..');
  return path.join(
    path.basename(root) === 'dist' ? path.dirname(root) : root,
    'config/models.yaml',
  );
}

function textOf(file: string): { readonly file: string; readonly text: string } | undefined {
  try {
    return { file, text: readFileSync(file, 'utf8') };
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
    throw thrown;
  }
}
