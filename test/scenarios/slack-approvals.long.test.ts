/** Approvals on Slack, end to end. */

import { describeApprovals } from './approvals-suite.ts';
import { createSlackStage } from './stages.ts';

describeApprovals('Slack', createSlackStage, {
  anna: 'Anna',
  hasOthers: true,
  code: (name) => `\`${name}\``,
  card: [
    '**Writing `notes.md`**',
    '',
    '```diff',
    '--- /dev/null',
    '+++ notes.md',
    '@@ -0,0 +1,1 @@',
    '+hello',
    '```',
    '',
    'I ask because it changes notes.md. "For this thread" covers `FileWrite(notes.md)` for 8 h.',
    '[Approve] [Approve for this thread (8 h)] [Deny] [Deny with a note…]',
    '▸ May be approved by Anna until <time>.',
  ].join('\n'),
});
