/**
 * The slash command with its subcommands. Compared before it is written: Discord counts creations
 * (200 a day, interactions/application-commands).
 */

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { errorFacts, type Log } from '../../src/base/log.ts';
import { cutToUnits } from '../../src/base/text.ts';
import type { Asker, CommandSummary } from '../../src/surface/command.ts';
import { anyAnswer, type CallDiscord } from './rest.ts';
import type { TypingInteraction } from './wire.ts';

export const commandName = 'deckhand';
const mostSubcommands = 25;
const mostDescriptionUnits = 100;
const mostChoices = 25;
const mostChoiceUnits = 100;
const optionTypes = { subcommand: 1, string: 3 } as const;

const optionSchema = z.object({
  type: z.number(),
  name: z.string(),
  description: z.string().default(''),
  required: z.boolean().default(false),
  autocomplete: z.boolean().default(false),
});
const commandSchema = z.object({
  type: z.number().default(1),
  name: z.string(),
  description: z.string().default(''),
  options: z.array(optionSchema.extend({ options: z.array(optionSchema).default([]) })).default([]),
});
type SlashCommand = z.infer<typeof commandSchema>;

export function slashCommandOf(commands: readonly CommandSummary[]): SlashCommand {
  return {
    type: 1,
    name: commandName,
    description: 'Talk to the bot about this conversation',
    options: commands
      .filter(({ name }) => /^[-_\p{Ll}\p{Lo}\p{N}]{1,32}$/u.test(name))
      .slice(0, mostSubcommands)
      .map(({ name, usage, summary, suggest }) => ({
        type: optionTypes.subcommand,
        name,
        description: cutToUnits(summary, mostDescriptionUnits) || name,
        required: false,
        autocomplete: false,
        options:
          usage.trim() === name
            ? []
            : [
                {
                  type: optionTypes.string,
                  name: 'args',
                  description: cutToUnits(usage, mostDescriptionUnits),
                  required: false,
                  autocomplete: suggest !== undefined,
                },
              ],
      })),
  };
}

/** Brings Discord's list to ours. A failure is logged: commands also work as `!words`. */
export async function syncCommands(
  deps: { readonly call: CallDiscord; readonly log: Log },
  applicationId: string,
  commands: readonly CommandSummary[],
): Promise<void> {
  const wanted = slashCommandOf(commands);
  if (wanted.options.length < commands.length) {
    deps.log.warn('discord_commands_left_out', {
      count: commands.length - wanted.options.length,
    });
  }
  const route = `/applications/${applicationId}/commands` as const;
  try {
    const there = await deps.call('GET', route, { schema: z.array(commandSchema) });
    if (isDeepStrictEqual(there, [wanted])) return;
    await deps.call('PUT', route, { schema: anyAnswer, body: [wireOf(wanted)] });
    deps.log.info('discord_commands_written', { count: wanted.options.length });
  } catch (error) {
    deps.log.warn('discord_commands_not_written', errorFacts(error));
  }
}

/** What the option that is being typed could become (resources: at most 25, of 100 characters). */
export async function choicesFor(
  commands: readonly CommandSummary[],
  { data }: TypingInteraction,
  asker: Asker,
): Promise<readonly { readonly name: string; readonly value: string }[]> {
  const [subcommand] = data.options;
  const suggest = commands.find(({ name }) => name === subcommand?.name)?.suggest;
  const typed = String(subcommand?.options[0]?.value ?? '').trim();
  return ((await suggest?.(typed, asker)) ?? [])
    .filter((value) => value.length <= mostChoiceUnits)
    .slice(0, mostChoices)
    .map((value) => ({ name: value, value }));
}

/** `required` and `autocomplete` are no fields of a subcommand. */
function wireOf(command: SlashCommand): Readonly<Record<string, unknown>> {
  return {
    ...command,
    options: command.options.map(({ type, name, description, options }) => ({
      type,
      name,
      description,
      options,
    })),
  };
}
