/** Slack keeps the contract of adapters and surfaces. */

import type { Conversation } from '../../../src/messages/conversation.ts';
import { surfaceContract } from '../../contract/surface.ts';
import {
  contractRetryAfterSeconds,
  type Said,
  type SurfaceHarness,
} from '../../contract/surface-harness.ts';
import { setUpSlack } from './set-up.ts';

surfaceContract('Slack', openHarness);

async function openHarness(): Promise<SurfaceHarness> {
  const slack = await setUpSlack({ workspace: { ackTimeoutMs: 700 } });
  const { workspace, adapter } = slack;

  const said = (ts: string, inside?: Conversation): Said => ({
    messageId: ts,
    conversation: inside ?? slack.conversation('C1', ts),
  });
  const placeOf = (inside?: Conversation): { readonly thread?: string } =>
    inside === undefined ? {} : { thread: inside.thread };
  const methodOf = {
    post: 'chat.postMessage',
    edit: 'chat.update',
    upload: 'files.completeUploadExternal',
    react: 'reactions.add',
  } as const;
  workspace.fileRules.mostBytes = 5_000;

  return {
    adapter,
    events: slack.events,
    failStoring: (on) => slack.failStoring(on),
    person: { id: 'slack:U_ANNA', name: 'Anna' },
    other: { id: 'slack:U_BO', name: 'Bo Li' },
    say: (text, options = {}) => {
      const { mention = false, in: inside, file } = options;
      const files =
        file === undefined ? [] : [workspace.addFile({ ...file, mimetype: file.mediaType })];
      const words = mention ? `${workspace.mention} ${text}` : text;
      const ts = workspace.say('U_ANNA', 'C1', words, { ...placeOf(inside), files });
      return Promise.resolve(said(ts, inside));
    },
    sayDirect: (text) => {
      const channel = workspace.directWith('U_ANNA');
      const ts = workspace.say('U_ANNA', channel, text);
      return Promise.resolve({ messageId: ts, conversation: slack.conversation(channel, ts) });
    },
    sayToPerson: (text, inside) =>
      Promise.resolve(
        said(workspace.say('U_BO', 'C1', `<@U_ANNA> ${text}`, placeOf(inside)), inside),
      ),
    edit: (ts, text) => Promise.resolve(workspace.editMessage(ts, text)),
    remove: (ts) => Promise.resolve(workspace.deleteMessage(ts)),
    redeliver: (ts) => Promise.resolve(workspace.redeliver(ts, 1)),
    click: (ts, label) => Promise.resolve(workspace.click('U_ANNA', ts, label)),
    react: (ts, emoji) => {
      workspace.react('U_ANNA', ts, emoji === '❌' ? 'x' : '+1');
      return Promise.resolve();
    },
    choose: (ts, labels, submitLabel) => {
      workspace.tick('U_ANNA', ts, labels);
      workspace.click('U_ANNA', ts, submitLabel);
      return Promise.resolve();
    },
    fillForm: async (text) => {
      await workspace.until(() => workspace.model.views.length > 0);
      workspace.submitForm('U_ANNA', text);
    },
    shown: ({ channel, thread }) =>
      Promise.resolve(
        workspace
          .thread(channel, thread)
          .filter((message) => message.isBot)
          .map((message) => ({
            messageId: message.ts,
            text: message.text,
            notified: workspace
              .notified(message.ts)
              .map((id) => (id.startsWith('!') ? 'everyone' : `slack:${id}`)),
            files: workspace.filesOf(message.ts).map(({ title = '', content }) => ({
              name: title.replaceAll('\u200B', ''),
              content,
            })),
          })),
      ),
    reactionsOn: (ts) => {
      const found = workspace.model.messages.find((message) => message.ts === ts);
      const names: Readonly<Record<string, string>> = { tada: '🎉', '+1': '👍' };
      return Promise.resolve([...(found?.reactions ?? [])].map((name) => names[name] ?? name));
    },
    leastRefusedFileBytes: 5_001,
    privateLines: () => Promise.resolve(workspace.privateLines('U_ANNA')),
    breakNext: (call, how) => {
      const method = methodOf[call];
      switch (how) {
        case 'rate_limited':
          workspace.fault(method, {
            kind: 'rate_limited',
            retryAfterSeconds: contractRetryAfterSeconds,
          });
          return;
        case 'server_error':
          workspace.fault(method, { kind: 'status', status: 503 });
          return;
        case 'answer_lost':
          workspace.fault(method, { kind: 'answer_lost' });
          return;
        case 'uneditable':
          workspace.fault(method, { kind: 'refused', word: 'edit_window_closed' });
      }
    },
    close: () => slack.close(),
  };
}
