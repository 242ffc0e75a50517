#!/usr/bin/env node

/** The command line: `deckhand start`, `deckhand doctor`, `deckhand manifest slack|discord`. */

import { runDoctor } from '../app/doctor.ts';
import { manifestText } from '../app/manifest.ts';
import { startFailure, startProcess } from '../app/process.ts';

const usage = `deckhand start                     starts the bot
deckhand doctor                    checks settings, store, tokens, keys and models
deckhand manifest slack            prints the app manifest to paste at Slack
deckhand manifest discord APP_ID   prints the address that invites the bot to a server
`;

async function main([command = 'start', ...rest]: readonly string[]): Promise<number | undefined> {
  switch (command) {
    case 'start':
      await startProcess({
        folder: process.cwd(),
        isTerminal: process.stdout.isTTY === true,
        pid: process.pid,
        write: (text) => {
          process.stdout.write(text);
        },
        onSignal: (name, run) => {
          process.on(name, run);
        },
        onStrayFailure: (run) => {
          process.on('unhandledRejection', run);
        },
        exit: (code) => process.exit(code),
      });
      return undefined;
    case 'doctor':
      return runDoctor({
        folder: process.cwd(),
        nodeVersion: process.version,
        write: (text) => {
          process.stdout.write(text);
        },
      });
    case 'manifest':
      process.stdout.write(await manifestText(process.cwd(), rest));
      return 0;
    default:
      if (command !== 'help' && command !== '--help')
        process.stderr.write(`There is no command ${command}.\n`);
      process.stdout.write(usage);
      return command === 'help' || command === '--help' ? 0 : 2;
  }
}

main(process.argv.slice(2)).then(
  (code) => {
    // What hangs (a store that does not close) must not hold the command.
    if (code !== undefined) process.stdout.write('', () => process.exit(code));
  },
  (thrown: unknown) => {
    const error = startFailure(thrown);
    const detail =
      error.code === 'internal' && error.cause instanceof Error
        ? `\n${error.cause.stack ?? ''}`
        : '';
    process.stderr.write(`${error.message}${detail}\n`);
    process.exit(1);
  },
);
