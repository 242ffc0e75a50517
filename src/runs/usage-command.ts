/** What models used here, and what it cost. */

import { formatCount } from '../base/text.ts';
import type { SumOver, UsageSum } from '../conversations/usage-ledger.ts';
import { conversationKeyOf } from '../messages/conversation.ts';
import type { Command } from '../surface/command.ts';
import { toAsker } from './commands.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import { costText, tokensOf } from './receipt.ts';

const mostDays = 90;
const monthDays = 30;

export function usageCommand(deps: ExecuteDeps): Command {
  return {
    name: 'usage',
    usage: 'usage [DAYS]',
    summary: 'Says how many tokens were used here and what they cost.',
    tier: 'user',
    run: async ({ conversation, place, author, isAdmin, args }) => {
      const days = args === '' ? monthDays : Number(args);
      if (!Number.isInteger(days) || days < 1 || days > mostDays) {
        return toAsker(`Say \`usage\`, or \`usage DAYS\` with 1 to ${mostDays} days.`);
      }
      const line = async (name: string, over: SumOver): Promise<string> => {
        const today = await deps.ledger.sum(over, 1);
        const all = await deps.ledger.sum(over, days);
        return `- ${name}: today ${sumText(today)}; last ${days} days ${sumText(all)}`;
      };
      const channel = `${place.adapter}:${place.space}:${place.channel}`;
      const lines = [
        ...(conversation
          ? [
              await line('this thread', {
                kind: 'conversation',
                id: conversationKeyOf(conversation),
              }),
            ]
          : []),
        await line('this channel', { kind: 'channel', id: channel }),
        await line('you', { kind: 'person', id: author.id }),
      ];
      if (isAdmin) {
        lines.push(await line('everything', { kind: 'all' }));
        const models = [...(await deps.ledger.byModel(days))].sort(([a], [b]) =>
          a.localeCompare(b),
        );
        for (const [name, sum] of models) lines.push(`  - ${name}: ${sumText(sum)}`);
      }
      return toAsker(lines.join('\n'));
    },
  };
}

function sumText(sum: UsageSum): string {
  if (sum.calls === 0) return 'nothing';
  return `${formatCount(tokensOf(sum))} tokens, ${costText(sum)}`;
}
