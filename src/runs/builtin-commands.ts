/** The commands of the first table: help, stop, new, status, config, why, spaces. */

import { conversationKeyOf } from '../messages/conversation.ts';
import type { Command, CommandInput, CommandReply } from '../surface/command.ts';
import { standingOf } from './choice-commands.ts';
import { toAsker } from './commands.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import { grantsCommand } from './grants-command.ts';
import type { Lanes } from './lane.ts';
import type { AccessLists, Profile, Sourced } from './settings.ts';
import type { Spaces } from './spaces.ts';
import { stopRun } from './stopping.ts';
import { usageCommand } from './usage-command.ts';
import type { Traces } from './why.ts';

export interface BuiltinDeps extends ExecuteDeps {
  readonly lanes: () => Lanes;
  readonly spaces: Spaces;
  readonly traces: Traces;
}

const inThreadOnly = toAsker('Use this in a thread that I take part in.');

export function builtinCommands(deps: BuiltinDeps, more: readonly Command[]): readonly Command[] {
  const commands: Command[] = [
    stopCommand(deps),
    newCommand(deps),
    statusCommand(deps),
    configCommand(deps),
    whyCommand(deps),
    usageCommand(deps),
    grantsCommand(deps),
    spacesCommand(deps),
    ...more,
  ];
  return [helpCommand(commands), ...commands];
}

function helpCommand(others: readonly Command[]): Command {
  return {
    name: 'help',
    usage: 'help',
    summary: 'Lists what I understand.',
    tier: 'user',
    run: async ({ isAdmin }) => {
      const lines = others
        .filter(({ tier }) => tier === 'user' || isAdmin)
        .map(({ usage, summary }) => `- \`!${usage}\`: ${summary}`);
      return toAsker(
        `Mention me and say what you need; I answer in a thread and follow it.\n\nIn a thread, or after \`/deckhand\` without the !:\n${lines.join('\n')}`,
      );
    },
  };
}

function stopCommand(deps: BuiltinDeps): Command {
  return {
    name: 'stop',
    usage: 'stop',
    summary: 'Stops what I am doing in this thread.',
    tier: 'user',
    run: async ({ conversation, author }) => {
      if (!conversation) return inThreadOnly;
      const key = conversationKeyOf(conversation);
      const record = await deps.records.read(key);
      // What an earlier run left in the background ends too.
      await deps.stopJobs(key);
      if (!record && !deps.lanes().isBusy(key)) return toAsker('Nothing is running here.');
      await stopRun({ ...deps, lanes: deps.lanes() }, key, author.name);
      return toAsker('Stopping.');
    },
  };
}

function newCommand(deps: BuiltinDeps): Command {
  return {
    name: 'new',
    usage: 'new',
    summary: 'Starts afresh in this thread: I no longer look at what was said before.',
    tier: 'user',
    run: async ({ conversation, author }) => {
      if (!conversation) return inThreadOnly;
      const key = conversationKeyOf(conversation);
      const record = await deps.records.read(key);
      if (record?.state === 'suspended') {
        return toAsker('A question of mine is open here. Answer it, or say `!stop` first.');
      }
      if (deps.lanes().isBusy(key) || record) {
        return toAsker('I am still at work here. Say `!stop` first, then `!new`.');
      }
      const at = deps.clock.now();
      const [number = 1] = await deps.conversations
        .transcript(key)
        .append([{ v: 1, at, kind: 'fresh_start', by: author.id }]);
      await deps.conversations.update(key, (head) => ({ ...head, contextFrom: number + 1 }));
      return { markdown: `Fresh start, asked for by ${author.name}.`, audience: 'thread' };
    },
  };
}

function statusCommand(deps: BuiltinDeps): Command {
  return {
    name: 'status',
    usage: 'status',
    summary: 'Says what I am doing and which model I use.',
    tier: 'user',
    run: async (input) => {
      const lines = [...(await doing(deps, input)), await modelLine(deps, input)];
      for (const adapter of deps.adapters.values()) {
        if (input.isAdmin) lines.push(`- ${adapter.name}: ${adapter.state().detail}`);
      }
      return toAsker(lines.join('\n'));
    },
  };
}

async function doing(
  deps: BuiltinDeps,
  { conversation }: CommandInput,
): Promise<readonly string[]> {
  if (!conversation) return [`- ${deps.lanes().activeCount()} running now, over all threads`];
  const key = conversationKeyOf(conversation);
  const active = deps.lanes().active(key);
  const record = await deps.records.read(key);
  const waiting = (await deps.inbox.waiting(key)).length;
  const state = active
    ? `working for ${Math.round((deps.clock.now() - active.startedAt) / 1000)} s`
    : record?.state === 'suspended'
      ? 'waiting for an answer to my question'
      : 'nothing to do';
  return [`- here: ${state}${waiting > 0 ? `, ${waiting} waiting` : ''}`];
}

async function modelLine(
  deps: BuiltinDeps,
  { place, conversation }: CommandInput,
): Promise<string> {
  const key = conversation ? conversationKeyOf(conversation) : undefined;
  const { name, source, effort } = await standingOf(deps, key, place);
  return `- model: ${name} (${source})${effort === undefined ? '' : `, thinking: ${effort}`}`;
}

function configCommand(deps: BuiltinDeps): Command {
  return {
    name: 'config',
    usage: 'config',
    summary: 'Shows the settings that hold here, and where each comes from.',
    tier: 'user',
    run: async (input) => {
      const profile = deps.profileOf(input.place);
      const lines = [
        await modelLine(deps, input),
        `- follow-ups: ${profile.followUps.value} (${profile.followUps.source})`,
        ...Object.entries(profile.reply).map(
          ([name, { value, source }]) => `- reply.${name}: ${value} (${source})`,
        ),
        ...profile.instructions.map(
          ({ value, source }) => `- instructions (${source}): ${value.trim()}`,
        ),
        ...accessLines(profile, input.isAdmin),
      ];
      return toAsker(lines.join('\n'));
    },
  };
}

/** Lists of people are for admins; others learn only that there are some. */
function accessLines(profile: Profile, isAdmin: boolean): readonly string[] {
  const line = (name: string, { value, source }: Sourced<AccessLists>): string => {
    const ids = Object.entries(value).flatMap(([kind, list]) =>
      list.length > 0 ? [`${kind} ${list.join(', ')}`] : [],
    );
    return `- ${name} (${source}): ${isAdmin ? ids.join('; ') : 'a list that admins can see'}`;
  };
  return [
    ...profile.allow.map((lists) => line('allow', lists)),
    ...profile.deny.map((lists) => line('deny', lists)),
  ];
}

function whyCommand(deps: BuiltinDeps): Command {
  return {
    name: 'why',
    usage: 'why',
    summary: 'Explains how I came to answer the last message here.',
    tier: 'user',
    run: async (input) => {
      if (!input.conversation) return inThreadOnly;
      const trace = await deps.traces.last(conversationKeyOf(input.conversation));
      if (!trace) return toAsker('I have not answered anything here yet.');
      const access = input.isAdmin ? trace.access : trace.access.replace(/ \(.*\)$/u, '');
      if (access === '') return toAsker(`- the last message: ${trace.trigger}`);
      const { agent, limits } = deps.settings;
      return toAsker(
        [
          `- answered because: ${trace.trigger}`,
          `- allowed because: ${access}`,
          trace.model ? `- model: ${trace.model}` : await modelLine(deps, input),
          `- limits: ${limits.stepsPerRun} steps a run, ${agent.toolTimeoutSeconds} s a tool`,
        ].join('\n'),
      );
    },
  };
}

function spacesCommand(deps: BuiltinDeps): Command {
  return {
    name: 'spaces',
    usage: 'spaces [allow PLATFORM:ID]',
    summary: 'Lists the workspaces and servers I am in; allows one.',
    tier: 'admin',
    run: async ({ args }): Promise<CommandReply> => {
      const [verb, id] = args.split(/\s+/u);
      if (verb === 'allow' && id !== undefined && /^[a-z]+:\S+$/u.test(id)) {
        return toAsker(await deps.spaces.allow(id));
      }
      const lines: string[] = [];
      for (const adapter of deps.adapters.values()) {
        const allowed = await deps.spaces.allowed(adapter);
        for (const { id: space, name } of adapter.spaces()) {
          const full = `${adapter.name}:${space}`;
          lines.push(`- ${full} (${name}): ${allowed.includes(full) ? 'served' : 'not served'}`);
        }
      }
      return toAsker(lines.join('\n') || 'I am in no workspace or server.');
    },
  };
}
