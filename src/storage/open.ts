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
  const problem = addressProblem(address);
  if (problem !== undefined) throw new BotError('config_invalid', problem);
  const scheme = schemeOf(address);
  switch (scheme) {
    case 'memory:':
      return createMemoryStore(deps);
    case 'sqlite:': {
      const path = address.slice(scheme.length);
      const { openSqliteStore } = await import('./sqlite.ts');
      return await openSqliteStore(path, deps);
    }
    case 'redis:':
    case 'rediss:': {
      const { openRedisStore } = await import('./redis.ts');
      return await openRedisStore(address, { ...deps, namespace });
    }
    case 'postgres:':
    case 'postgresql:': {
      const { openPostgresStore } = await import('./postgres.ts');
      return await openPostgresStore(address, { ...deps, namespace });
    }
    default:
      throw new Error('an unknown scheme was let through');
  }
}

/** Why an address cannot be that of a store; undefined when it can. The address itself may hold a
 * password, so it is not repeated. */
export function addressProblem(address: string): string | undefined {
  const why = faultOf(address);
  return why && `The address of the store cannot be used: ${why}. Expected is ${forms}.`;
}

function faultOf(address: string): string | undefined {
  const scheme = schemeOf(address);
  switch (scheme) {
    case 'memory:':
      return undefined;
    case 'sqlite:': {
      const path = address.slice(scheme.length);
      return path === '' || path === ':memory:' ? 'it names no file' : undefined;
    }
    case 'redis:':
    case 'rediss:':
    case 'postgres:':
    case 'postgresql:': {
      const isWhole = URL.canParse(address) && new URL(address).hostname !== '';
      return isWhole ? undefined : 'it is not a complete address';
    }
    case '':
      return 'it has no scheme';
    default:
      return `"${scheme}" is not known`;
  }
}

function schemeOf(address: string): string {
  return /^[a-z]+:/u.exec(address)?.[0] ?? '';
}
