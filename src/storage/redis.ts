/**
 * The store in Redis, by @keyv/redis. Keys die in Redis by themselves (PX) and besides by the
 * clock of the reader. Nothing is queued for a server that is away: a command fails at once, so
 * that what was reported as failed does not happen later.
 */

import { z } from 'zod';
import { errorFacts } from '../base/log.ts';
import { answered, type Backend, createBackedStore, type StoreDeps } from './backend.ts';
import type { Store } from './store.ts';

/**
 * KEYS: the key, then the indexes. ARGV: text, now, life, then score and member of each index.
 * A key whose stored form has expired by the caller's clock counts as absent.
 */
const settleScript = `
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or tonumber(score) >= tonumber(ARGV[2]) then return 0 end
if ARGV[3] == '' then redis.call('ZREM', KEYS[1], ARGV[1])
else redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1]) end
return 1
`;

const claimScript = `
local old = redis.call('GET', KEYS[1])
if old then
  local expires = string.match(old, '^{"expires":(%d+)')
  if expires and tonumber(expires) <= tonumber(ARGV[2]) then redis.call('DEL', KEYS[1]) end
end
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[3]) then return 0 end
for i = 2, #KEYS do redis.call('ZADD', KEYS[i], ARGV[2 * i], ARGV[2 * i + 1]) end
return 1
`;

const claimAnswer = z.number();

/** Opens `redis://[user:password@]host[:port][/database]` (or `rediss://`). */
export async function openRedisStore(
  address: string,
  deps: StoreDeps & { readonly namespace: string },
): Promise<Store> {
  const { clock, log, namespace } = deps;
  const { host } = new URL(address);
  const name = `Redis at ${host}`;
  const { default: KeyvRedis, createClient } = await import('@keyv/redis');

  let wasConnected = false;
  const newClient = () => {
    const made = createClient({
      url: address,
      disableOfflineQueue: true,
      socket: {
        connectTimeout: 4_000,
        // At the start a server that is away is an error; later it is waited for.
        reconnectStrategy: (attempts, cause) =>
          wasConnected ? Math.min(100 * 2 ** attempts, 2_000) : cause,
      },
    });
    made.on('error', (error: unknown) => log.debug('redis_error', errorFacts(error)));
    made.on('ready', () => {
      wasConnected = true;
      log.info('redis_connected', { host });
    });
    return made;
  };

  let client = newClient();
  try {
    await answered({ clock, name }, 'open', () => client.connect());
  } catch (error) {
    if (client.isOpen) client.destroy();
    throw error;
  }

  const texts = new KeyvRedis<string>(client, { throwOnErrors: true });
  const keyOf = (key: string): string => `${namespace}::${key}`;
  const indexOf = (index: string): string => `${namespace}:index::${index}`;

  const backend: Backend = {
    name,
    texts,
    claim: async ({ key, text, nowMs, expiresMs, indexed }) => {
      const answer: unknown = await client.eval(claimScript, {
        keys: [keyOf(key), ...indexed.map(({ index }) => indexOf(index))],
        arguments: [
          text,
          String(nowMs),
          String(Math.max(1, Math.ceil(expiresMs - nowMs))),
          ...indexed.flatMap(({ score, member }) => [String(score), member]),
        ],
      });
      return claimAnswer.parse(answer) === 1;
    },
    addToIndex: async ({ index, member, score }) => {
      await client.zAdd(indexOf(index), { value: member, score });
    },
    removeFromIndex: async (index, member) => {
      await client.zRem(indexOf(index), member);
    },
    settleInIndex: async (index, member, { below, to }) => {
      await client.eval(settleScript, {
        keys: [indexOf(index)],
        arguments: [member, String(below), to === null ? '' : String(to)],
      });
    },
    rangeOfIndex: async (index, { upTo, most }) => {
      const members = await client.zRangeByScoreWithScores(indexOf(index), '-inf', upTo ?? '+inf', {
        LIMIT: { offset: 0, count: most },
      });
      return members.map(({ value, score }) => ({ member: value, score }));
    },
    check: async () => {
      await client.ping();
    },
    // A connection that takes commands and never answers does not notice by itself: replace it.
    unanswered: () => {
      if (!client.isReady) return;
      client.destroy();
      client = newClient();
      texts.client = client;
      client.connect().catch((error: unknown) => log.warn('redis_error', errorFacts(error)));
      log.warn('redis_connection_replaced', { host });
    },
    close: async () => {
      if (client.isOpen) client.destroy();
    },
  };
  return createBackedStore(deps, backend, namespace);
}
