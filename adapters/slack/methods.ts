/**
 * The Web API methods and events the adapter uses, with the bot scopes each needs: one list for the
 * calls, the error sentences and the check of config/slack-manifest.yaml. A method that reads
 * channels needs the scope of the channel's kind, so all of them are listed.
 * Source: method and event pages of https://docs.slack.dev/reference
 */

const readChannels = ['channels:read', 'groups:read', 'im:read', 'mpim:read'] as const;
/** With the metadata by which an earlier post is found again. */
const readHistory = [
  'channels:history',
  'groups:history',
  'im:history',
  'mpim:history',
  'metadata.message:read',
] as const;

export const methodScopes = {
  'agents.sessions.setStatus': ['assistant:write'],
  /** By the app token, which has connections:write. */
  'apps.connections.open': [],
  'assistant.threads.setStatus': ['assistant:write'],
  'auth.test': [],
  'chat.appendStream': ['chat:write'],
  'chat.delete': ['chat:write'],
  'chat.postEphemeral': ['chat:write'],
  'chat.postMessage': ['chat:write'],
  'chat.startStream': ['chat:write'],
  'chat.stopStream': ['chat:write'],
  'chat.update': ['chat:write'],
  'conversations.history': readHistory,
  'conversations.info': readChannels,
  'conversations.open': ['im:write'],
  'conversations.replies': readHistory,
  'files.completeUploadExternal': ['files:write'],
  'files.getUploadURLExternal': ['files:write'],
  'files.info': ['files:read'],
  'reactions.add': ['reactions:write'],
  'reactions.remove': ['reactions:write'],
  'usergroups.list': ['usergroups:read'],
  'usergroups.users.list': ['usergroups:read'],
  'users.info': ['users:read'],
  'views.open': [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type SlackMethod = keyof typeof methodScopes;

/** Events the app subscribes to, with the scope that lets Slack send them. */
export const eventScopes = {
  app_mention: ['app_mentions:read'],
  'message.channels': ['channels:history'],
  'message.groups': ['groups:history'],
  'message.im': ['im:history'],
  'message.mpim': ['mpim:history'],
  agent_session_stopped: ['assistant:write'],
  reaction_added: ['reactions:read'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
