/** The SDK is heavy (trap 26): it is loaded when the platform is started, not when it is named. */

import { createRequire } from 'node:module';
import { expect, it } from 'vitest';

it('loads discord.js with the start', async () => {
  const { cache } = createRequire(import.meta.url);
  const isLoaded = (): boolean =>
    Object.keys(cache).some((file) => file.includes('/node_modules/discord.js/'));
  const { setUpDiscord } = await import('./set-up.ts');
  const discord = await setUpDiscord({ start: false });
  expect(isLoaded()).toBe(false);
  await discord.adapter.start(discord.onEvent);
  expect(isLoaded()).toBe(true);
  await discord.close();
});
