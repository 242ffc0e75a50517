/** What people do: they talk, edit, delete, click, choose, fill forms and give commands. */

import { z } from 'zod';
import { type Control, rowsOf } from './checks.ts';
import {
  type Channel,
  findMessage,
  isThread,
  type Json,
  kinds,
  type Model,
  type OpenInteraction,
  type StoredFile,
  type StoredMessage,
} from './model.ts';
import { directChannel } from './routes-app.ts';
import { openThread } from './routes-messages.ts';
import { channelWire, memberWire, messageWire, userWire } from './wire.ts';

export interface SayOptions {
  readonly replyTo?: string;
  readonly files?: readonly StoredFile[];
  /** Message type; 0 is an ordinary one, 6 a pin, 18 a made thread. */
  readonly type?: number;
}

export interface People {
  /** In a channel, a thread or a direct channel; gives the message's id. */
  say(userId: string, channelId: string, text: string, options?: SayOptions): string;
  /** To the bot alone. */
  sayDirect(
    userId: string,
    text: string,
  ): { readonly channelId: string; readonly messageId: string };
  sayByWebhook(channelId: string, name: string, text: string): string;
  editMessage(messageId: string, text: string): void;
  /** Discord finds a preview: an update that is no edit. */
  resolvePreview(messageId: string): void;
  deleteMessage(messageId: string): void;
  /** Several at once, as a moderator does. */
  deleteMessages(messageIds: readonly string[]): void;
  /** The same message is delivered again. */
  redeliver(messageId: string): void;
  /** A person makes a thread from a message; gives its id, which is the message's. */
  startThread(messageId: string, name: string): string;
  /** A forum post; gives the id of the thread, which is its first message's too. */
  startPost(userId: string, forumId: string, title: string, text: string): string;
  /** Puts an emoji on a message. */
  react(userId: string, messageId: string, emoji: string): void;
  /** Gives the interaction's id. */
  click(userId: string, messageId: string, label: string): string;
  /** The same button, held: a later press is the click of somebody whose view is older. */
  reach(userId: string, messageId: string, label: string): () => string;
  select(userId: string, messageId: string, labels: readonly string[]): string;
  /** Fills the form that is open for the person. */
  submitForm(userId: string, text: string): string;
  /** `/deckhand <text>`: the first word is the subcommand. */
  slash(userId: string, channelId: string, text: string): string;
  /** Begins to write a slash command; what Discord then offers stands in `model.choices`. */
  typeSlash(userId: string, channelId: string, text: string): string;
}

export function createPeople(deps: {
  readonly model: Model;
  readonly baseUrl: () => string;
  readonly announce: (type: string, message: StoredMessage) => void;
  readonly dispatch: (type: string, event: Json) => void;
}): People {
  const { model, announce, dispatch } = deps;

  const channelNamed = (id: string): Channel => {
    const channel = model.channels.get(id);
    if (channel === undefined) throw new Error(`There is no channel ${id}.`);
    return channel;
  };
  const messageNamed = (id: string): StoredMessage => {
    const message = findMessage(model, id);
    if (message === undefined) throw new Error(`There is no message ${id}.`);
    return message;
  };

  const add = (
    authorId: string,
    channelId: string,
    text: string,
    options: SayOptions & {
      readonly id?: string;
      readonly webhook?: StoredMessage['webhook'];
    } = {},
  ): StoredMessage => {
    const message: StoredMessage = {
      id: options.id ?? model.nextId(),
      channelId: channelNamed(channelId).id,
      authorId,
      type: options.type ?? (options.replyTo === undefined ? 0 : 19),
      createdAt: Date.now(),
      content: text.trim(),
      components: [],
      flags: 0,
      allowedMentions: null,
      editedAt: null,
      isDeleted: false,
      nonce: null,
      replyTo: options.replyTo ?? null,
      files: options.files ?? [],
      webhook: options.webhook ?? null,
      reactions: new Map(),
    };
    model.messages.push(message);
    return message;
  };

  const deletion = (message: StoredMessage): Json => {
    const { guildId } = channelNamed(message.channelId);
    return { channel_id: message.channelId, ...(guildId === null ? {} : { guild_id: guildId }) };
  };

  const interact = (
    userId: string,
    channelId: string,
    type: number,
    data: Json,
    messageId: string | null,
  ): string => {
    const channel = channelNamed(channelId);
    const user = model.users.get(userId);
    if (user === undefined) throw new Error(`There is no user ${userId}.`);
    const guild = channel.guildId === null ? undefined : model.guilds.get(channel.guildId);
    const member = guild?.members.get(userId) ?? { nick: null, roles: [] };
    const interaction: OpenInteraction = {
      id: model.nextId(),
      token: `token-${model.nextId()}`,
      type,
      userId,
      messageId,
      at: Date.now(),
      answered: null,
      answeredAfterMs: null,
      original: null,
    };
    model.interactions.set(interaction.token, interaction);
    const wire = { asEvent: false, baseUrl: deps.baseUrl() };
    dispatch('INTERACTION_CREATE', {
      id: interaction.id,
      application_id: model.bot.applicationId,
      type,
      token: interaction.token,
      version: 1,
      channel_id: channelId,
      channel: channelWire(channel),
      locale: 'en-US',
      entitlements: [],
      authorizing_integration_owners: {},
      attachment_size_limit: 10_485_760,
      app_permissions: '0',
      data,
      ...(guild === undefined
        ? { user: userWire(user) }
        : {
            guild_id: guild.id,
            member: { ...memberWire(member), user: userWire(user), permissions: '0' },
          }),
      ...(messageId === null ? {} : { message: messageWire(model, messageNamed(messageId), wire) }),
    });
    return interaction.id;
  };

  const controlNamed = (
    message: StoredMessage,
    what: string,
    fits: (control: Control) => boolean,
  ): Control => {
    const found = rowsOf(message.components)
      .flatMap((row) => row.components)
      .find(fits);
    if (found === undefined) throw new Error(`The message has no ${what}.`);
    return found;
  };

  const reach = (userId: string, messageId: string, label: string): (() => string) => {
    const message = messageNamed(messageId);
    const button = controlNamed(
      message,
      `button "${label}"`,
      (control) => control.type === 2 && control.label === label,
    );
    const data = { component_type: 2, custom_id: button.custom_id };
    return () => interact(userId, message.channelId, 3, data, messageId);
  };

  return {
    say: (userId, channelId, text, options) => {
      const message = add(userId, channelId, text, options);
      const channel = channelNamed(channelId);
      if (isThread(channel)) channel.isArchived = false;
      announce('MESSAGE_CREATE', message);
      return message.id;
    },
    sayDirect: (userId, text) => {
      const channelId = directChannel(model, userId);
      const message = add(userId, channelId, text);
      announce('MESSAGE_CREATE', message);
      return { channelId, messageId: message.id };
    },
    sayByWebhook: (channelId, name, text) => {
      const webhook = { id: model.nextId(), name };
      const message = add(webhook.id, channelId, text, { webhook });
      announce('MESSAGE_CREATE', message);
      return message.id;
    },
    editMessage: (messageId, text) => {
      const message = messageNamed(messageId);
      message.content = text.trim();
      message.editedAt = Math.max(Date.now(), (message.editedAt ?? 0) + 1);
      announce('MESSAGE_UPDATE', message);
    },
    resolvePreview: (messageId) => announce('MESSAGE_UPDATE', messageNamed(messageId)),
    deleteMessage: (messageId) => {
      const message = messageNamed(messageId);
      message.isDeleted = true;
      dispatch('MESSAGE_DELETE', { id: messageId, ...deletion(message) });
    },
    deleteMessages: (messageIds) => {
      const messages = messageIds.map(messageNamed);
      for (const message of messages) message.isDeleted = true;
      const [first] = messages;
      if (first !== undefined) {
        dispatch('MESSAGE_DELETE_BULK', { ids: messageIds, ...deletion(first) });
      }
    },
    redeliver: (messageId) => announce('MESSAGE_CREATE', messageNamed(messageId)),
    startThread: (messageId, name) => {
      const message = messageNamed(messageId);
      return openThread(deps, channelNamed(message.channelId), message, name).id;
    },
    startPost: (userId, forumId, title, text) => {
      const forum = channelNamed(forumId);
      const id = model.nextId();
      const thread: Channel = {
        ...forum,
        id,
        type: kinds.publicThread,
        name: title,
        parentId: forum.id,
        denied: new Set(),
      };
      model.channels.set(id, thread);
      const message = add(userId, id, text, { id });
      dispatch('THREAD_CREATE', { ...channelWire(thread), newly_created: true });
      announce('MESSAGE_CREATE', message);
      return id;
    },
    react: (userId, messageId, emoji) => {
      const { channelId, authorId } = messageNamed(messageId);
      const { guildId } = channelNamed(channelId);
      const user = model.users.get(userId);
      if (user === undefined) throw new Error(`There is no user ${userId}.`);
      const guild = guildId === null ? undefined : model.guilds.get(guildId);
      const member = guild?.members.get(userId) ?? { nick: null, roles: [] };
      dispatch('MESSAGE_REACTION_ADD', {
        user_id: userId,
        channel_id: channelId,
        message_id: messageId,
        message_author_id: authorId,
        emoji: { id: null, name: emoji },
        burst: false,
        type: 0,
        ...(guild === undefined
          ? {}
          : { guild_id: guild.id, member: { ...memberWire(member), user: userWire(user) } }),
      });
    },
    click: (userId, messageId, label) => reach(userId, messageId, label)(),
    reach,
    select: (userId, messageId, labels) => {
      const message = messageNamed(messageId);
      const select = controlNamed(message, 'select', (control) => control.type === 3);
      const options = select.type === 3 ? select.options : [];
      const values = labels.map((label) => {
        const option = options.find((one) => one.label === label);
        if (option === undefined) throw new Error(`There is no option "${label}".`);
        return option.value;
      });
      if (
        select.type === 3 &&
        (values.length < select.min_values || values.length > select.max_values)
      ) {
        throw new Error('The menu does not take so many.');
      }
      const data = { component_type: 3, custom_id: select.custom_id, values };
      return interact(userId, message.channelId, 3, data, messageId);
    },
    submitForm: (userId, text) => {
      const index = model.forms.findIndex((form) => form.userId === userId);
      const [open] = index === -1 ? [] : model.forms.splice(index, 1);
      if (open === undefined) throw new Error('No form is open.');
      const form = openFormSchema.parse(open.form);
      const data = {
        custom_id: form.custom_id,
        components: form.components.map((label) => ({
          type: 18,
          id: 1,
          component: { type: 4, id: 2, custom_id: label.component.custom_id, value: text },
        })),
      };
      const { channelId } = messageNamed(open.messageId);
      return interact(userId, channelId, 5, data, open.messageId);
    },
    slash: (userId, channelId, text) =>
      interact(userId, channelId, 2, slashData(text, false), null),
    typeSlash: (userId, channelId, text) =>
      interact(userId, channelId, 4, slashData(text, true), null),
  };
}

function slashData(text: string, isTyping: boolean): Json {
  const [name = '', ...rest] = text.trim().split(/\s+/u);
  const args = rest.join(' ');
  const option = { name: 'args', type: 3, value: args, ...(isTyping ? { focused: true } : {}) };
  return {
    id: '1',
    name: 'deckhand',
    type: 1,
    options: [{ name, type: 1, options: args === '' && !isTyping ? [] : [option] }],
  };
}

const openFormSchema = z.object({
  custom_id: z.string(),
  components: z.array(z.object({ component: z.object({ custom_id: z.string() }) })),
});
