/** The local page end to end: the real process, spoken to as a browser does. */

import { createPageClient } from '../support/page-client.ts';
import { freePort } from '../support/servers.ts';
import { describePlatform, type PlatformStage } from './platform-suite.ts';

/** The page has one person: whoever speaks is "You". */
async function createPageStage(): Promise<PlatformStage> {
  const port = await freePort();
  const page = createPageClient(`http://127.0.0.1:${port}/`);
  const act = async (path: string, body: object): Promise<void> => {
    const status = await page.post(path, body);
    if (status !== 200) throw new Error(`${path} was refused with ${status}`);
  };
  return {
    environment: { PORT: String(port) },
    say: async (_person, text, { thread, mention } = {}) => {
      const id = await page.say(thread ?? null, mention ? `@deckhand ${text}` : text);
      if (id === '') throw new Error(`"${text}" was not taken`);
      return id;
    },
    edit: (id, text) => act('/api/edits', { id, text }),
    remove: (id) => act('/api/removals', { id }),
    answers: (thread) => page.answers(thread),
    press: async (_person, thread, label) => {
      const buttons = (await page.answers(thread)).join('\n').match(/\[[^\]\n]+\]/gu) ?? [];
      const found = buttons.findLast((button) => button.startsWith(`[${label}`));
      if (!found) throw new Error(`no button ${label}`);
      await page.press(thread, found.slice(1, -1));
    },
    privateLines: () => page.privateLines(),
    close: async () => {},
  };
}

describePlatform('The page', createPageStage, {
  limits: false,
  connection: false,
  livesInProcess: true,
});
