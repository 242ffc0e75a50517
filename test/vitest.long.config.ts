import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.long.test.ts'],
    exclude: ['node_modules/**'],
    globalSetup: 'test/support/program.ts',
    testTimeout: 180_000,
    pool: 'forks',
    maxWorkers: 2,
    // The counts that .ci/run adds up.
    ...(process.env['CI'] === 'true'
      ? { reporters: ['default', ['json', { outputFile: 'artifacts/test-long.json' }]] }
      : {}),
  },
});
