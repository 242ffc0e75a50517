import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/storage/memory.ts';
import { createWakes } from '../../src/storage/wakes.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createKeptLog } from '../support/log.ts';

const setUp = () =>
  createWakes(createMemoryStore({ clock: createFakeClock(), log: createKeptLog() }));

describe('wakes', () => {
  it('are due at their time and not 1 ms before, longest waiting first', async () => {
    const wakes = setUp();
    await wakes.schedule('slack:T1:C1:2', 2_000);
    await wakes.schedule('slack:T1:C1:1', 1_000);
    expect(await wakes.due(999, 10)).toEqual([]);
    expect(await wakes.due(1_999, 10)).toEqual([
      { conversationKey: 'slack:T1:C1:1', dueMs: 1_000 },
    ]);
    expect(await wakes.due(2_000, 10)).toEqual([
      { conversationKey: 'slack:T1:C1:1', dueMs: 1_000 },
      { conversationKey: 'slack:T1:C1:2', dueMs: 2_000 },
    ]);
    expect(await wakes.due(2_000, 1)).toHaveLength(1);
  });

  it('are moved by scheduling again, and stay due until settled', async () => {
    const wakes = setUp();
    await wakes.schedule('a', 1_000);
    await wakes.schedule('a', 5_000);
    expect(await wakes.due(4_999, 10)).toEqual([]);
    expect(await wakes.due(5_000, 10)).toEqual([{ conversationKey: 'a', dueMs: 5_000 }]);
    expect(await wakes.due(5_000, 10)).toHaveLength(1);
    await wakes.settle('a', 5_001, null);
    await wakes.settle('a', 5_001, null);
    expect(await wakes.due(9_000, 10)).toEqual([]);
  });
});
