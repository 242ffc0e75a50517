/** A thread in #ops, before anybody answered. */

import type { Surface } from '../../../src/surface/surface.ts';
import type { StoredMessage } from '../../emulators/slack/model.ts';
import { type SetUpOptions, type SlackSetUp, setUpSlack } from './set-up.ts';

export interface ThreadSetUp extends SlackSetUp {
  readonly root: string;
  readonly surface: Surface;
  callsOf(method: string): readonly Readonly<Record<string, unknown>>[];
}

export async function setUpThread(options: SetUpOptions = {}): Promise<ThreadSetUp> {
  const slack = await setUpSlack(options);
  const root = slack.workspace.say('U_ANNA', 'C1', 'root');
  return {
    ...slack,
    root,
    surface: slack.adapter.surfaceOf(slack.conversation('C1', root)),
    callsOf: (method) =>
      slack.workspace.calls.filter((call) => call.method === method).map((call) => call.args),
  };
}

/** Messages that were there before, without events. */
export function addMessages(
  slack: ThreadSetUp,
  count: number,
  make: (number: number) => Partial<StoredMessage>,
): void {
  const { model } = slack.workspace;
  const { messages } = model;
  const like = messages.find((message) => message.ts === slack.root);
  if (like === undefined) throw new Error('The root is missing.');
  for (let number = 1; number <= count; number += 1) {
    messages.push({ ...like, ts: model.nextTs(), ...make(number) });
  }
}

export const key = { key: 'run_1.p1', maybePosted: false };
