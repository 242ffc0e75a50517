/** Approvals on the page, end to end. */

import { describeApprovals } from './approvals-suite.ts';
import { createPageStage } from './stages.ts';

describeApprovals('The page', createPageStage, {
  anna: 'You',
  hasOthers: false,
  code: (name) => name,
  card: [
    'Writing notes.md',
    '--- /dev/null',
    '+++ notes.md',
    '@@ -0,0 +1,1 @@',
    '+hello',
    'I ask because it changes notes.md. "For this thread" covers FileWrite(notes.md) for 8 h.',
    '[Approve] [Approve for this thread (8 h)] [Deny] [Deny with a note…]',
    'May be approved by You until <time>.',
  ].join('\n'),
});
