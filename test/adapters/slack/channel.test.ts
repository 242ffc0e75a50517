/** What is read of a Slack channel, and emoji on its messages. */

import { describe, expect, it } from 'vitest';
import { reactionEmojis } from '../../../src/surface/reactions.ts';
import { addMessages, setUpThread } from './set-up-thread.ts';

describe('the history of a channel', () => {
  it('leaves out threads, broadcasts from them, joins and topics', async () => {
    const slack = await setUpThread();
    const { workspace } = slack;
    workspace.say('U_ANNA', 'C1', 'joined', { subtype: 'channel_join' });
    workspace.say('U_ANNA', 'C1', 'also here', {
      ...{ thread: slack.root, subtype: 'thread_broadcast' },
    });
    const last = workspace.say('U_BO', 'C1', 'last *words*');
    const read = await slack.surface.channelHistory(10);
    expect(read.map(({ messageId }) => messageId)).toEqual([slack.root, last]);
    expect(read[1]).toMatchObject({ author: 'Bo Li', authorIsSelf: false, text: 'last **words**' });
    expect(await slack.surface.channelHistory(0)).toEqual([]);
    await slack.close();
  });

  it('reads on where one page is not enough, and no further than it must', async () => {
    const slack = await setUpThread();
    addMessages(slack, 450, (number) => ({ text: `line ${number}` }));
    const pages = (): number => slack.callsOf('conversations.history').length;
    const read = await slack.surface.channelHistory(201);
    expect([read.length, read[0]?.text, read.at(-1)?.text]).toEqual([201, 'line 250', 'line 450']);
    expect(pages()).toBe(2);
    await slack.surface.channelHistory(200);
    expect(pages()).toBe(3);
    await slack.close();
  });

  it('can be read where the conversation has no thread', async () => {
    const slack = await setUpThread();
    const surface = slack.adapter.surfaceOf(slack.conversation('C1', 'none'));
    expect((await surface.channelHistory(5)).map(({ text }) => text)).toEqual(['root']);
    await slack.close();
  });
});

describe('emoji', () => {
  it('of the list all have a name that Slack knows', async () => {
    const slack = await setUpThread();
    for (const emoji of reactionEmojis) {
      expect([emoji, await slack.surface.react(slack.root, { emoji }, true)]).toEqual([
        emoji,
        true,
      ]);
    }
    const message = slack.workspace.model.messages.find((one) => one.ts === slack.root);
    expect(message?.reactions.size).toBe(reactionEmojis.length);
    await slack.close();
  });

  it.each(['too_many_emoji', 'message_not_found', 'ratelimited', 'missing_scope'])(
    'that Slack refuses with %s are reported',
    async (word) => {
      const slack = await setUpThread();
      slack.workspace.fault('reactions.add', { kind: 'refused', word });
      expect(await slack.surface.react(slack.root, { emoji: '👍' }, true)).toBe(false);
      await slack.close();
    },
  );

  it('are not put on while Slack is not connected', async () => {
    const slack = await setUpThread();
    await slack.adapter.stop();
    expect(await slack.surface.react(slack.root, { emoji: '👍' }, true)).toBe(false);
    await slack.close();
  });
});
