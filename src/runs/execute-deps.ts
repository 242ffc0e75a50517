/** What the parts of runs share: what they are given, and what they made of it. */

import type { Choices } from '../conversations/choices.ts';
import type { UsageLedger } from '../conversations/usage-ledger.ts';
import type { Audit } from '../permissions/audit.ts';
import type { Grants } from '../permissions/grants.ts';
import type { Approvals } from '../questions/approvals.ts';
import type { Questions } from '../questions/questions.ts';
import type { RegisteredTool } from '../tools/contract.ts';
import type { RunsDeps } from './deps.ts';
import type { Inbox } from './inbox.ts';
import type { MessageFiles } from './message-files.ts';
import type { OutwardAdapter } from './outward.ts';
import type { RunQuota } from './quota.ts';
import type { Redraws } from './redraws.ts';
import type { RunRecords } from './run-record.ts';
import type { Signs } from './signs.ts';
import type { StatusBook } from './status-book.ts';
import type { Traces } from './why.ts';

export interface ExecuteDeps extends RunsDeps {
  readonly adapters: ReadonlyMap<string, OutwardAdapter>;
  readonly tools: readonly RegisteredTool[];
  readonly inbox: Inbox;
  readonly files: MessageFiles;
  readonly audit: Audit;
  readonly choices: Choices;
  readonly ledger: UsageLedger;
  readonly quota: RunQuota;
  readonly records: RunRecords;
  readonly questions: Questions;
  readonly approvals: Approvals;
  readonly grants: Grants;
  readonly signs: Signs;
  readonly statuses: StatusBook;
  readonly traces: Traces;
  readonly redraws: Redraws;
}
