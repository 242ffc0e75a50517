/** REST routes of the bot itself, people, interactions and their answers, commands, files. */

import { z } from 'zod';
import { checkedCommands, checkedForm, checkedMessage, Refusal } from './checks.ts';
import { kinds, type Model, type OpenInteraction, type PrivateMessage } from './model.ts';
import type { Route, RouteCall } from './routes-messages.ts';
import { channelWire, fileUrl, memberWire, userWire } from './wire.ts';

const botWire = (model: Model): unknown => {
  const bot = model.users.get(model.bot.id);
  return bot === undefined ? {} : userWire(bot);
};

/** The channel of a person and the bot. */
export function directChannel(model: Model, userId: string): string {
  for (const channel of model.channels.values()) {
    if (channel.recipient === userId) return channel.id;
  }
  const id = model.nextId();
  model.channels.set(id, {
    id,
    type: kinds.direct,
    name: '',
    guildId: null,
    parentId: null,
    recipient: userId,
    isPrivate: true,
    denied: new Set(),
    autoArchiveMinutes: 1440,
    isArchived: false,
    isLocked: false,
  });
  return id;
}

const openDirect: Route = ({ model, body }) => {
  const { recipient_id } = z.object({ recipient_id: z.string() }).parse(body);
  if (!model.users.has(recipient_id)) throw new Refusal(400, 50033);
  const channel = model.channels.get(directChannel(model, recipient_id));
  return { status: 200, body: channel === undefined ? {} : channelWire(channel) };
};

const member: Route = ({ model, ids }) => {
  const guild = model.guilds.get(ids[0] ?? '');
  if (guild === undefined) throw new Refusal(404, 10004);
  const user = model.users.get(ids[1] ?? '');
  if (user === undefined) throw new Refusal(404, 10013);
  const found = guild.members.get(user.id);
  if (found === undefined) throw new Refusal(404, 10007);
  return { status: 200, body: { ...memberWire(found), user: userWire(user) } };
};

const user: Route = ({ model, ids }) => {
  const found = model.users.get(ids[0] ?? '');
  if (found === undefined) throw new Refusal(404, 10013);
  return { status: 200, body: userWire(found) };
};

function interactionOf({ model, rules }: RouteCall, token: string): OpenInteraction {
  const interaction = model.interactions.get(token);
  if (interaction === undefined) throw new Refusal(404, 10015);
  if (Date.now() - interaction.at > rules.mostTokenAgeMs) throw new Refusal(401, 50027);
  return interaction;
}

const callbackSchema = z.object({ type: z.number(), data: z.unknown().optional() });
const choicesSchema = z.object({
  choices: z
    .array(z.object({ name: z.string().min(1).max(100), value: z.string().max(100) }))
    .max(25),
});
const flagsSchema = z.object({ flags: z.number().optional() }).optional();

const callback: Route = (call) => {
  const { model, rules } = call;
  const interaction = model.interactions.get(call.ids[1] ?? '');
  const isLate =
    interaction === undefined || Date.now() - interaction.at > rules.mostInteractionAgeMs;
  if (isLate) throw new Refusal(404, 10062);
  if (interaction.answered !== null) throw new Refusal(400, 40060);
  const { type, data } = callbackSchema.parse(call.body);
  if (type === 9) {
    if (interaction.type === 5 || interaction.messageId === null) throw new Refusal(400, 50035);
    const form = checkedForm(data);
    model.forms.push({ userId: interaction.userId, form, messageId: interaction.messageId });
  } else if (type === 8) {
    if (interaction.type !== 4) throw new Refusal(400, 50035);
    model.choices = choicesSchema.parse(data).choices.map(({ value }) => value);
  } else if (type === 5) {
    const isPrivate = ((flagsSchema.parse(data)?.flags ?? 0) & 64) !== 0;
    if (isPrivate) interaction.original = addPrivate(model, interaction.userId, null);
  } else if (type !== 6 || interaction.messageId === null) {
    throw new Refusal(400, 50035);
  }
  interaction.answered = type;
  interaction.answeredAfterMs = Date.now() - interaction.at;
  return { status: 204 };
};

function addPrivate(
  model: Model,
  userId: string,
  body: { content: string; components: PrivateMessage['components'] } | null,
): PrivateMessage {
  const line: PrivateMessage = {
    id: model.nextId(),
    userId,
    content: body?.content ?? '',
    components: body?.components ?? [],
    isWaiting: body === null,
    isDeleted: false,
  };
  model.privateMessages.push(line);
  return line;
}

const followUp: Route = (call) => {
  const interaction = interactionOf(call, call.ids[1] ?? '');
  if (interaction.answered === null) throw new Refusal(404, 10015);
  const body = checkedMessage(call.body);
  const text = { content: body.content ?? '', components: body.components ?? [] };
  // The first answer after a deferral fills its waiting line.
  if (interaction.original?.isWaiting === true) {
    Object.assign(interaction.original, text, { isWaiting: false });
    return { status: 200, body: { id: interaction.original.id } };
  }
  if (((body.flags ?? 0) & 64) === 0) throw new Refusal(400, 50035);
  const line = addPrivate(call.model, interaction.userId, text);
  return { status: 200, body: { id: line.id } };
};

const editOriginal: Route = (call) => {
  const { original } = interactionOf(call, call.ids[1] ?? '');
  if (original === null || original.isDeleted) throw new Refusal(404, 10008);
  const body = checkedMessage(call.body);
  original.content = body.content ?? '';
  original.components = body.components ?? [];
  original.isWaiting = false;
  return { status: 200, body: { id: original.id } };
};

const removeOriginal: Route = (call) => {
  const { original } = interactionOf(call, call.ids[1] ?? '');
  if (original === null) throw new Refusal(404, 10008);
  original.isDeleted = true;
  return { status: 204 };
};

/** As Discord stores them, with its own fields added. */
const putCommands: Route = (call) => {
  call.model.commands = checkedCommands(call.body).map((command) => ({
    id: call.model.nextId(),
    application_id: call.model.bot.applicationId,
    version: call.model.nextId(),
    default_member_permissions: null,
    type: 1,
    nsfw: false,
    ...command,
  }));
  return { status: 200, body: call.model.commands };
};

const refreshUrls: Route = ({ model, body, baseUrl }) => {
  const { attachment_urls } = z.object({ attachment_urls: z.array(z.string()) }).parse(body);
  return {
    status: 200,
    body: {
      refreshed_urls: attachment_urls.map((original) => {
        const [, , channelId = '', fileId = ''] = new URL(original).pathname.split('/');
        const file = model.files.get(fileId);
        return {
          original,
          refreshed: file === undefined ? original : fileUrl(file, channelId, baseUrl),
        };
      }),
    },
  };
};

export const appRoutes: Readonly<Record<string, Route>> = {
  'GET /users/@me': ({ model }) => ({ status: 200, body: botWire(model) }),
  'GET /applications/@me': ({ model }) => ({
    status: 200,
    body: { id: model.bot.applicationId, name: model.bot.name, flags: model.bot.flags },
  }),
  'GET /users/:id': user,
  'GET /users/@me/guilds': ({ model }) => ({
    status: 200,
    body: [...model.guilds.values()].map(({ id, name }) => ({ id, name })),
  }),
  'POST /users/@me/channels': openDirect,
  'GET /guilds/:id/members/:id': member,
  'GET /applications/:id/commands': ({ model }) => ({ status: 200, body: model.commands }),
  'PUT /applications/:id/commands': putCommands,
  'POST /interactions/:id/:token/callback': callback,
  'POST /webhooks/:id/:token': followUp,
  'PATCH /webhooks/:id/:token/messages/@original': editOriginal,
  'DELETE /webhooks/:id/:token/messages/@original': removeOriginal,
  'POST /attachments/refresh-urls': refreshUrls,
};
