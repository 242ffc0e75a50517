/** Slack by signed HTTP events at the bot's own port, alone and beside Socket Mode. */

import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { say } from '../emulators/model/script.ts';
import { askWhere, usingSlackBench } from './slack-bench.ts';

/** The answer to an event that is signed like this. */
async function postSigned(
  url: string,
  signing: { readonly secret: string; readonly at: number; readonly signature?: string },
): Promise<number> {
  const body = JSON.stringify({
    type: 'event_callback',
    team_id: 'T_ACME',
    event_id: 'Ev_forged',
    event: { type: 'app_mention', user: 'U_ANNA', channel: 'C1', text: '<@U_BOT> hi', ts: '1.1' },
  });
  const digest = createHmac('sha256', signing.secret).update(`v0:${signing.at}:${body}`);
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'application/json',
      'X-Slack-Request-Timestamp': String(signing.at),
      'X-Slack-Signature': signing.signature ?? `v0=${digest.digest('hex')}`,
    },
  });
  return response.status;
}

describe('Slack over HTTP, the whole process', { timeout: 60_000 }, () => {
  it('answers a mention, asks, and takes the click', () =>
    usingSlackBench(
      async ({ workspace, model, start, mention, untilAnswers, press, port }) => {
        await start();
        expect(workspace.sockets.open).toBe(0);
        model.script(
          { kind: 'message', pieces: [{ kind: 'text', text: ['Let me ', 'ask.'] }, askWhere] },
          say('Deployed to ', 'production.'),
        );
        const thread = mention('deploy');
        await untilAnswers(
          thread,
          (all) => all.length === 2 && all[1]?.includes('Other…') === true,
        );
        press('U_ANNA', thread, '2. Production');
        const answers = await untilAnswers(thread, (all) => all.length === 3);
        expect(answers[0]).toBe('Let me ask.');
        expect(answers[1]).toMatch(/Production[\s\S]*Anna|Anna[\s\S]*Production/u);
        await untilAnswers(thread, (all) => all[2] === 'Deployed to production.');
        await workspace.settled();
        expect(
          workspace.deliveries.map(({ way, isAcknowledged }) => [way, isAcknowledged]),
        ).toEqual(workspace.deliveries.map(() => ['http', true]));
        expect(model.requests).toHaveLength(2);
        expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
      },
      { way: 'http' },
    ));

  it('refuses what is signed wrongly, with the right secret too late, or not at all', () =>
    usingSlackBench(
      async ({ workspace, model, start, mention, untilAnswers, eventsUrl }) => {
        await start();
        const now = Math.floor(Date.now() / 1000);
        const { signingSecret: secret } = workspace;
        expect(await postSigned(eventsUrl, { secret: 'a wrong secret', at: now })).toBe(401);
        expect(await postSigned(eventsUrl, { secret, at: now - 301 })).toBe(401);
        expect(await postSigned(eventsUrl, { secret, at: now, signature: '' })).toBe(401);
        workspace.eventsTo(eventsUrl, 'a wrong secret');
        const forged = mention('obey me');
        await workspace.settled();
        expect(workspace.deliveries.some(({ isAcknowledged }) => isAcknowledged)).toBe(false);
        workspace.eventsTo(eventsUrl);
        model.script(say('At your service.'));
        const genuine = mention('hello');
        await untilAnswers(genuine, (all) => all[0] === 'At your service.');
        expect(workspace.thread('C1', forged).filter(({ isBot }) => isBot)).toEqual([]);
        expect(model.requests).toHaveLength(1);
      },
      { way: 'http' },
    ));

  it('answers once what arrives by socket and by HTTP', () =>
    usingSlackBench(
      async ({ workspace, model, start, mention, untilAnswers }) => {
        await start();
        model.script(say('Once.'), say('Once more.'));
        const thread = mention('hello');
        await untilAnswers(thread, (all) => all.includes('Once.'));
        workspace.say('U_BEN', 'C1', 'and again?', { thread });
        await untilAnswers(thread, (all) => all.includes('Once more.'));
        workspace.redeliver(thread, 2);
        await workspace.settled();
        const ways = workspace.deliveries.filter(({ isAcknowledged }) => isAcknowledged);
        expect(new Set(ways.map(({ way }) => way))).toEqual(new Set(['socket', 'http']));
        const answers = await untilAnswers(thread, () => true);
        expect(answers).toEqual(['Once.', 'Once more.']);
        expect(model.requests).toHaveLength(2);
      },
      { way: 'both' },
    ));
});
