/** Discord end to end: the real process and the real client library against an emulated guild. */

import { describePlatform, describeStrangers } from './platform-suite.ts';
import { createDiscordStage, discordUsers } from './stages.ts';

describePlatform('Discord', createDiscordStage, { limits: true, connection: true });
describeStrangers('Discord', createDiscordStage, {
  config: `deny: { users: ["discord:${discordUsers.guest}"] }\n`,
  told: 'not on the list of people',
});
