/** Short random ids. The source of randomness is passed in, so that tests can name things. */

import { randomBytes } from 'node:crypto';

/** Makes a new id such as `run_k3v9x0q2m4ab`: the prefix, `_`, 12 letters and digits (60 bits). */
export type NewId = (prefix: string) => string;

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

export const randomId: NewId = (prefix) => {
  let id = '';
  for (const byte of randomBytes(12)) id += alphabet[byte & 31] ?? '0';
  return `${prefix}_${id}`;
};
