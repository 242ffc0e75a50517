/**
 * The parts of Discord's wire format that are read, as schemas (API v10, docs.discord.com/developers,
 * August 2026). Everything from outside is parsed by these once.
 */

import { z } from 'zod';

const snowflake = z.string().regex(/^\d{1,20}$/u);

export const channelTypes = {
  text: 0,
  direct: 1,
  announcement: 5,
  announcementThread: 10,
  publicThread: 11,
  privateThread: 12,
  forum: 15,
  media: 16,
} as const;

export const componentTypes = { row: 1, button: 2, select: 3, textInput: 4, label: 18 } as const;

const memberSchema = z.object({
  nick: z.string().nullish(),
  roles: z.array(snowflake).default([]),
});
export type WireMember = z.infer<typeof memberSchema>;

export const userSchema = z.object({
  id: snowflake,
  username: z.string(),
  global_name: z.string().nullish(),
  bot: z.boolean().optional(),
});
export type WireUser = z.infer<typeof userSchema>;

const attachmentSchema = z.object({
  id: snowflake,
  filename: z.string(),
  content_type: z.string().nullish(),
  size: z.number(),
  url: z.string(),
});
export type WireAttachment = z.infer<typeof attachmentSchema>;

const controlSchema = z.object({
  type: z.number(),
  custom_id: z.string().optional(),
  label: z.string().optional(),
  options: z.array(z.object({ value: z.string(), label: z.string() })).optional(),
});
const rowSchema = z.object({ type: z.number(), components: z.array(controlSchema).default([]) });

export const messageSchema = z.object({
  id: snowflake,
  channel_id: snowflake,
  guild_id: snowflake.optional(),
  author: userSchema,
  member: memberSchema.optional(),
  content: z.string().default(''),
  timestamp: z.string(),
  edited_timestamp: z.string().nullish(),
  type: z.number(),
  mentions: z.array(userSchema.extend({ member: memberSchema.optional() })).default([]),
  attachments: z.array(attachmentSchema).default([]),
  webhook_id: snowflake.nullish(),
  message_reference: z.object({ message_id: snowflake.optional() }).nullish(),
  referenced_message: z.object({ id: snowflake, author: userSchema }).nullish(),
  /** What a forwarded message holds. */
  message_snapshots: z
    .array(
      z.object({
        message: z.object({
          content: z.string().default(''),
          attachments: z.array(attachmentSchema).default([]),
        }),
      }),
    )
    .nullish(),
  nonce: z.union([z.string(), z.number()]).nullish(),
  components: z.array(rowSchema).default([]),
});
export type WireMessage = z.infer<typeof messageSchema>;

export const deletionSchema = z.object({
  id: snowflake,
  channel_id: snowflake,
  guild_id: snowflake.optional(),
});
export const bulkDeletionSchema = z.object({
  ids: z.array(snowflake),
  channel_id: snowflake,
  guild_id: snowflake.optional(),
});
export type WireDeletion = z.infer<typeof deletionSchema>;

/** MESSAGE_REACTION_ADD (events/gateway-events): in direct messages there is no member. */
export const reactionSchema = z.object({
  user_id: snowflake,
  channel_id: snowflake,
  message_id: snowflake,
  guild_id: snowflake.optional(),
  member: memberSchema.extend({ user: userSchema }).optional(),
  /** A custom emoji has an id. */
  emoji: z.object({ id: snowflake.nullish(), name: z.string().nullish() }),
});
export type WireReaction = z.infer<typeof reactionSchema>;

export const channelSchema = z.object({
  id: snowflake,
  type: z.number(),
  name: z.string().nullish(),
  parent_id: snowflake.nullish(),
  guild_id: snowflake.optional(),
});

export const guildMemberSchema = memberSchema.extend({ user: userSchema.optional() });

export const readySchema = z.object({
  user: userSchema,
  application: z.object({ id: snowflake }),
});

export const dispatchSchema = z.object({ t: z.string(), d: z.unknown().optional() });

const interactionCommon = {
  id: snowflake,
  application_id: snowflake,
  token: z.string().min(1),
  guild_id: snowflake.optional(),
  channel_id: snowflake,
  channel: channelSchema.optional(),
  member: memberSchema.extend({ user: userSchema }).optional(),
  user: userSchema.optional(),
};
const cardSchema = z.object({
  id: snowflake,
  content: z.string().default(''),
  components: z.array(rowSchema).default([]),
  message_reference: z.object({ message_id: snowflake.optional() }).nullish(),
});

const commandOptionSchema = z.object({
  name: z.string(),
  value: z.union([z.string(), z.number(), z.boolean()]).optional(),
});
export const commandInteractionSchema = z.object({
  ...interactionCommon,
  type: z.literal(2),
  data: z.object({
    name: z.string(),
    options: z
      .array(commandOptionSchema.extend({ options: z.array(commandOptionSchema).default([]) }))
      .default([]),
  }),
});
/** Somebody types an option's value. */
export const typingInteractionSchema = z.object({
  ...commandInteractionSchema.shape,
  type: z.literal(4),
});
export const clickInteractionSchema = z.object({
  ...interactionCommon,
  type: z.literal(3),
  data: z.object({ custom_id: z.string(), values: z.array(z.string()).default([]) }),
  message: cardSchema,
});
const fieldSchema = z.object({ custom_id: z.string(), value: z.string().default('') });
export const formInteractionSchema = z.object({
  ...interactionCommon,
  type: z.literal(5),
  data: z.object({
    custom_id: z.string(),
    components: z.array(
      z.union([
        z.object({ component: fieldSchema }),
        z.object({ components: z.array(fieldSchema) }),
      ]),
    ),
  }),
  message: cardSchema,
});
export const interactionSchema = z.discriminatedUnion('type', [
  commandInteractionSchema,
  typingInteractionSchema,
  clickInteractionSchema,
  formInteractionSchema,
]);
export type CommandInteraction = z.infer<typeof commandInteractionSchema>;
export type TypingInteraction = z.infer<typeof typingInteractionSchema>;
export type ClickInteraction = z.infer<typeof clickInteractionSchema>;
export type FormInteraction = z.infer<typeof formInteractionSchema>;
export type Interaction = z.infer<typeof interactionSchema>;

export interface Self {
  readonly userId: string;
  readonly name: string;
  readonly applicationId: string;
}

/** Snowflakes grow with time; as strings they compare by length first. */
export function isNewer(id: string, than: string): boolean {
  return id.length === than.length ? id > than : id.length > than.length;
}
