/** Does a message start something? One pure decision, with the rule that made it. */

import type { InboundMessage } from '../surface/inbound.ts';

export interface TriggerFacts {
  /** The bot takes part in this conversation. */
  readonly isKnown: boolean;
  /** It was asked to be quiet there. */
  readonly hasLeft: boolean;
  readonly followUps: 'all' | 'mention';
  /** Other bots that may mention this one. */
  readonly bots: readonly string[];
  /** Runs since a person last spoke here. */
  readonly botRuns: number;
}

export type Trigger =
  | { readonly kind: 'answer'; readonly rule: string; readonly addressed: boolean }
  | { readonly kind: 'ignore'; readonly rule: string };

/** Bots answering bots end here. */
const mostBotRuns = 3;

export function triggerOf(message: InboundMessage, facts: TriggerFacts): Trigger {
  if (message.text.trim() === '' && message.files.length === 0 && !message.mentionsBot) {
    return ignore('no content');
  }
  if (message.author.isBot) return triggerOfBot(message, facts);
  if (message.place === 'direct') return answer('direct message', true);
  if (message.mentionsBot) return answer('mention', true);
  if (message.place === 'channel') return ignore('channel message without a mention');
  if (!facts.isKnown) return ignore('thread the bot takes no part in');
  if (facts.hasLeft) return ignore('the bot has left this thread until it is mentioned');
  if (message.addressesOther) return ignore('addressed to somebody else');
  if (facts.followUps === 'mention') return ignore('this channel answers mentions only');
  return answer('follow-up in a thread the bot takes part in', false);
}

function triggerOfBot(message: InboundMessage, facts: TriggerFacts): Trigger {
  if (!facts.bots.includes(message.author.id)) return ignore('another bot');
  if (!message.mentionsBot) return ignore('another bot, without a mention');
  if (facts.botRuns >= mostBotRuns) return ignore(`${mostBotRuns} runs for bots without a person`);
  return answer('mention by an allowed bot', true);
}

function answer(rule: string, addressed: boolean): Trigger {
  return { kind: 'answer', rule, addressed };
}

function ignore(rule: string): Trigger {
  return { kind: 'ignore', rule };
}
