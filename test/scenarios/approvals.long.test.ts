/** What was approved and may have been done is never done again: kill -9 on each platform. */

import { describe } from 'vitest';
import { describeKilledApproval } from './approvals-suite.ts';
import { createDiscordStage, createPageStage, createSlackStage } from './stages.ts';

describe('an approved call', { timeout: 90_000 }, () => {
  describeKilledApproval('Slack', createSlackStage);
  describeKilledApproval('Discord', createDiscordStage);
  describeKilledApproval('The page', createPageStage);
});
