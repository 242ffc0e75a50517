/** Events that Slack keeps back are read back. */

import { describe, expect, it } from 'vitest';
import { createRateLimited } from '../../../adapters/slack/rate-limited.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createKeptLog } from '../../support/log.ts';

function setUp() {
  const clock = createFakeClock();
  const gaps: number[] = [];
  const sinces: number[] = [];
  const start = clock.now();
  const limited = createRateLimited({
    clock,
    log: createKeptLog(),
    onGap: (since) => {
      gaps.push(clock.now() - start);
      sinces.push(since - start);
    },
  });
  const bodyOf = (minuteMs: number) => ({
    type: 'app_rate_limited',
    minute_rate_limited: minuteMs / 1000,
  });
  return { clock, gaps, sinces, start, limited, bodyOf };
}

describe('events that Slack keeps back', () => {
  it('are a gap at once, and again when their minute is over', async () => {
    const { clock, gaps, start, limited, bodyOf } = setUp();
    limited.received(bodyOf(start - 20_000));
    expect(gaps).toEqual([0]);
    await clock.advance(39_999);
    expect(gaps).toEqual([0]);
    await clock.advance(1);
    expect(gaps).toEqual([0, 40_000]);
    expect(clock.pending).toBe(0);
  });

  it('in minute after minute end with the last one', async () => {
    const { clock, gaps, sinces, start, limited, bodyOf } = setUp();
    limited.received(bodyOf(start));
    await clock.advance(59_000);
    limited.received(bodyOf(start + 59_000));
    await clock.advance(120_000);
    expect(gaps).toEqual([0, 59_000, 119_000]);
    // What came through meanwhile hides nothing of what was dropped.
    expect(sinces).toEqual([0, 0, 59_000]);
  });

  it.each([
    ['a minute that is over', { minute_rate_limited: 1 }, [0]],
    ['no minute', {}, [0, 60_000]],
    ['a minute that is no number', { minute_rate_limited: 'now' }, [0, 60_000]],
    ['no body', null, [0, 60_000]],
  ])('are read back with %s', async (_, body, expected) => {
    const { clock, gaps, limited } = setUp();
    limited.received(body);
    await clock.advance(120_000);
    expect(gaps).toEqual(expected);
  });

  it('are not read back after the stop', async () => {
    const { clock, gaps, limited } = setUp();
    limited.received({});
    limited.close();
    await clock.advance(120_000);
    expect(gaps).toEqual([0]);
  });
});
