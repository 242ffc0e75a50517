/** Slack end to end: the real process and the real client library against an emulated workspace. */

import { createSlackWorkspace } from '../emulators/slack/workspace.ts';
import {
  describePlatform,
  describeStrangers,
  type Person,
  type PlatformStage,
} from './platform-suite.ts';

const users: Readonly<Record<Person, string>> = {
  anna: 'U_ANNA',
  ben: 'U_BEN',
  guest: 'U_GUEST',
  bot: 'U_OTHERBOT',
};

async function createSlackStage(): Promise<PlatformStage> {
  const workspace = await createSlackWorkspace({
    ackTimeoutMs: 2500,
    retryDelaysMs: [100, 500, 2000],
  });
  workspace.addUser({ id: 'U_ANNA', name: 'Anna' });
  workspace.addUser({ id: 'U_BEN', name: 'Ben' });
  workspace.addUser({ id: 'U_GUEST', name: 'Gus', isGuest: true });
  workspace.addUser({ id: 'U_OTHERBOT', name: 'Robo', isBot: true });
  workspace.addChannel({
    id: 'C1',
    name: 'ops',
    members: ['U_ANNA', 'U_BEN', 'U_GUEST', 'U_OTHERBOT'],
  });
  return {
    environment: {
      SLACK_BOT_TOKEN: workspace.botToken,
      SLACK_APP_TOKEN: workspace.appToken,
      SLACK_API_URL: workspace.apiUrl,
    },
    say: async (person, text, { thread, mention } = {}) =>
      workspace.say(
        users[person],
        'C1',
        mention ? `${workspace.mention} ${text}` : text,
        thread === undefined ? {} : { thread },
      ),
    edit: async (id, text) => workspace.editMessage(id, text),
    remove: async (id) => workspace.deleteMessage(id),
    answers: async (thread) =>
      workspace
        .thread('C1', thread)
        .filter(({ isBot, author }) => isBot && author !== 'Robo')
        .map(({ text }) => text),
    press: async (person, thread, label) => {
      const card = workspace
        .thread('C1', thread)
        .findLast(({ text }) => text.includes(`[${label}`));
      if (!card) throw new Error(`no button ${label}`);
      const full = card.text
        .match(/\[([^\]]+)\]/gu)
        ?.find((button) => button.startsWith(`[${label}`));
      workspace.click(users[person], card.ts, full?.slice(1, -1) ?? label);
    },
    privateLines: async (person) => workspace.privateLines(users[person]),
    redeliver: async (id, times) => workspace.redeliver(id, times),
    limitEdit: (nth, seconds) =>
      workspace.fault('chat.update', { kind: 'rate_limited', retryAfterSeconds: seconds }, { nth }),
    drop: () => workspace.sockets.drop(),
    close: () => workspace.close(),
  };
}

describePlatform('Slack', createSlackStage, { limits: true, connection: true });
describeStrangers('Slack', createSlackStage, { told: 'cannot work for guests' });
