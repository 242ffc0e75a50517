/**
 * The SDK's lines in our log. Its debug lines hold bodies and tokens, so they are not even built
 * into ours; the level stays at info.
 */

import type { Logger, LogLevel } from '@slack/bolt';
import type { Log } from '../../src/base/log.ts';

const mostLineChars = 300;

export function sdkLogger(log: Log, info: LogLevel): Logger {
  const line = (parts: readonly unknown[]): { readonly line: string } => ({
    line: parts
      .map((part) => (part instanceof Error ? `${part.name}: ${part.message}` : String(part)))
      .join(' ')
      .slice(0, mostLineChars),
  });
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: (...parts) => log.warn('slack_sdk_warned', line(parts)),
    error: (...parts) => log.warn('slack_sdk_failed', line(parts)),
    setLevel: () => undefined,
    getLevel: () => info,
    setName: () => undefined,
  };
}
