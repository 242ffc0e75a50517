/** The local page: a small chat on this machine, an adapter like the others. */

import type { Clock } from '../../src/base/clock.ts';
import type { NewId } from '../../src/base/ids.ts';
import { errorFacts, type Log } from '../../src/base/log.ts';
import type { Author } from '../../src/messages/people.ts';
import type { Adapter, OnEvent } from '../../src/surface/adapter.ts';
import type { CommandSummary } from '../../src/surface/command.ts';
import type { InboundMessage } from '../../src/surface/inbound.ts';
import { createRoomFiles } from './files.ts';
import { createGuard } from './guard.ts';
import { createInbox, isCommand } from './inbox.ts';
import { createRoom, type WebArchive } from './room.ts';
import { createRoutes } from './routes.ts';
import type { WebSettings } from './settings.ts';
import { createWebSurface, webCapabilities } from './surface.ts';

export type { WebArchive } from './room.ts';

export interface WebAdapterDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  readonly archive: WebArchive;
  readonly commands: () => readonly CommandSummary[];
  readonly botName: string;
}

/** The page's person; decides on the page only. */
export const localPerson: Author = {
  id: 'web:local',
  name: 'You',
  isBot: false,
  standing: 'member',
  roles: [],
};

export function createWebAdapter(deps: WebAdapterDeps, settings: WebSettings): Adapter {
  const log = deps.log.with({ adapter: 'web' });
  const room = createRoom(deps);
  const files = createRoomFiles();
  const handle = deps.botName.replace(/\s+/gu, '').toLowerCase();
  let onEvent: OnEvent | null = null;
  const inbox = createInbox({
    room,
    clock: deps.clock,
    newId: deps.newId,
    handle,
    person: localPerson,
    onEvent: (event) => {
      if (onEvent === null) throw new Error('the page is not started');
      return onEvent(event);
    },
    background: (work) => {
      work().catch((thrown: unknown) => log.error('click_not_stored', errorFacts(thrown)));
    },
  });
  const routes = createRoutes({
    room,
    files,
    inbox,
    guard: createGuard(settings),
    facts: () => ({ botName: deps.botName, handle, commands: deps.commands() }),
  });

  return {
    name: 'web',
    capabilities: webCapabilities,
    routes: routes.list,
    start: async (take) => {
      await room.open();
      onEvent = take;
    },
    stop: async () => {
      onEvent = null;
      routes.close();
    },
    state: () =>
      onEvent === null
        ? { connected: false, detail: 'the page is not served' }
        : { connected: true, detail: `Write @${handle} hello there.` },
    spaces: () => [{ id: 'local', name: 'Local page' }],
    surfaceOf: (conversation) =>
      createWebSurface(
        {
          ...{ room, files, newId: deps.newId, botName: deps.botName },
          personName: localPerson.name,
        },
        conversation,
      ),
    messagesAfter: async ({ channel, thread }, afterMessageId, most) => {
      // By their order: two may be said in the same millisecond.
      const all = room.messages();
      const known = all.findIndex(({ id }) => id === afterMessageId);
      if (known < 0) return [];
      const missed: InboundMessage[] = all
        .slice(known + 1)
        .filter((message) => message.author === 'person' && message.channel === channel)
        .filter((message) => message.thread === thread && !isCommand(message))
        .map((message) => inbox.inboundOf(message));
      return missed.slice(0, most);
    },
  };
}
