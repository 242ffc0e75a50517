/** Losing Slack for real seconds. */

import { describe, expect, it } from 'vitest';
import { setUpSlack } from './set-up.ts';

describe('a Slack socket in trouble', () => {
  it('that hangs half open is found out and opened again', async () => {
    const slack = await setUpSlack();
    slack.workspace.sockets.freeze();
    await slack.workspace.until(() => !slack.adapter.state().connected, 15_000);
    await slack.workspace.until(() => slack.adapter.state().connected, 5_000);
    expect(slack.events).toEqual([{ kind: 'gap', adapter: 'slack', since: expect.any(Number) }]);
    await slack.close();
  });

  it('is tried again with growing waits while Slack is out: nothing ends the process', async () => {
    const slack = await setUpSlack();
    slack.workspace.sockets.refuse(true);
    slack.workspace.fault('apps.connections.open', { kind: 'status', status: 500 });
    slack.workspace.sockets.drop();
    const failures = (): number =>
      slack.log.lines.filter((line) => line.event === 'slack_socket_failed').length;
    await slack.workspace.until(() => failures() >= 2, 8_000);
    expect(slack.adapter.state().connected).toBe(false);
    slack.workspace.sockets.refuse(false);
    await slack.workspace.until(() => slack.adapter.state().connected, 10_000);
    expect(slack.events).toEqual([{ kind: 'gap', adapter: 'slack', since: expect.any(Number) }]);
    await slack.close();
  });

  it('ends within 5 s while the socket hangs', async () => {
    const slack = await setUpSlack();
    slack.workspace.sockets.freeze();
    const started = Date.now();
    await slack.adapter.stop();
    expect(Date.now() - started).toBeLessThan(5_000);
    await slack.close();
  });
});
