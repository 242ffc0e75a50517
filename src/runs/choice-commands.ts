/** Choosing the model of a conversation and how hard it thinks: by name, or by a picker's buttons. */

import { createHash } from 'node:crypto';
import { botErrorOf } from '../base/errors.ts';
import { cutToUnits } from '../base/text.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import { conversationKeyOf } from '../messages/conversation.ts';
import { type Effort, effortSchema } from '../messages/model.ts';
import type { Author } from '../messages/people.ts';
import type { Command, CommandInput, CommandReply } from '../surface/command.ts';
import type { Button } from '../surface/outbound.ts';
import { modelSource, reasoningOf } from './choice.ts';
import { toAsker } from './commands.ts';
import type { OfferedModel, ResolvedModel } from './deps.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import type { Place } from './settings.ts';

/** A card that people can take in at a glance; one more button goes back to the settings. */
const mostButtons = 11;
const mostLabelUnits = 75;
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
  readonly model: ResolvedModel;
  readonly source: string;
  readonly effort: Effort | undefined;
}

export function createChooser(deps: ExecuteDeps): Chooser {
  const standing = async (key: ConversationKey | undefined, place: Place): Promise<Standing> => {
    const profile = deps.profileOf(place);
    const choice = key === undefined ? {} : await deps.choices.read(key);
    const model = await deps.modelOf(choice.model?.value ?? profile.model?.value);
    const source = modelSource(profile, choice) ?? model.why;
    return { model, source, effort: reasoningOf(profile, choice).effort };
  };
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
    { model }: Standing,
    { id, name }: Author,
  ): Promise<Picked> => {
    const effort = effortSchema.safeParse(given).data;
    if (given !== defaultWord && (effort === undefined || !model.efforts.includes(effort))) {
      const words = [...model.efforts, defaultWord].join(', ');
      return { kind: 'told', text: `${model.name} knows: ${words}.` };
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

  const runModel = async (input: CommandInput): Promise<CommandReply> => {
    const { conversation, author, isAdmin, args, place } = input;
    const key = conversation ? conversationKeyOf(conversation) : undefined;
    const { model, source } = await standing(key, place);
    const now = `Model here: ${model.name} (${source}).`;
    if (!mayChoose(isAdmin)) return toAsker(`${now} Admins choose it.`);
    const offered = deps.offeredModels();
    if (key === undefined) {
      const names = offered.map(({ name }) => `- \`${name}\``).join('\n');
      return toAsker(`${now}\nTo choose another one say \`!model NAME\` in a thread:\n${names}`);
    }
    if (args !== '') return replyOf(await chooseModel(key, args, author));
    const buttons = foremost(offered).map((one) => modelButton(one, model.name));
    const more = offered.length > mostButtons ? ' Others by `!model NAME`.' : '';
    return { markdown: `${now}${more}`, audience: 'thread', buttons: [...buttons, back('model')] };
  };
  const runThinking = async (input: CommandInput): Promise<CommandReply> => {
    const { conversation, author, isAdmin, args, place } = input;
    const key = conversation ? conversationKeyOf(conversation) : undefined;
    const now = await standing(key, place);
    const { name, efforts } = now.model;
    if (efforts.length === 0) return toAsker(`How ${name} thinks cannot be changed.`);
    const told = `${name} thinks here: ${now.effort ?? 'as it does by itself'}.`;
    if (!mayChoose(isAdmin)) return toAsker(`${told} Admins choose it.`);
    if (key === undefined) {
      return toAsker(`${told} Say \`!thinking ${efforts.join('|')}\` in a thread.`);
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

  const suggestModels = (typed: string): readonly string[] => {
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
        suggest: (typed) => effortSchema.options.filter((effort) => effort.startsWith(typed)),
        run: runThinking,
      },
    ],
    owns: (controlId) => /^(?:model|thinking)\./u.test(controlId),
    pick: async (controlId, key, place, author, isAdmin) => {
      if (!mayChoose(isAdmin)) return { kind: 'told', text: 'Admins choose that here.' };
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

/** The default model, then those that have a short name, then the others. */
function foremost([own, ...others]: readonly OfferedModel[]): readonly OfferedModel[] {
  const named = others.filter(({ aliases }) => aliases.length > 0);
  const nameless = others.filter(({ aliases }) => aliases.length === 0);
  return [...(own ? [own] : []), ...named, ...nameless].slice(0, mostButtons);
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
