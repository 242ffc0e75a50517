/** The log: one JSON line an event, readable on a terminal, never a secret. */

import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/app/log.ts';
import { createRedactor } from '../../src/base/redaction.ts';

async function setUp(isTerminal: boolean, level = 'info') {
  const lines: string[] = [];
  const redactor = createRedactor([{ name: 'DISCORD_TOKEN', value: 'plain-secret-value' }]);
  const log = await createLog({ level, isTerminal, redactor, write: (line) => lines.push(line) });
  return { log, lines };
}

describe('the log', () => {
  it('is one JSON line an event', async () => {
    const { log, lines } = await setUp(false);
    log.with({ adapter: 'slack' }).info('connected', { team: 'T1' });
    log.debug('hidden');
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      { level: 30, time: expect.any(String), adapter: 'slack', team: 'T1', event: 'connected' },
    ]);
  });

  it('is readable on a terminal', async () => {
    const { log, lines } = await setUp(true);
    log.warn('port_taken', { port: 3000 });
    expect(lines.join('')).toContain('port_taken');
    expect(lines.join('')).not.toContain('{"level"');
  });

  it.each([true, false])('shows no secret (terminal: %s)', async (isTerminal) => {
    const { log, lines } = await setUp(isTerminal);
    log.error('failed', {
      message: 'refused plain-secret-value and xoxb-123456789012-abcdefghij',
      cause: { at: 'plain-secret-value' },
    });
    expect(lines.join('')).not.toContain('plain-secret');
    expect(lines.join('')).not.toContain('xoxb-123456789012');
    expect(lines.join('')).toContain('[redacted: DISCORD_TOKEN]');
  });
});
