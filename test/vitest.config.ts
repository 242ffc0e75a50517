import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const processes = 'test/scenarios/**/*.test.ts';
/** Looks at what its process has loaded. */
const fresh = 'test/adapters/discord/lazy.test.ts';
const never = ['test/**/*.long.test.ts', 'node_modules/**'];

/** Those that take longest begin: what is short fills the gaps at the end. */
class ProcessesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isFirst = ({ project }: TestSpecification): boolean => project.name === 'processes';
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))];
  }
}

/** Then vitest's own order is wanted: `--sequence.shuffle.files --sequence.seed=1`. */
const isShuffled = process.argv.some((word) => word.startsWith('--sequence.shuffle'));

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    testTimeout: 20_000,
    pool: 'forks',
    maxWorkers: 2,
    ...(isShuffled ? {} : { sequence: { sequencer: ProcessesFirst } }),
    projects: [
      {
        extends: true,
        test: {
          name: 'processes',
          include: [processes],
          exclude: never,
          globalSetup: 'test/support/program.ts',
        },
      },
      { extends: true, test: { name: 'fresh', include: [fresh] } },
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: [processes, fresh, ...never],
          // Files share what they import: loading it took as long as the tests. They keep no state
          // outside of their tests, which a shuffled order of files shows.
          isolate: false,
        },
      },
    ],
    // The counts that .ci/run adds up.
    ...(process.env['CI'] === 'true'
      ? { reporters: ['default', ['json', { outputFile: 'artifacts/test.json' }]] }
      : {}),
  },
});
