/** Choosing the model of a conversation and how hard it thinks: by name, or by a picker's buttons. */

import { createHash } from 'node:crypto';
import { botErrorOf } from '../base/errors.ts';
import { cutToUnits } from '../base/text.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import { conversationKeyOf } from '../messages/conversation.ts';
import { type Effort, effortSchema, nearestEffort } from '../messages/model.ts';
import type { Author } from '../messages/people.ts';
import type { Asker, Command, CommandInput, CommandReply } from '../surface/command.ts';
import type { Button } from '../surface/outbound.ts';
import type { Access } from './access.ts';
import { isAdmin } from './admins.ts';
import { modelSource, reasoningOf } from './choice.ts';
import { toAsker } from './commands.ts';
import type { OfferedModel } from './deps.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import type { Place } from './settings.ts';

/** A card that people can take in at a glance; one more button goes back to the settings. */
const mostButtons = 11;
const mostLabelUnits = 75;
const mostNames = 30;
const defaultWord = 'default';

export type Picked =
  | { readonly kind: 'chosen'; readonly text: string }
  | { readonly kind: 'told'; readonly text: string };

export interface Chooser {
  readonly commands: readonly Command[];
  /** Is this control one of a picker's? */
  owns(controlId: string): boolean;
  /** What a press of it does; the person may use the bot here. */
  pick(
    controlId: string,
    key: ConversationKey,
    place: Place,
    author: Author,
    isAdmin: boolean,
  ): Promise<Picked>;
}

interface Standing {
  readonly name: string;
  /** Where the name comes from, or why the model cannot be asked. */
  readonly source: string;
  /** What the model takes; empty: none, or it cannot be asked. */
  readonly efforts: readonly Effort[];
  /** What it is asked for, as far as it takes it. */
  readonly effort: Effort | undefined;
}

export interface ChooserDeps extends ExecuteDeps {
  /** May this person use the bot here? */
  readonly accessOf: (author: Author, place: Asker['place']) => Promise<Access>;
}

export function createChooser(deps: ChooserDeps): Chooser {
  const standing = (key: ConversationKey | undefined, place: Place): Promise<Standing> =>
    standingOf(deps, key, place);
  const mayChoose = (isAdmin: boolean): boolean =>
    isAdmin || deps.governance().modelChoice === 'everybody';

  const chooseModel = async (
    key: ConversationKey,
    given: string,
    { id, name: who }: Author,
  ): Promise<Picked> => {
    try {
      const value = given === defaultWord ? undefined : deps.choosableModel(given);
      const by = { id, name: who };
      await deps.choices.setModel(key, value === undefined ? undefined : { value, by });
      await audit('model', key, value, id);
      const text = `${value ?? 'The model of the settings'} answers here from the next message on, chosen by ${who}.`;
      return { kind: 'chosen', text };
    } catch (thrown) {
      return { kind: 'told', text: botErrorOf(thrown).message };
    }
  };
  const chooseEffort = async (
    key: ConversationKey,
    given: string,
    { name: model, efforts }: Standing,
    { id, name }: Author,
  ): Promise<Picked> => {
    const effort = effortSchema.safeParse(given).data;
    if (given !== defaultWord && (effort === undefined || !efforts.includes(effort))) {
      const words = [...efforts, defaultWord].join(', ');
      return { kind: 'told', text: `${model} knows: ${words}.` };
    }
    await deps.choices.setEffort(key, effort && { value: effort, by: { id, name } });
    await audit('thinking', key, effort, id);
    const text = `Thinking here from the next message on: ${effort ?? 'as the settings say'}, chosen by ${name}.`;
    return { kind: 'chosen', text };
  };
  const audit = (
    what: 'model' | 'thinking',
    conversation: ConversationKey,
    value: string | undefined,
    by: string,
  ): Promise<void> =>
    deps.audit.record({ kind: 'choice_made', what, conversation, value: value ?? null, by });

  /** The conversation, where there is one that the bot takes part in. */
  const keyOf = async ({ conversation }: CommandInput): Promise<ConversationKey | undefined> => {
    const key = conversation ? conversationKeyOf(conversation) : undefined;
    return key !== undefined && (await deps.conversations.head(key)) ? key : undefined;
  };
  const runModel = async (input: CommandInput): Promise<CommandReply> => {
    const { author, isAdmin, args, place } = input;
    const key = await keyOf(input);
    const { name, source } = await standing(key, place);
    const now = `Model here: ${name} (${source}).`;
    if (!mayChoose(isAdmin)) return toAsker(`${now} Admins choose it.`);
    const offered = deps.offeredModels();
    if (key === undefined) {
      return toAsker(
        `${now} To choose another one say \`!model NAME\` in a thread that I take part in: ${namesOf(offered)}`,
      );
    }
    if (args !== '') return replyOf(await chooseModel(key, args, author));
    const shown = foremost(offered);
    const buttons = shown.map((one) => modelButton(one, name));
    const others = offered.filter((one) => !shown.includes(one));
    const more = others.length > 0 ? ` Others by \`!model NAME\`: ${namesOf(others)}` : '';
    return { markdown: `${now}${more}`, audience: 'thread', buttons: [...buttons, back('model')] };
  };
  const runThinking = async (input: CommandInput): Promise<CommandReply> => {
    const { author, isAdmin, args, place } = input;
    const key = await keyOf(input);
    const now = await standing(key, place);
    const { name, efforts } = now;
    if (efforts.length === 0) return toAsker(`How ${name} thinks cannot be changed.`);
    const told = `${name} thinks here: ${now.effort ?? 'as it does by itself'}.`;
    if (!mayChoose(isAdmin)) return toAsker(`${told} Admins choose it.`);
    if (key === undefined) {
      return toAsker(`${told} Say \`!thinking ${efforts.join('|')}\` in a thread of mine.`);
    }
    if (args !== '') return replyOf(await chooseEffort(key, args.toLowerCase(), now, author));
    const buttons = efforts.map(
      (effort): Button => ({
        controlId: `thinking.${effort}`,
        label: effort,
        style: effort === now.effort ? 'primary' : 'plain',
      }),
    );
    return { markdown: told, audience: 'thread', buttons: [...buttons, back('thinking')] };
  };

  /** Only for people who may choose: names of models are an operator's business. */
  const suggestModels = async (
    typed: string,
    { author, place }: Asker,
  ): Promise<readonly string[]> => {
    const access = await deps.accessOf(author, place);
    const admin = isAdmin(author.id, deps.governance());
    if (access.kind === 'refused' || !mayChoose(admin)) return [];
    const names = [...deps.offeredModels().map(({ name }) => name), defaultWord];
    return names.filter((name) => name.toLowerCase().includes(typed.toLowerCase()));
  };
  return {
    commands: [
      {
        name: 'model',
        usage: 'model [NAME]',
        summary: 'Shows which model answers here, and lets you choose another.',
        tier: 'user',
        suggest: suggestModels,
        run: runModel,
      },
      {
        name: 'thinking',
        usage: 'thinking [EFFORT]',
        summary: 'Shows how hard the model thinks here, and lets you change it.',
        tier: 'user',
        run: runThinking,
      },
    ],
    owns: (controlId) => /^(?:model|thinking)\./u.test(controlId),
    pick: async (controlId, key, place, author, admin) => {
      if (!mayChoose(admin)) return { kind: 'told', text: 'Admins choose that here.' };
      const [what, word = ''] = controlId.split('.');
      if (what === 'thinking') {
        return chooseEffort(key, word, await standing(key, place), author);
      }
      if (word === defaultWord) return chooseModel(key, word, author);
      const model = deps.offeredModels().find(({ name }) => controlWord(name) === word);
      if (!model) return { kind: 'told', text: 'That model is not offered any more.' };
      return chooseModel(key, model.name, author);
    },
  };
}

function replyOf({ kind, text }: Picked): CommandReply {
  return kind === 'chosen' ? { markdown: text, audience: 'thread' } : toAsker(text);
}

/** The default model, then one of each provider in turn, those with a short name first. */
function foremost([own, ...others]: readonly OfferedModel[]): readonly OfferedModel[] {
  const hasShortName = ({ aliases }: OfferedModel): number => Number(aliases.length > 0);
  const counts = new Map<string, number>();
  const ranked = others
    .toSorted((a, b) => hasShortName(b) - hasShortName(a))
    .map((model) => {
      const [provider = ''] = model.name.split('/');
      const rank = counts.get(provider) ?? 0;
      counts.set(provider, rank + 1);
      return { model, rank };
    });
  const dealt = ranked.toSorted((a, b) => a.rank - b.rank).map(({ model }) => model);
  return [...(own ? [own] : []), ...dealt].slice(0, mostButtons);
}

/** Names for people, the first few. */
function namesOf(models: readonly OfferedModel[]): string {
  const names = models.slice(0, mostNames).map(({ name }) => `\`${name}\``);
  const more = models.length > mostNames ? ` and ${models.length - mostNames} more` : '';
  return `${names.join(', ')}${more}.`;
}

/** How the model of a place stands; never fails: what is wrong is said. */
export async function standingOf(
  deps: ExecuteDeps,
  key: ConversationKey | undefined,
  place: Place,
): Promise<Standing> {
  const profile = deps.profileOf(place);
  const choice = key === undefined ? {} : await deps.choices.read(key);
  const wanted = choice.model?.value ?? profile.model?.value;
  const source = modelSource(profile, choice);
  try {
    const { name, why, efforts } = await deps.modelOf(wanted);
    const effort = reasoningOf(profile, choice).effort;
    const fitted = effort === undefined ? undefined : nearestEffort(effort, efforts);
    return { name, source: source ?? why, efforts, effort: fitted };
  } catch (thrown) {
    const problem = botErrorOf(thrown).message;
    const from = source === undefined ? '' : `, ${source}`;
    return {
      name: wanted ?? 'none',
      source: `not available${from}: ${problem}`,
      efforts: [],
      effort: undefined,
    };
  }
}

function modelButton({ name, aliases }: OfferedModel, current: string): Button {
  const [alias] = aliases;
  const label = alias === undefined ? name : `${alias} (${name})`;
  return {
    controlId: `model.${controlWord(name)}`,
    label: cutToUnits(label, mostLabelUnits),
    style: name === current ? 'primary' : 'plain',
  };
}

function back(what: 'model' | 'thinking'): Button {
  return { controlId: `${what}.${defaultWord}`, label: 'As the settings say', style: 'plain' };
}

/** Names hold characters that control ids may not. */
function controlWord(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 16);
}
