/** Slack end to end: the real process and the real client library against an emulated workspace. */

import { describePlatform, describeStrangers } from './platform-suite.ts';
import { createSlackStage } from './stages.ts';

describePlatform('Slack', createSlackStage, { limits: true, connection: true });
describeStrangers('Slack', createSlackStage, { told: 'cannot work for guests' });
