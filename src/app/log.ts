/** The log: pino, one JSON line an event; pretty on a terminal; secrets taken out of every line. */

import { Writable } from 'node:stream';
import pino from 'pino';
import type { Facts, Log } from '../base/log.ts';
import type { Redactor } from '../base/redaction.ts';

export interface LogOptions {
  readonly level: string;
  readonly isTerminal: boolean;
  readonly redactor: Redactor;
  readonly write: (line: string) => void;
}

export async function createLog(options: LogOptions): Promise<Log> {
  const { redactor } = options;
  const destination = { write: (line: string): void => options.write(redactor.redact(line)) };
  const level = { level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (!options.isTerminal) return logOf(pino({ ...level, messageKey: 'event' }, destination));
  const { PinoPretty } = await import('pino-pretty');
  const terminal = new Writable({
    write: (piece: Buffer, _encoding, done) => {
      destination.write(piece.toString());
      done();
    },
  });
  const pretty = PinoPretty({
    colorize: true,
    destination: terminal,
    messageKey: 'event',
    sync: true,
  });
  return logOf(pino({ ...level, messageKey: 'event' }, pretty));
}

function logOf(logger: pino.Logger): Log {
  return {
    debug: (event, facts) => logger.debug(facts ?? {}, event),
    info: (event, facts) => logger.info(facts ?? {}, event),
    warn: (event, facts) => logger.warn(facts ?? {}, event),
    error: (event, facts) => logger.error(facts ?? {}, event),
    with: (facts: Facts) => logOf(logger.child(facts)),
  };
}
