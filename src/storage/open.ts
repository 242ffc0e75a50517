/** Opens the store that an address names. The client of a backend is loaded only when it is used. */

import { BotError } from '../base/errors.ts';
import type { StoreDeps } from './backend.ts';
import { createMemoryStore } from './memory.ts';
import type { Store } from './store.ts';

const forms = 'sqlite:PATH, memory:, redis://HOST:PORT/NUMBER or postgres://USER@HOST:PORT/NAME';

/**
 * `namespace` begins the names of keys in Redis and of tables in PostgreSQL, so that several can
 * share a server. Rejects with `config_invalid` for an unknown address and with
 * `store_unavailable`, within 5 s, when the store does not answer.
 */
export async function openStore(
  address: string,
  { namespace = 'deckhand', ...deps }: StoreDeps & { readonly namespace?: string },
): Promise<Store> {
  const scheme = /^[a-z]+:/u.exec(address)?.[0] ?? '';
  switch (scheme) {
    case 'memory:':
      return createMemoryStore(deps);
    case 'sqlite:': {
      const path = address.slice(scheme.length);
      if (path === '' || path === ':memory:') throw invalidAddress('it names no file');
      const { openSqliteStore } = await import('./sqlite.ts');
      return await openSqliteStore(path, deps);
    }
    case 'redis:':
    case 'rediss:': {
      checkUrl(address);
      const { openRedisStore } = await import('./redis.ts');
      return await openRedisStore(address, { ...deps, namespace });
    }
    case 'postgres:':
    case 'postgresql:': {
      checkUrl(address);
      const { openPostgresStore } = await import('./postgres.ts');
      return await openPostgresStore(address, { ...deps, namespace });
    }
    default:
      throw invalidAddress(scheme === '' ? 'it has no scheme' : `"${scheme}" is not known`);
  }
}

function checkUrl(address: string): void {
  if (!URL.canParse(address) || new URL(address).hostname === '') {
    throw invalidAddress('it is not a complete address');
  }
}

/** The address itself may hold a password, so it is not repeated. */
function invalidAddress(why: string): BotError {
  return new BotError(
    'config_invalid',
    `The address of the store cannot be used: ${why}. Expected is ${forms}.`,
  );
}
