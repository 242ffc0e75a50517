import { defineConfig } from 'vitest/config';

const processes = 'test/scenarios/**/*.test.ts';
/** Looks at what its process has loaded. */
const fresh = 'test/adapters/discord/lazy.test.ts';
const never = ['test/**/*.long.test.ts', 'node_modules/**'];

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    testTimeout: 20_000,
    pool: 'forks',
    maxWorkers: 2,
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
          // outside of their tests, which a shuffled order shows (`--sequence.shuffle`).
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
