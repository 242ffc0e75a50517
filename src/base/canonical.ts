/** One text for equal values, whatever the order of their keys; and a hash of it. */

import { createHash } from 'node:crypto';

/** JSON with the keys of objects sorted. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, sortedKeys) ?? 'undefined';
}

/** SHA-256 of the canonical JSON, in hexadecimal digits. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
