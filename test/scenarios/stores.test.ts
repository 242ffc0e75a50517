/** The whole process with its state in Redis and in PostgreSQL, and with a store that goes away. */

import { randomBytes } from 'node:crypto';
import { createClient } from '@keyv/redis';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { message, say } from '../emulators/model/script.ts';
import { serverRuns } from '../support/servers.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp.ts';
import { until } from '../support/until.ts';
import { type SlackBench, usingSlackBench } from './slack-bench.ts';

const redisPort = 6379;
const postgresPort = 5432;
const redisRuns = await serverRuns('Redis', redisPort);
const postgresRuns = await serverRuns('PostgreSQL', postgresPort);

const redisAddress = (port: number): string => `redis://127.0.0.1:${port}/11`;

/** Database 11 is for these tests; only what the bot puts there is removed. */
async function removeRedisKeys(): Promise<void> {
  const client = createClient({ url: redisAddress(redisPort) });
  await client.connect();
  const keys = await client.keys('deckhand:*');
  if (keys.length > 0) await client.del(keys);
  client.destroy();
}

/** Runs with a clean Redis database. */
async function usingRedis(test: () => Promise<void>): Promise<void> {
  await removeRedisKeys();
  try {
    await test();
  } finally {
    await removeRedisKeys();
  }
}

/** The same through a way that can be cut. */
async function usingRedisThrough(test: (proxy: TcpProxy) => Promise<void>): Promise<void> {
  const proxy = await openTcpProxy(redisPort);
  try {
    await usingRedis(() => test(proxy));
  } finally {
    await proxy.close();
  }
}

async function inPostgres(sql: string): Promise<void> {
  const pool = new pg.Pool({
    connectionString: `postgres://root@127.0.0.1:${postgresPort}/test`,
  });
  try {
    await pool.query(sql);
  } finally {
    await pool.end();
  }
}

/** Runs with a PostgreSQL database of its own. */
async function usingPostgres(test: (address: string) => Promise<void>): Promise<void> {
  const name = `deckhand_test_${randomBytes(6).toString('hex')}`;
  await inPostgres(`CREATE DATABASE ${name}`);
  try {
    await test(`postgres://root@127.0.0.1:${postgresPort}/${name}`);
  } finally {
    await inPostgres(`DROP DATABASE ${name} WITH (FORCE)`);
  }
}

/** A mention is answered, the process killed, and a follow-up answered with what was said before. */
async function goesOnAfterAKill(bench: SlackBench, store: string): Promise<void> {
  const { workspace, model, start, mention, untilAnswers } = bench;
  const environment = { DECKHAND_STORE: store };
  const first = await start(environment);
  expect(
    first.lines.some(({ says }) => /State is kept in (redis|postgres)/u.test(says ?? '')),
  ).toBe(true);
  model.script(say('It is ', 'the cache.'));
  const thread = mention('why is checkout slow?');
  await untilAnswers(thread, (all) => all[0] === 'It is the cache.');
  await until(() => first.lines.some(({ event }) => event === 'run_ended'));
  await first.kill('SIGKILL');
  await start(environment);
  model.script(say('As I said: the cache.'));
  workspace.say('U_BEN', 'C1', 'say that again?', { thread });
  const answers = await untilAnswers(
    thread,
    (all) => all.join().includes('As I said') && !all.join().includes('[Stop]'),
  );
  // The kill may hit the very end of the run, which then takes the follow-up in.
  const words = answers.flatMap((shown) => shown.split('\n\n'));
  expect(words.map((shown) => shown.split('\n▸')[0])).toEqual([
    'It is the cache.',
    'As I said: the cache.',
  ]);
  expect(model.requests).toHaveLength(2);
  const sent = JSON.stringify(model.requests[1]?.body);
  for (const words of ['Anna: why is checkout slow?', 'It is the cache.', 'Ben: say that again?'])
    expect(sent).toContain(words);
}

const readyz = async ({ port }: SlackBench): Promise<number> =>
  (await fetch(`http://127.0.0.1:${port}/readyz`)).status;

describe.skipIf(!redisRuns)('the process with Redis', { timeout: 60_000 }, () => {
  it('goes on after a kill where it was', async () => {
    expect.hasAssertions();
    const store = redisAddress(redisPort);
    await usingRedis(() => usingSlackBench((bench) => goesOnAfterAKill(bench, store)));
  });

  it('acknowledges nothing while the store is away, and answers it once when it is back', () =>
    usingRedisThrough(async (proxy) => {
      const options = { ackTimeoutMs: 500, retryDelaysMs: Array.from({ length: 40 }, () => 250) };
      await usingSlackBench(
        async (bench) => {
          const { workspace, model, start, mention, untilAnswers } = bench;
          const bot = await start({ DECKHAND_STORE: redisAddress(proxy.port) });
          model.script(say('Before.'));
          const before = mention('hello');
          await untilAnswers(before, (all) => all[0] === 'Before.');
          // What can be read may not be stored yet, and would be asked for once more.
          await until(() => bot.lines.some(({ event }) => event === 'run_ended'));
          await workspace.settled();
          expect(await readyz(bench)).toBe(200);

          await proxy.stop();
          const thread = mention('are you there?');
          const deliveries = workspace.deliveries.filter(({ payload }) =>
            JSON.stringify(payload).includes('are you there?'),
          );
          await until(() => deliveries.every(({ attempts }) => attempts >= 3));
          expect(deliveries.some(({ isAcknowledged }) => isAcknowledged)).toBe(false);
          expect(await readyz(bench)).toBe(503);
          expect(model.requests).toHaveLength(1);

          model.script(say('I am back.'));
          await proxy.start();
          await untilAnswers(thread, (all) => all.length > 0);
          await workspace.settled();
          expect(deliveries.every(({ isAcknowledged }) => isAcknowledged)).toBe(true);
          workspace.redeliver(thread, 2);
          await workspace.settled();
          expect(await untilAnswers(thread, (all) => all[0] === 'I am back.')).toHaveLength(1);
          expect(model.requests).toHaveLength(2);
          await until(async () => (await readyz(bench)) === 200);
        },
        { workspace: options },
      );
    }));
});

describe.skipIf(!redisRuns)('a run whose store goes away', { timeout: 60_000 }, () => {
  it('ends in one answer when the store is back', () =>
    usingRedisThrough(async (proxy) => {
      await usingSlackBench(async ({ model, workspace, start, mention, untilAnswers }) => {
        const bot = await start({ DECKHAND_STORE: redisAddress(proxy.port) });
        let goOn = (): void => {};
        const wait = new Promise<void>((resolve) => {
          goOn = resolve;
        });
        model.script(
          message(
            { kind: 'text', text: 'The first half. ' },
            { kind: 'wait', until: wait },
            { kind: 'text', text: 'The second half.' },
          ),
        );
        model.otherwise(say('The first half. The second half.'));
        const thread = mention('report');
        await untilAnswers(thread, (all) => all[0]?.startsWith('The first half.') === true);
        await proxy.stop();
        goOn();
        await until(() => bot.lines.some(({ event }) => event === 'lane_failed'));
        await proxy.start();
        const answers = await untilAnswers(
          thread,
          (all) => all[0]?.startsWith('The first half. The second half.') === true,
        );
        await workspace.settled();
        expect(answers).toHaveLength(1);
      });
    }));
});

describe.skipIf(!postgresRuns)('the process with PostgreSQL', { timeout: 60_000 }, () => {
  it('goes on after a kill where it was', async () => {
    expect.hasAssertions();
    await usingPostgres((store) => usingSlackBench((bench) => goesOnAfterAKill(bench, store)));
  });
});
