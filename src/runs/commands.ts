/** Commands: one grammar on all platforms, one table. */

import type { Clock } from '../base/clock.ts';
import { botErrorOf } from '../base/errors.ts';
import type { NewId } from '../base/ids.ts';
import { errorFacts, type Log } from '../base/log.ts';
import type { Conversations } from '../conversations/conversations.ts';
import { conversationKeyOf } from '../messages/conversation.ts';
import type { Adapter } from '../surface/adapter.ts';
import type { Command, CommandInput, CommandReply, CommandSummary } from '../surface/command.ts';
import { deliver } from '../surface/deliver.ts';
import { type InboundCommand, type InboundMessage, noThread } from '../surface/inbound.ts';
import type { Block, Button, OutboundMessage } from '../surface/outbound.ts';
import { isAdmin } from './admins.ts';
import type { Background } from './background.ts';
import type { Inbox } from './inbox.ts';
import type { Governance } from './settings.ts';

export interface CommandCenter {
  readonly summaries: readonly CommandSummary[];
  /** True when the message was a command; then it is taken care of. */
  takeMessage(message: InboundMessage, addressed: boolean): Promise<boolean>;
  takeCommand(event: InboundCommand): void;
}

export interface CommandCenterDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  readonly adapters: ReadonlyMap<string, Adapter>;
  readonly conversations: Conversations;
  readonly inbox: Inbox;
  readonly background: Background;
  readonly governance: () => Governance;
}

export interface ParsedCommand {
  readonly name: string;
  readonly args: string;
}

/** `!stop now` → stop, "now". Undefined when the text is no command. */
export function parseCommand(text: string): ParsedCommand | undefined {
  const [, name, args = ''] = /^\s*!([a-z][a-z-]*)(?:\s+([\s\S]*))?$/iu.exec(text) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase(), args: args.trim() };
}

export function createCommandCenter(
  deps: CommandCenterDeps,
  commands: readonly Command[],
): CommandCenter {
  const byName = new Map(commands.map((command) => [command.name, command]));

  const runCommand = async (
    parsed: ParsedCommand,
    input: Omit<CommandInput, 'args' | 'isAdmin'>,
  ): Promise<CommandReply> => {
    const admin = isAdmin(input.author.id, deps.governance());
    const command = byName.get(parsed.name);
    if (!command) {
      return toAsker(`There is no command \`${parsed.name}\`. \`help\` lists them.`);
    }
    if (command.tier === 'admin' && !admin) return toAsker(`\`${command.name}\` is for admins.`);
    deps.log.info('command_given', { command: command.name, author: input.author.id });
    return command.run({ ...input, isAdmin: admin, args: parsed.args });
  };

  const reply = async (
    event: InboundMessage | InboundCommand,
    { markdown, audience, buttons }: CommandReply,
  ): Promise<void> => {
    const { conversation, author } = event;
    const surface = deps.adapters.get(conversation.adapter)?.surfaceOf(conversation);
    if (!surface) return;
    const interactionId = event.kind === 'command' ? event.interactionId : undefined;
    if (audience === 'asker' || conversation.thread === noThread) {
      await deliver(deps.clock, () => surface.whisper(author.id, markdown, interactionId));
      return;
    }
    const key = deps.newId('c');
    const message = noticeMessage(markdown, buttons);
    await deliver(deps.clock, (attempt) =>
      surface.post(message, { key, maybePosted: attempt > 1 }),
    );
    if (interactionId) await surface.whisper(author.id, 'Done.', interactionId);
  };

  const carryOut = (
    event: InboundMessage | InboundCommand,
    parsed: ParsedCommand,
    isInConversation: boolean,
  ): void => {
    const { adapter, space, channel } = event.conversation;
    const { channelName, channelKind, author } = event;
    deps.background.start('command', async () => {
      const input = {
        conversation: isInConversation ? event.conversation : null,
        place: { adapter, space, channel, channelName, channelKind },
        author,
      };
      // Whoever gave a command hears of it, whatever happens.
      const answer = await runCommand(parsed, input).catch((thrown: unknown) => {
        deps.log.error('command_failed', { command: parsed.name, ...errorFacts(thrown) });
        return toAsker(`That did not work: ${botErrorOf(thrown).message}`);
      });
      await reply(event, answer);
    });
  };

  return {
    summaries: commands.map(({ name, usage, summary, suggest }) => ({
      name,
      usage,
      summary,
      ...(suggest ? { suggest } : {}),
    })),
    takeMessage: async (message, addressed) => {
      const parsed = parseCommand(message.text);
      if (!parsed || message.author.isBot) return false;
      // In a thread, an unknown `!word` of a message that was not for the bot is just text.
      if (!addressed && !byName.has(parsed.name)) return false;
      if (!(await deps.inbox.first(message))) return true;
      const known = await deps.conversations.head(conversationKeyOf(message.conversation));
      carryOut(message, parsed, known !== undefined);
      return true;
    },
    takeCommand: (event) => {
      const parsed = parseCommand(`!${event.text.trim() || 'help'}`) ?? {
        name: event.text,
        args: '',
      };
      carryOut(event, parsed, event.conversation.thread !== noThread);
    },
  };
}

/** A line of the bot's own in the thread, with what can be pressed. */
export function noticeMessage(text: string, buttons: readonly Button[] = []): OutboundMessage {
  const notice: Block = { kind: 'notice', text };
  const blocks: readonly Block[] =
    buttons.length === 0 ? [notice] : [notice, { kind: 'buttons', buttons }];
  return { blocks, mentionable: [] };
}

export function toAsker(markdown: string): CommandReply {
  return { markdown, audience: 'asker' };
}
