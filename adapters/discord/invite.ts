/** The address that invites the bot to a server, with the permissions it needs and no more. */

/** Bits from Discord's permission table (topics/permissions, read August 2026). */
const permissions = {
  viewChannel: 1n << 10n,
  sendMessages: 1n << 11n,
  embedLinks: 1n << 14n,
  attachFiles: 1n << 15n,
  readMessageHistory: 1n << 16n,
  addReactions: 1n << 6n,
  createPublicThreads: 1n << 35n,
  sendMessagesInThreads: 1n << 38n,
};

export function discordInviteUrl(applicationId: string): string {
  const bits = Object.values(permissions).reduce((all, bit) => all | bit, 0n);
  const query = new URLSearchParams({
    client_id: applicationId,
    scope: 'bot applications.commands',
    permissions: bits.toString(),
  });
  return `https://discord.com/oauth2/authorize?${query.toString()}`;
}
