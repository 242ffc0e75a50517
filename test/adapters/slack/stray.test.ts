/** An answer whose thread is gone does not stay in the channel. */

import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/fake-clock.ts';
import { markdown } from './set-up.ts';
import { key, setUpThread } from './set-up-thread.ts';

describe('an answer to a deleted message', () => {
  it('is removed from the channel where Slack has put it', async () => {
    const slack = await setUpThread();
    slack.workspace.deleteMessage(slack.root);
    await expect(slack.surface.post(markdown('late'), key)).rejects.toMatchObject({
      code: 'surface_gone',
    });
    expect(slack.workspace.ofBot('C1')).toEqual([]);
    await slack.close();
  });

  it('is removed when Slack lets us, and only then is the thread told as gone', async () => {
    const clock = createFakeClock();
    const slack = await setUpThread({ deps: { clock } });
    slack.workspace.deleteMessage(slack.root);
    slack.workspace.fault('chat.delete', { kind: 'rate_limited', retryAfterSeconds: 20 });
    slack.workspace.fault('chat.delete', { kind: 'status', status: 503 });
    const posting = Promise.allSettled([slack.surface.post(markdown('late'), key)]);
    const asked = (): number => slack.callsOf('chat.delete').length;
    const waits = (): number =>
      slack.log.lines.filter((line) => line.event === 'slack_stray_waiting').length;
    await slack.workspace.until(() => waits() === 1);
    await clock.advance(19_999);
    expect(asked()).toBe(1);
    await clock.advance(1);
    await slack.workspace.until(() => waits() === 2);
    await clock.advance(2_000);
    expect(await posting).toMatchObject([{ reason: { code: 'surface_gone' } }]);
    expect(asked()).toBe(3);
    expect(slack.workspace.ofBot('C1')).toEqual([]);
    await slack.close();
  });

  it('is given up after five tries, and the log says so', async () => {
    const clock = createFakeClock();
    const slack = await setUpThread({ deps: { clock } });
    slack.workspace.deleteMessage(slack.root);
    slack.workspace.fault('chat.delete', { kind: 'status', status: 503 }, { times: 50 });
    const posting = Promise.allSettled([slack.surface.post(markdown('late'), key)]);
    for (const [index, waitMs] of [1_000, 2_000, 4_000, 8_000].entries()) {
      await slack.workspace.until(
        () =>
          slack.log.lines.filter((line) => line.event === 'slack_stray_waiting').length ===
          index + 1,
      );
      await clock.advance(waitMs);
    }
    expect(await posting).toMatchObject([{ reason: { code: 'surface_gone' } }]);
    expect(slack.callsOf('chat.delete')).toHaveLength(5);
    expect(slack.log.lines.filter((line) => line.event === 'slack_stray_left')).toHaveLength(1);
    await slack.close();
  });

  it('does not hold up the stop', async () => {
    const slack = await setUpThread({ deps: { clock: createFakeClock() } });
    slack.workspace.deleteMessage(slack.root);
    slack.workspace.fault('chat.delete', { kind: 'rate_limited', retryAfterSeconds: 600 });
    const posting = Promise.allSettled([slack.surface.post(markdown('late'), key)]);
    await slack.workspace.until(() =>
      slack.log.lines.some((line) => line.event === 'slack_stray_waiting'),
    );
    await slack.adapter.stop();
    expect(await posting).toMatchObject([{ reason: { code: 'surface_gone' } }]);
    await slack.close();
  });
});
