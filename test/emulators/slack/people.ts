/** What people do in the workspace, and the events and payloads it causes. */

import { checkedView, type KnownBlock, knownBlocks } from './blocks.ts';
import type { DeliveryDesk } from './delivery.ts';
import {
  findMessage,
  type Json,
  type Model,
  type SlackFile,
  type StoredMessage,
  wireMessage,
} from './model.ts';
import type { ResponseAddress } from './server.ts';

export interface People {
  /** Writes a message; its ts. The bot hears of it where it is a member. */
  say(
    user: string,
    channel: string,
    text: string,
    options?: {
      readonly thread?: string;
      readonly files?: readonly SlackFile[];
      readonly subtype?: string;
    },
  ): string;
  editMessage(ts: string, text: string): void;
  deleteMessage(ts: string): void;
  /** Slack adds a link preview: message_changed with the same text. */
  unfurl(ts: string): void;
  /** Delivers the events of a message again, as retries. */
  redeliver(ts: string, times: number): void;
  /** Which events a mention causes, and their order. */
  mentionsArriveAs(kinds: readonly ('message' | 'app_mention')[]): void;
  /** Sends an event as it is. */
  sendEvent(event: Json): void;
  /** Clicks a button, by its action id or its label. */
  click(user: string, ts: string, control: string): void;
  /** The same button, held: a later press is the click of somebody whose view is older. */
  reach(user: string, ts: string, control: string): () => void;
  /** Ticks boxes by their labels; each tick is a click of its own for Slack. */
  tick(user: string, ts: string, labels: readonly string[]): void;
  /** Delivers the last click again. */
  repeatClick(): void;
  submitForm(user: string, text: string): void;
  slash(user: string, channel: string, text: string): void;
  /** Puts an emoji on a message, by its name. */
  react(user: string, ts: string, name: string): void;
  /** Slack's own stop button over a working agent. */
  pressStop(user: string, channel: string, thread: string): void;
  announce(message: StoredMessage): void;
  announceEdit(message: StoredMessage, before: string): void;
  announceDeletion(message: StoredMessage): void;
}

export function createPeople(deps: {
  readonly model: Model;
  readonly desk: DeliveryDesk;
  readonly responses: Map<string, ResponseAddress>;
  readonly baseUrl: () => string;
  changed(): void;
}): People {
  const { model, desk } = deps;
  let mentionKinds: readonly ('message' | 'app_mention')[] = ['message', 'app_mention'];
  let lastClick: Json | null = null;
  const bodies = new Map<string, Json[]>();

  const bodyOf = (event: Json): Json => ({
    type: 'event_callback',
    team_id: model.team.id,
    context_team_id: model.team.id,
    api_app_id: model.bot.appId,
    event_id: model.nextId('Ev'),
    event_time: Math.floor(Date.now() / 1000),
    authorizations: [{ team_id: model.team.id, user_id: model.bot.userId, is_bot: true }],
    is_ext_shared_channel: false,
    event,
  });

  const sendEvent = (event: Json, ts?: string): void => {
    const body = bodyOf(event);
    if (ts !== undefined) bodies.set(ts, [...(bodies.get(ts) ?? []), body]);
    desk.send('events_api', body);
  };

  const channelFields = (id: string): Json => {
    const channel = model.channels.get(id);
    return { channel: id, channel_type: channel?.kind ?? 'channel' };
  };

  const botHears = (channelId: string): boolean =>
    model.channels.get(channelId)?.members.has(model.bot.userId) === true;

  const announce = (message: StoredMessage): void => {
    deps.changed();
    if (!botHears(message.channel)) return;
    const wire = wireMessage(model, message, deps.baseUrl());
    const isDirect = model.channels.get(message.channel)?.kind === 'im';
    const isMention =
      message.text.includes(`<@${model.bot.userId}>`) && !isDirect && !message.isOurs;
    for (const kind of isMention ? mentionKinds : (['message'] as const)) {
      const event =
        kind === 'message'
          ? { ...wire, ...channelFields(message.channel), event_ts: message.ts }
          : { ...wire, type: 'app_mention', channel: message.channel, event_ts: message.ts };
      sendEvent(event, message.ts);
    }
  };

  const announceEdit = (message: StoredMessage, before: string): void => {
    deps.changed();
    const eventTs = model.nextTs();
    sendEvent({
      type: 'message',
      subtype: 'message_changed',
      hidden: true,
      ...channelFields(message.channel),
      ts: eventTs,
      event_ts: eventTs,
      message: wireMessage(model, message, deps.baseUrl()),
      previous_message: { ...wireMessage(model, message, deps.baseUrl()), text: before },
    });
  };

  const announceDeletion = (message: StoredMessage): void => {
    deps.changed();
    const eventTs = model.nextTs();
    const previous = wireMessage(model, message, deps.baseUrl());
    const hasReplies = model.messages.some((one) => one.threadTs === message.ts && !one.isDeleted);
    sendEvent({
      type: 'message',
      hidden: true,
      ...channelFields(message.channel),
      ts: eventTs,
      event_ts: eventTs,
      previous_message: previous,
      ...(hasReplies
        ? {
            subtype: 'message_changed',
            message: {
              type: 'message',
              subtype: 'tombstone',
              user: 'USLACKBOT',
              text: 'This message was deleted.',
              ts: message.ts,
              thread_ts: message.ts,
            },
          }
        : { subtype: 'message_deleted', deleted_ts: message.ts }),
    });
  };

  const messageOf = (ts: string): StoredMessage => {
    const found = findMessage(model, ts);
    if (found === undefined) throw new Error(`There is no message ${ts}.`);
    return found;
  };

  const interaction = (user: string, channel: string): Json => {
    const triggerId = model.nextId('trigger');
    model.triggers.set(triggerId, { user, at: Date.now(), used: false });
    const responseId = model.nextId('response');
    deps.responses.set(responseId, { user, channel, until: Date.now() + 30 * 60_000, uses: 0 });
    return { trigger_id: triggerId, response_url: `${deps.baseUrl()}/response/${responseId}` };
  };

  const personOf = (id: string): Json => {
    const user = model.users.get(id);
    const name = user?.name ?? id;
    return { id, username: name, name, team_id: user?.teamId ?? model.team.id };
  };

  const clickAction = (user: string, message: StoredMessage, action: Json): void => {
    const payload = {
      type: 'block_actions',
      user: personOf(user),
      team: { id: model.team.id, domain: 'acme' },
      api_app_id: model.bot.appId,
      channel: { id: message.channel, name: model.channels.get(message.channel)?.name },
      container: {
        type: 'message',
        message_ts: message.ts,
        channel_id: message.channel,
        is_ephemeral: false,
        ...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
      },
      message: wireMessage(model, message, deps.baseUrl()),
      state: stateOf(message),
      actions: [{ ...action, action_ts: model.nextTs() }],
      ...interaction(user, message.channel),
    };
    lastClick = payload;
    desk.send('interactive', payload);
  };

  const reach = (user: string, ts: string, control: string): (() => void) => {
    const message = messageOf(ts);
    const thumb = thumbOf(knownBlocks(message.blocks), control);
    if (thumb) return () => clickAction(user, message, thumb);
    for (const block of knownBlocks(message.blocks)) {
      if (block.type !== 'actions') continue;
      for (const element of block.elements) {
        if (element.type !== 'button') continue;
        if (element.action_id !== control && element.text.text !== control) continue;
        return () => clickAction(user, message, { ...element, block_id: 'b1' });
      }
    }
    throw new Error(`There is no control ${control} on ${ts}.`);
  };

  return {
    announce,
    announceEdit,
    announceDeletion,
    sendEvent: (event) => sendEvent(event),
    say: (user, channel, text, options = {}) => {
      if (!model.channels.has(channel)) throw new Error(`There is no channel ${channel}.`);
      const files = options.files ?? [];
      const message: StoredMessage = {
        ts: model.nextTs(),
        channel,
        user,
        isOurs: false,
        subtype: options.subtype ?? (files.length > 0 ? 'file_share' : undefined),
        threadTs: options.thread,
        text,
        blocks: [],
        files,
        metadata: undefined,
        editedTs: undefined,
        isDeleted: false,
        ticked: new Map(),
        reactions: new Set(),
      };
      model.messages.push(message);
      announce(message);
      return message.ts;
    },
    editMessage: (ts, text) => {
      const message = messageOf(ts);
      const before = message.text;
      message.text = text;
      message.editedTs = model.nextTs();
      announceEdit(message, before);
    },
    deleteMessage: (ts) => {
      const message = messageOf(ts);
      message.isDeleted = true;
      announceDeletion(message);
    },
    unfurl: (ts) => {
      const message = messageOf(ts);
      announceEdit(message, message.text);
    },
    redeliver: (ts, times) => {
      for (let attempt = 1; attempt <= times; attempt += 1) {
        for (const body of bodies.get(ts) ?? []) desk.again(body, attempt);
      }
    },
    mentionsArriveAs: (kinds) => {
      mentionKinds = kinds;
    },
    click: (user, ts, control) => reach(user, ts, control)(),
    reach,
    tick: (user, ts, labels) => {
      const message = messageOf(ts);
      for (const block of knownBlocks(message.blocks)) {
        if (block.type !== 'actions') continue;
        for (const element of block.elements) {
          if (element.type !== 'checkboxes') continue;
          const chosen = element.options.filter((option) => labels.includes(option.text.text));
          message.ticked.set(
            element.action_id,
            chosen.map((option) => option.value),
          );
          clickAction(user, message, {
            type: 'checkboxes',
            action_id: element.action_id,
            block_id: 'b1',
            selected_options: chosen,
          });
        }
      }
    },
    repeatClick: () => {
      if (lastClick !== null) desk.send('interactive', lastClick);
    },
    submitForm: (user, text) => {
      const open = model.views.findLast((view) => view.user === user);
      if (open === undefined) throw new Error(`${user} has no open form.`);
      const view = checkedView(open.view);
      const [block] = view.blocks;
      desk.send('interactive', {
        type: 'view_submission',
        user: personOf(user),
        team: { id: model.team.id, domain: 'acme' },
        api_app_id: model.bot.appId,
        view: {
          ...view,
          id: open.id,
          state: {
            values: {
              [block?.block_id ?? '']: {
                [block?.element.action_id ?? '']: { type: 'plain_text_input', value: text },
              },
            },
          },
        },
      });
    },
    slash: (user, channel, text) => {
      const kind = model.channels.get(channel)?.kind;
      const name = model.channels.get(channel)?.name ?? channel;
      desk.send('slash_commands', {
        command: '/deckhand',
        text,
        user_id: user,
        user_name: model.users.get(user)?.name ?? user,
        team_id: model.team.id,
        api_app_id: model.bot.appId,
        channel_id: channel,
        channel_name: kind === 'im' ? 'directmessage' : kind === 'group' ? 'privategroup' : name,
        ...interaction(user, channel),
      });
    },
    react: (user, ts, name) => {
      const { channel, user: author } = messageOf(ts);
      if (!botHears(channel)) return;
      // https://docs.slack.dev/reference/events/reaction_added
      sendEvent({
        type: 'reaction_added',
        user,
        reaction: name,
        item_user: author,
        item: { type: 'message', channel, ts },
        event_ts: model.nextTs(),
      });
    },
    pressStop: (user, channel, thread) => {
      sendEvent({
        type: 'agent_session_stopped',
        channel,
        user,
        thread_ts: thread,
        streaming_message_ts: [],
        event_ts: model.nextTs(),
      });
    },
  };
}

/** A thumb as it is sent when it is pressed: the element's id, the thumb's text and value. */
function thumbOf(blocks: readonly KnownBlock[], label: string): Json | undefined {
  const elements = blocks.flatMap((block) =>
    block.type === 'context_actions' ? block.elements : [],
  );
  for (const { action_id, positive_button, negative_button } of elements) {
    const pressed = { '👍': positive_button, '👎': negative_button }[label];
    if (!pressed) continue;
    const { text, value } = pressed;
    return { type: 'feedback_buttons', action_id, block_id: 'b2', text, value };
  }
  return undefined;
}

function stateOf(message: StoredMessage): Json {
  const elements = [...message.ticked].map(([actionId, values]): [string, Json] => [
    actionId,
    {
      type: 'checkboxes',
      selected_options: values.map((value) => ({
        text: { type: 'plain_text', text: value },
        value,
      })),
    },
  ]);
  return { values: elements.length === 0 ? {} : { b1: Object.fromEntries(elements) } };
}
