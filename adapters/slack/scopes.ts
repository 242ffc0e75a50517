/** The scopes of the bot token, as the manifest asks for them (config/slack-manifest.yaml). */

export const botScopes = [
  'app_mentions:read',
  'assistant:write',
  'channels:history',
  'channels:read',
  'chat:write',
  'commands',
  'files:read',
  'files:write',
  'groups:history',
  'groups:read',
  'im:history',
  'im:read',
  'im:write',
  'metadata.message:read',
  'mpim:history',
  'mpim:read',
  'reactions:read',
  'reactions:write',
  'usergroups:read',
  'users:read',
] as const;
