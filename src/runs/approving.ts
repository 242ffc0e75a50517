/** Who may decide on a call, looked up at the click; and who they are, in words. */

import type { Head } from '../conversations/head.ts';
import { conversationKeyOf } from '../messages/conversation.ts';
import type { Author } from '../messages/people.ts';
import type { ApprovalRecord } from '../questions/approval-record.ts';
import { accessIn } from './access.ts';
import type { RunsDeps } from './deps.ts';
import { standsFor } from './membership.ts';
import type { Spaces } from './spaces.ts';

type ApprovingDeps = RunsDeps & { readonly spaces: Spaces };

/** Undefined when this person may decide so; else a sentence for them. */
export async function refusalToDecide(
  deps: ApprovingDeps,
  author: Author,
  record: ApprovalRecord,
  decision: 'approve' | 'deny',
): Promise<string | undefined> {
  const head = await deps.conversations.head(conversationKeyOf(record.conversation));
  const access = await accessIn(deps, author, record.conversation, head);
  if (access.kind === 'refused') {
    return 'You are not on the list of people I work for here. Nothing was changed.';
  }
  const isAsker = [record.asker.id, ...record.askers].includes(author.id);
  // Whoever asked may always take it back.
  if (isAsker && decision === 'deny') return undefined;
  if (isAsker && record.notAsker) {
    return 'You asked for this, so somebody else must approve it. Nothing was changed.';
  }
  if (await isApprover(deps, author, record, head)) return undefined;
  return `This is for ${namesOf(record, head)} to decide. Nothing was changed.`;
}

async function isApprover(
  deps: ApprovingDeps,
  author: Author,
  { approvers, asker, conversation }: ApprovalRecord,
  head: Head | undefined,
): Promise<boolean> {
  if (approvers.includes('asker') && author.id === asker.id) return true;
  const isParticipant = head?.people.some(({ id }) => id === author.id) ?? false;
  if (approvers.includes('participants') && isParticipant) return true;
  const adapter = deps.adapters.get(conversation.adapter);
  return adapter !== undefined && standsFor(deps.log, adapter, conversation, author, approvers);
}

export async function approversOf(deps: RunsDeps, record: ApprovalRecord): Promise<string> {
  const head = await deps.conversations.head(conversationKeyOf(record.conversation));
  return namesOf(record, head);
}

function namesOf(record: ApprovalRecord, head: Head | undefined): string {
  const { approvers, asker, notAsker } = record;
  const names = approvers.map((one) => {
    if (one === 'asker') return asker.name;
    if (one === 'participants') return 'the people of this thread';
    const person = head?.people.find(({ id }) => id === one);
    return person?.name ?? one;
  });
  const but = notAsker ? `, but not ${asker.name}` : '';
  return `${names.join(', ')}${but}`;
}
