/** Which people, groups and roles somebody stands for, looked up at the moment that it counts. */

import { errorFacts, type Log } from '../base/log.ts';
import type { Conversation } from '../messages/conversation.ts';
import type { Author } from '../messages/people.ts';
import type { SourcedRule } from '../permissions/settings.ts';
import type { Adapter } from '../surface/adapter.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import type { RunRecord } from './run-record.ts';
import type { Scene } from './scene.ts';
import type { Place } from './settings.ts';

/** `slack:S0…` is a user group; people are U… or W…. */
const slackGroup = /^slack:S[A-Z0-9]+$/u;

export function placeOfScene({ conversation, head }: Pick<Scene, 'conversation' | 'head'>): Place {
  const { adapter, space, channel } = conversation;
  return { adapter, space, channel, channelName: head?.channelName ?? '' };
}

/** Of the asker, and of each who wrote into the run, their own id and those of the named groups and
 * roles that they belong to. */
export async function idsOfPeople(
  deps: ExecuteDeps,
  scene: Scene,
  record: RunRecord,
  rules: readonly SourcedRule[],
): Promise<readonly ReadonlySet<string>[]> {
  const named = rules.flatMap(({ rule }) => rule.for ?? []);
  const { adapter, conversation } = scene;
  return Promise.all(
    peopleOf(scene, record).map(async ({ id, roles }) => {
      const groups = await groupsOf(deps.log, adapter, conversation, id, named);
      return new Set([id, ...roles, ...groups]);
    }),
  );
}

/** Ids of those who asked for what the run does: the asker, and each who wrote into it. */
export function askersOf(scene: Pick<Scene, 'transcript'>, record: RunRecord): readonly string[] {
  return peopleOf(scene, record).map(({ id }) => id);
}

/** The asker and all whose messages entered since the run's first. */
function peopleOf(
  { transcript }: Pick<Scene, 'transcript'>,
  { asker, triggerIds }: RunRecord,
): readonly Pick<Author, 'id' | 'roles'>[] {
  const said = transcript
    .entries()
    .flatMap((entry) => (entry.kind === 'user_message' ? [entry] : []));
  const first = said.findIndex(({ messageId }) => triggerIds.includes(messageId));
  const people = new Map<string, Pick<Author, 'id' | 'roles'>>([[asker.id, asker]]);
  for (const { author } of first < 0 ? [] : said.slice(first)) {
    if (!people.has(author.id)) people.set(author.id, author);
  }
  return [...people.values()];
}

/** Is this person, one of their roles or groups among the named ids? */
export async function standsFor(
  log: Log,
  adapter: Adapter,
  conversation: Conversation,
  author: Pick<Author, 'id' | 'roles'>,
  named: readonly string[],
): Promise<boolean> {
  if (named.some((id) => id === author.id || author.roles.includes(id))) return true;
  return (await groupsOf(log, adapter, conversation, author.id, named)).length > 0;
}

/** Of the named Slack user groups, those that the person is in now. A group that cannot be looked
 * up counts as one that they are not in. */
async function groupsOf(
  log: Log,
  adapter: Adapter,
  { space }: Conversation,
  person: string,
  named: readonly string[],
): Promise<readonly string[]> {
  const groups = [...new Set(named.filter((id) => slackGroup.test(id)))];
  const found: string[] = [];
  for (const group of groups) {
    try {
      const members = await adapter.groupMembers?.(group, space);
      if (members?.includes(person)) found.push(group);
    } catch (thrown) {
      log.warn('group_not_read', { group, ...errorFacts(thrown) });
    }
  }
  return found;
}
