/** `grants`: what was approved for a thread and holds now; `grants revoke 1` ends one. */

import { conversationKeyOf, parseConversationKey } from '../messages/conversation.ts';
import type { Grant } from '../permissions/grants.ts';
import type { Command, CommandInput } from '../surface/command.ts';
import { toAsker } from './commands.ts';
import type { ExecuteDeps } from './execute-deps.ts';

export function grantsCommand(deps: ExecuteDeps): Command {
  return {
    name: 'grants',
    usage: 'grants [revoke <number>]',
    summary: 'Lists what was approved for this thread, and takes it back.',
    tier: 'user',
    run: async (input) => {
      const [word = '', number = ''] = input.args.split(/\s+/u);
      const grants = await visibleGrants(deps, input);
      if (word === '') return toAsker(listOf(grants, deps.clock.now()));
      const grant = grants[Number(number) - 1];
      if (word !== 'revoke' || !grant) {
        return toAsker('Say `grants` for the list, then `grants revoke` with a number of it.');
      }
      return toAsker(await revoke(deps, input, grant));
    },
  };
}

/** Of the thread; outside any, of the channel, and for admins of everywhere. */
async function visibleGrants(
  deps: ExecuteDeps,
  { conversation, place, isAdmin }: CommandInput,
): Promise<readonly Grant[]> {
  const grants = await deps.grants.list();
  if (conversation) {
    const key = conversationKeyOf(conversation);
    return grants.filter((grant) => grant.conversation === key);
  }
  if (isAdmin) return grants;
  return grants.filter((grant) => {
    const { adapter, space, channel } = parseConversationKey(grant.conversation);
    return adapter === place.adapter && space === place.space && channel === place.channel;
  });
}

function listOf(grants: readonly Grant[], now: number): string {
  if (grants.length === 0) return 'Nothing is approved beyond single calls here.';
  const lines = grants.map(({ tool, pattern, by, expiresAt }, index) => {
    const minutes = Math.max(1, Math.round((expiresAt - now) / 60_000));
    const left = minutes >= 90 ? `${Math.round(minutes / 60)} h` : `${minutes} min`;
    return `${index + 1}. \`${tool}(${pattern.replaceAll('`', "'")})\`, approved by ${by.name}, for ${left} more`;
  });
  return `${lines.join('\n')}\n\nTake one back with \`grants revoke\` and its number.`;
}

/** Taking back needs no right: it only narrows what may be done. */
async function revoke(deps: ExecuteDeps, { author }: CommandInput, grant: Grant): Promise<string> {
  const { id, tool, pattern, conversation } = grant;
  if (!(await deps.grants.revoke(id))) return 'It has ended already.';
  await deps.audit.record({ kind: 'grant_revoked', conversation, grantId: id, by: author.id });
  return `\`${tool}(${pattern.replaceAll('`', "'")})\` asks again from now on.`;
}
