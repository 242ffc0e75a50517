/** Clicks, forms and slash commands on Slack. */

import { describe, expect, it } from 'vitest';
import { createResponseBook } from '../../../adapters/slack/response-book.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { Block } from '../../../src/surface/outbound.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { type SlackSetUp, setUpSlack } from './set-up.ts';

async function postCard(
  slack: SlackSetUp,
  blocks: readonly Block[],
): Promise<{ readonly ts: string; readonly root: string }> {
  const root = slack.workspace.say('U_ANNA', 'C1', 'root');
  const { messageId } = await slack.adapter
    .surfaceOf(slack.conversation('C1', root))
    .post({ blocks, mentionable: [] }, { key: 'card', maybePosted: false });
  return { ts: messageId, root };
}

const formBlocks: readonly Block[] = [
  { kind: 'markdown', text: 'Which **colour** do you & <Bo> want? See [this](https://x.y).' },
  {
    kind: 'buttons',
    buttons: [{ controlId: 'form.q1', label: 'Other answer that is long…', style: 'plain' }],
  },
];

describe('forms', () => {
  it('opens with the label as title and the start of the card as label', async () => {
    const slack = await setUpSlack();
    const { ts, root } = await postCard(slack, formBlocks);
    slack.workspace.click('U_ANNA', ts, 'form.q1');
    await slack.workspace.until(() => slack.workspace.model.views.length === 1);
    const [opened] = slack.workspace.model.views;
    expect(opened).toMatchObject({
      user: 'U_ANNA',
      view: {
        title: { text: 'Other answer that is lo…' },
        blocks: [
          {
            label: { text: 'Which colour do you & <Bo> want? See this.' },
            element: { multiline: true, max_length: 3_000 },
          },
        ],
      },
    });
    slack.workspace.submitForm('U_ANNA', 'x'.repeat(3_000));
    const form = await slack.first('form');
    expect(form.text).toHaveLength(3_000);
    expect(form).toMatchObject({
      cardId: ts,
      conversation: { thread: root },
      controlId: 'form.q1',
    });
    await slack.adapter
      .surfaceOf(form.conversation)
      .whisper('slack:U_ANNA', 'Thanks.', form.interactionId);
    expect(slack.workspace.privateLines('U_ANNA')).toEqual(['Thanks.']);
    await slack.close();
  });

  it('opens before any other call of the Web API', async () => {
    const slack = await setUpSlack();
    const { ts } = await postCard(slack, formBlocks);
    await slack.workspace.settled();
    const before = slack.workspace.calls.length;
    slack.workspace.click('U_BO', ts, 'form.q1');
    await slack.workspace.until(() => slack.workspace.model.views.length === 1);
    expect(slack.workspace.calls.slice(before).map((call) => call.method)).toEqual(['views.open']);
    await slack.close();
  });

  it('B064: asks privately for another click when the trigger is too old', async () => {
    const slack = await setUpSlack({ workspace: { mostTriggerAgeMs: -1 } });
    const { ts } = await postCard(slack, formBlocks);
    slack.workspace.click('U_ANNA', ts, 'form.q1');
    await slack.workspace.until(() => slack.workspace.privateLines('U_ANNA').length === 1);
    expect(slack.workspace.privateLines('U_ANNA')).toEqual([
      'That took too long to open. Please click again.',
    ]);
    expect(slack.events.filter((event) => event.kind !== 'message')).toEqual([]);
    await slack.close();
  });

  it('says so when the answer cannot be stored', async () => {
    const slack = await setUpSlack();
    const { ts } = await postCard(slack, formBlocks);
    slack.workspace.click('U_ANNA', ts, 'form.q1');
    await slack.workspace.until(() => slack.workspace.model.views.length === 1);
    slack.failStoring(true);
    slack.workspace.submitForm('U_ANNA', 'green');
    await slack.workspace.until(() => slack.workspace.privateLines('U_ANNA').length === 1);
    expect(slack.workspace.privateLines('U_ANNA')).toEqual([
      'Could not save your answer, please try again.',
    ]);
    await slack.close();
  });
});

describe('choices', () => {
  it('acknowledges and ignores ticks, and sends what is ticked at the end', async () => {
    const slack = await setUpSlack();
    const options = Array.from({ length: 12 }, (_, index) => ({
      value: `v${index}`,
      label: `Option ${index}`,
    }));
    const { ts } = await postCard(slack, [
      { kind: 'choice', controlId: 'q.1', options, submitLabel: 'Send' },
    ]);
    slack.workspace.tick('U_ANNA', ts, ['Option 1']);
    slack.workspace.tick('U_ANNA', ts, ['Option 1', 'Option 11']);
    await slack.workspace.settled();
    expect(slack.events.filter((event) => event.kind === 'click')).toEqual([]);
    slack.workspace.click('U_ANNA', ts, 'Send');
    expect(await slack.first('click')).toMatchObject({ controlId: 'q.1', values: ['v1', 'v11'] });
    await slack.workspace.settled();
    expect(slack.workspace.deliveries.every((delivery) => delivery.isAcknowledged)).toBe(true);
    await slack.close();
  });
});

describe('slash commands', () => {
  it('tells a command outside any thread and answers it privately', async () => {
    const slack = await setUpSlack();
    slack.workspace.slash('U_ANNA', 'C1', '  config &lt;x&gt; ');
    const command = await slack.first('command');
    expect(command).toMatchObject({
      text: 'config <x>',
      conversation: { channel: 'C1', thread: 'none' },
      channelName: 'ops',
      channelKind: 'public',
      author: { id: 'slack:U_ANNA', name: 'Anna', standing: 'member' },
    });
    await slack.adapter
      .surfaceOf(command.conversation)
      .whisper('slack:U_ANNA', 'The **model** is x.', command.interactionId);
    expect(slack.workspace.privateLines('U_ANNA')).toEqual(['The **model** is x.']);
    expect(slack.workspace.model.privateMessages[0]?.thread).toBeNull();
    await slack.close();
  });

  it('takes a channel that it cannot see as private', async () => {
    const slack = await setUpSlack();
    slack.workspace.addChannel({
      id: 'C9',
      name: 'board',
      kind: 'group',
      members: ['U_ANNA'],
      withBot: false,
    });
    slack.workspace.slash('U_ANNA', 'C9', 'help');
    expect(await slack.first('command')).toMatchObject({
      channelKind: 'private',
      channelName: 'privategroup',
    });
    await slack.close();
  });

  it('says so when the command cannot be stored', async () => {
    const slack = await setUpSlack();
    slack.failStoring(true);
    slack.workspace.slash('U_ANNA', 'C1', 'stop');
    await slack.workspace.until(() => slack.workspace.privateLines('U_ANNA').length === 1);
    expect(slack.workspace.privateLines('U_ANNA')).toEqual([
      'Could not save your command, please try again.',
    ]);
    await slack.close();
  });
});

describe('private lines', () => {
  it('go on as ephemeral messages when an address is used up', async () => {
    const slack = await setUpSlack();
    slack.workspace.slash('U_ANNA', 'C1', 'help');
    const { conversation, interactionId } = await slack.first('command');
    const surface = slack.adapter.surfaceOf(conversation);
    for (let line = 1; line <= 6; line += 1) {
      await surface.whisper('slack:U_ANNA', `line ${line}`, interactionId);
    }
    expect(slack.workspace.privateLines('U_ANNA')).toHaveLength(6);
    const ways = slack.workspace.calls
      .map((call) => call.method)
      .filter((method) => method === 'response_url' || method === 'chat.postEphemeral');
    expect(ways).toEqual([...Array<string>(5).fill('response_url'), 'chat.postEphemeral']);
    await slack.close();
  });

  it('go to a direct message when the person is not in the channel', async () => {
    const slack = await setUpSlack();
    slack.workspace.addUser({ id: 'U_ZED', name: 'Zed' });
    const surface = slack.adapter.surfaceOf(slack.conversation('C1', '1.1'));
    await surface.whisper('slack:U_ZED', 'Hello Zed.');
    expect(slack.workspace.privateLines('U_ZED')).toEqual([]);
    const direct = slack.workspace.directWith('U_ZED');
    expect(
      slack.workspace.ofBot(direct).map((message) => slack.workspace.drawn(message.ts)),
    ).toEqual(['Hello Zed.']);
    await slack.close();
  });

  it('stay in the thread', async () => {
    const slack = await setUpSlack();
    const root = slack.workspace.say('U_ANNA', 'C1', 'root');
    await slack.adapter
      .surfaceOf(slack.conversation('C1', root))
      .whisper('slack:U_ANNA', '@everyone <!here>');
    const [line] = slack.workspace.model.privateMessages;
    expect(line).toMatchObject({ thread: root, user: 'U_ANNA' });
    expect(line?.text).toBe('@\u200Beveryone &lt;!here&gt;');
    await slack.close();
  });

  it('say so when Slack is out', async () => {
    const slack = await setUpSlack();
    slack.workspace.fault('chat.postEphemeral', { kind: 'status', status: 500 });
    await expect(
      slack.adapter.surfaceOf(slack.conversation('C1', '1.1')).whisper('slack:U_ANNA', 'x'),
    ).rejects.toMatchObject({ code: 'surface_unavailable' });
    await slack.close();
  });
});

describe('addresses for private answers', () => {
  it('take five answers', () => {
    const book = createResponseBook(systemClock);
    book.keep('i1', 'https://x', '1.1');
    const taken = Array.from({ length: 6 }, () => book.take('i1')?.url ?? null);
    expect(taken).toEqual([...Array<string>(5).fill('https://x'), null]);
    expect(book.take('i2')).toBeNull();
  });

  it('live for 30 minutes', async () => {
    const clock = createFakeClock();
    const book = createResponseBook(clock);
    book.keep('i1', 'https://x', '1.1');
    await clock.advance(30 * 60_000 - 1);
    expect(book.take('i1')).not.toBeNull();
    await clock.advance(1);
    expect(book.take('i1')).toBeNull();
  });
});
