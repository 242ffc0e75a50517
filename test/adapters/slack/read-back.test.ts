/** Reading threads and channels back from Slack. */

import { describe, expect, it } from 'vitest';
import { markdown } from './set-up.ts';
import { addMessages, key, setUpThread } from './set-up-thread.ts';

describe('history', () => {
  it('reads page by page and keeps the root and the newest', async () => {
    const slack = await setUpThread();
    addMessages(slack, 450, (reply) => ({
      threadTs: slack.root,
      text: `reply ${reply} <@U_BO>`,
    }));
    const history = await slack.surface.history(3);
    expect(history.map((message) => message.text)).toEqual([
      'root',
      'reply 449 @Bo Li',
      'reply 450 @Bo Li',
    ]);
    expect(slack.callsOf('conversations.replies')).toHaveLength(3);
    await slack.close();
  });

  it('gives the bot its own words as it wrote them', async () => {
    const slack = await setUpThread();
    const long = `**Hello** @Bo Li\n\n${'word '.repeat(1_500)}end`;
    await slack.surface.post(markdown(long, [{ id: 'slack:U_BO', name: 'Bo Li' }]), key);
    expect((await slack.surface.history(5)).at(-1)).toMatchObject({
      author: 'deckhand',
      authorIsSelf: true,
      text: long,
    });
    await slack.close();
  });

  it('says that a thread is gone', async () => {
    const slack = await setUpThread();
    await expect(
      slack.adapter.surfaceOf(slack.conversation('C1', '1.1')).history(5),
    ).rejects.toMatchObject({ code: 'surface_gone' });
    await slack.close();
  });
});

describe('reading back', () => {
  it('reads replies of a thread after a message, oldest first', async () => {
    const slack = await setUpThread();
    const one = slack.workspace.say('U_ANNA', 'C1', 'one', { thread: slack.root });
    await slack.surface.post(markdown('own'), key);
    const two = slack.workspace.say('U_BO', 'C1', 'two', { thread: slack.root });
    const three = slack.workspace.say('U_ANNA', 'C1', 'three', { thread: slack.root });
    const place = { space: 'T_ACME', channel: 'C1', thread: slack.root };
    const after = await slack.adapter.messagesAfter(place, one, 10);
    expect(after.map((message) => [message.messageId, message.place])).toEqual([
      [two, 'thread'],
      [three, 'thread'],
    ]);
    await slack.close();
  });

  it('reads a channel of many messages in order', async () => {
    const slack = await setUpThread();
    addMessages(slack, 250, (number) => ({ text: `n${number}` }));
    const place = { space: 'T_ACME', channel: 'C1', thread: null };
    const after = await slack.adapter.messagesAfter(place, slack.root, 2);
    expect(after.map((message) => message.text)).toEqual(['n1', 'n2']);
    await slack.close();
  });
});
