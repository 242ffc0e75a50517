import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.long.test.ts', 'node_modules/**'],
    testTimeout: 20_000,
    pool: 'forks',
    maxWorkers: 2,
    // The counts that .ci/run adds up.
    ...(process.env['CI'] === 'true'
      ? { reporters: ['default', ['json', { outputFile: 'artifacts/test.json' }]] }
      : {}),
  },
});
