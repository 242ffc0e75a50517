/** Discord keeps the contract of adapters and surfaces. */

import type { Conversation } from '../../../src/messages/conversation.ts';
import { surfaceContract } from '../../contract/surface.ts';
import {
  contractRetryAfterSeconds,
  type Said,
  type SurfaceHarness,
} from '../../contract/surface-harness.ts';
import { anna, bo, ops, setUpDiscord } from './set-up.ts';

surfaceContract('Discord', openHarness);

const routes = {
  post: 'POST /channels/:id/messages',
  edit: 'PATCH /channels/:id/messages/:id',
  upload: 'POST /channels/:id/messages',
  react: 'PUT /channels/:id/messages/:id/reactions/:emoji/@me',
} as const;

async function openHarness(): Promise<SurfaceHarness> {
  const discord = await setUpDiscord();
  const { guild, adapter } = discord;

  const said = (id: string, inside?: Conversation): Said => ({
    messageId: id,
    conversation: inside ?? discord.conversation(ops, id),
  });
  const channelOf = (inside?: Conversation): string => inside?.thread ?? ops;
  const isDirect = ({ space }: Conversation): boolean => space === 'direct';

  return {
    adapter,
    events: discord.events,
    failStoring: (on) => discord.failStoring(on),
    person: { id: `discord:${anna}`, name: 'Anna' },
    other: { id: `discord:${bo}`, name: 'Bo Li' },
    say: (text, options = {}) => {
      const { mention = false, in: inside, file } = options;
      const files = file === undefined ? [] : [guild.addFile(file)];
      const words = mention ? `${guild.mention} ${text}` : text;
      return Promise.resolve(said(guild.say(anna, channelOf(inside), words, { files }), inside));
    },
    sayDirect: (text) => {
      const { channelId, messageId } = guild.sayDirect(anna, text);
      const conversation = {
        ...{ adapter: 'discord', space: 'direct', channel: channelId, thread: 'main' },
      };
      return Promise.resolve({ messageId, conversation });
    },
    sayToPerson: (text, inside) =>
      Promise.resolve(said(guild.say(bo, channelOf(inside), `<@${anna}> ${text}`), inside)),
    edit: (id, text) => Promise.resolve(guild.editMessage(id, text)),
    remove: (id) => Promise.resolve(guild.deleteMessage(id)),
    redeliver: (id) => Promise.resolve(guild.redeliver(id)),
    click: (id, label) => {
      guild.click(anna, id, label);
      return Promise.resolve();
    },
    react: (id, emoji) => {
      guild.react(anna, id, emoji);
      return Promise.resolve();
    },
    choose: (id, labels) => {
      guild.select(anna, id, labels);
      return Promise.resolve();
    },
    fillForm: async (text) => {
      await guild.until(() => guild.model.forms.length > 0);
      guild.submitForm(anna, text);
    },
    shown: (conversation) =>
      Promise.resolve(
        guild
          .ofBot(isDirect(conversation) ? conversation.channel : conversation.thread)
          .map((message) => ({
            messageId: message.id,
            text: guild.drawn(message.id),
            notified: guild
              .notified(message.id)
              .map((id) => (/^\d/u.test(id) ? `discord:${id}` : 'everyone')),
            files: message.files.map(({ name, content }) => ({ name, content })),
          })),
      ),
    reactionsOn: (id) => {
      const found = guild.model.messages.find((message) => message.id === id);
      return Promise.resolve([...(found?.reactions.keys() ?? [])]);
    },
    leastRefusedFileBytes: 10 * 1024 * 1024 + 1,
    privateLines: () => Promise.resolve(guild.privateLines(anna)),
    breakNext: (call, how) => {
      switch (how) {
        case 'rate_limited':
          guild.fault(routes[call], {
            kind: 'rate_limited',
            retryAfterSeconds: contractRetryAfterSeconds,
          });
          return;
        case 'server_error':
          guild.fault(routes[call], { kind: 'status', status: 503 });
          return;
        case 'answer_lost':
          guild.fault(routes[call], { kind: 'answer_lost' });
          return;
        case 'uneditable':
          guild.fault(routes[call], { kind: 'refused', code: 30046 });
      }
    },
    close: () => discord.close(),
  };
}
