/**
 * The shapes of what Slack sends, as far as they are used. Everything else in a body is dropped.
 * Sources: https://docs.slack.dev/reference/events/message and
 * https://docs.slack.dev/reference/interaction-payloads
 */

import { z } from 'zod';

/** Who the bot is, from auth.test. */
export interface Self {
  readonly userId: string;
  /** Null where the token has no bot id. */
  readonly botId: string | null;
  readonly name: string;
  readonly teamId: string;
  readonly teamName: string;
}

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');

export const slackFileSchema = z.object({
  id: z.string(),
  name: z.string().nullish(),
  title: z.string().nullish(),
  mimetype: z.string().nullish(),
  size: z.number().nullish(),
  /** hosted, snippet, external … ; tombstone and hidden_by_limit have no content any more. */
  mode: z.string().nullish(),
  /** check_file_info: a stub from another workspace, to be looked up first. */
  file_access: z.string().nullish(),
  url_private: z.string().nullish(),
  url_private_download: z.string().nullish(),
});
export type SlackFile = z.infer<typeof slackFileSchema>;

const blockSchema = z.object({
  type: z.string(),
  text: z.union([z.string(), z.object({ text: z.string() })]).optional(),
});

export const slackMessageSchema = z.object({
  subtype: z.string().optional(),
  ts: z.string(),
  thread_ts: z.string().optional(),
  user: z.string().optional(),
  username: z.string().optional(),
  bot_id: z.string().nullish(),
  app_id: z.string().nullish(),
  bot_profile: z.object({ name: z.string().optional() }).nullish(),
  team: z.string().nullish(),
  user_team: z.string().nullish(),
  text,
  files: z.array(slackFileSchema).optional(),
  blocks: z.array(blockSchema).optional().catch(undefined),
  attachments: z
    .array(z.object({ fallback: z.string().nullish(), text: z.string().nullish() }))
    .optional()
    .catch(undefined),
  edited: z.object({ ts: z.string() }).nullish(),
  metadata: z
    .object({ event_type: z.string(), event_payload: z.record(z.string(), z.unknown()) })
    .nullish()
    .catch(undefined),
});
export type SlackMessage = z.infer<typeof slackMessageSchema>;

export const messageEventSchema = slackMessageSchema.extend({
  type: z.enum(['message', 'app_mention']),
  channel: z.string(),
  channel_type: z.string().optional(),
  event_ts: z.string().optional(),
  hidden: z.boolean().optional(),
  deleted_ts: z.string().optional(),
  message: slackMessageSchema.optional(),
  previous_message: slackMessageSchema.partial({ ts: true }).optional(),
});
export type MessageEvent = z.infer<typeof messageEventSchema>;

export const stopEventSchema = z.object({
  type: z.literal('agent_session_stopped'),
  channel: z.string(),
  user: z.string(),
  thread_ts: z.string(),
  event_ts: z.string(),
});

/** https://docs.slack.dev/reference/events/reaction_added: the thread is not told. */
export const reactionEventSchema = z.object({
  type: z.literal('reaction_added'),
  user: z.string(),
  /** The emoji's name. */
  reaction: z.string(),
  item: z.object({ type: z.literal('message'), channel: z.string(), ts: z.string() }),
  event_ts: z.string(),
});
export type ReactionEvent = z.infer<typeof reactionEventSchema>;

export const eventBodySchema = z.object({
  api_app_id: z.string().optional(),
  event: z.looseObject({ type: z.string() }),
});

const personSchema = z.object({
  id: z.string(),
  name: z.string().optional(),
  username: z.string().optional(),
});
export type SlackPerson = z.infer<typeof personSchema>;

const selectedSchema = z.array(z.object({ value: z.string() })).optional();

export const blockActionsSchema = z.object({
  type: z.literal('block_actions'),
  user: personSchema,
  trigger_id: z.string(),
  response_url: z.string().optional(),
  channel: z.object({ id: z.string() }).nullish(),
  message: slackMessageSchema.nullish(),
  container: z.object({
    message_ts: z.string().optional(),
    channel_id: z.string().optional(),
    thread_ts: z.string().optional(),
  }),
  actions: z.array(
    z.object({
      type: z.string(),
      action_id: z.string(),
      action_ts: z.string(),
      text: z.object({ text: z.string() }).optional(),
      /** Of a thumb: what it says. */
      value: z.string().optional(),
    }),
  ),
  state: z
    .object({
      values: z.record(
        z.string(),
        z.record(z.string(), z.object({ selected_options: selectedSchema })),
      ),
    })
    .nullish(),
});
export type BlockActions = z.infer<typeof blockActionsSchema>;

export const viewSubmissionSchema = z.object({
  type: z.literal('view_submission'),
  user: personSchema,
  view: z.object({
    id: z.string(),
    private_metadata: z.string(),
    state: z.object({
      values: z.record(z.string(), z.record(z.string(), z.object({ value: z.string().nullish() }))),
    }),
  }),
});
export type ViewSubmission = z.infer<typeof viewSubmissionSchema>;

export const slashCommandSchema = z.object({
  command: z.string(),
  text,
  user_id: z.string(),
  user_name: z.string().optional(),
  channel_id: z.string(),
  channel_name: z.string().optional(),
  trigger_id: z.string(),
  response_url: z.string().optional(),
});
export type SlashCommand = z.infer<typeof slashCommandSchema>;

/** A ts as milliseconds. Only for showing and sorting by time: as an identity it stays a text. */
export function millisecondsOf(ts: string): number {
  return Math.round(Number(ts) * 1000);
}
