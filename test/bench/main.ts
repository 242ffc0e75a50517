/**
 * `npm run bench -- NAME`: measures, and prints a table in Markdown. Exits with 1 when a goal is
 * missed, so that it can stand in a pipeline.
 */

import { benchProviders } from './providers.ts';
import { benchReply } from './reply.ts';
import { benchTools } from './tools.ts';

/** Prints what was measured; true when every goal is met. */
type Bench = (print: (line: string) => void) => Promise<boolean>;

const benches: Readonly<Record<string, Bench>> = {
  providers: benchProviders,
  reply: benchReply,
  tools: benchTools,
};

const [name = ''] = process.argv.slice(2);
const bench = benches[name];
if (bench === undefined) {
  process.stderr.write(`There are these benches: ${Object.keys(benches).join(', ')}.\n`);
  process.exitCode = 2;
} else {
  const isMet = await bench((line) => process.stdout.write(`${line}\n`));
  process.exitCode = isMet ? 0 : 1;
}
