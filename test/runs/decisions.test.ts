/** Who and what is answered: the pure decisions. */

import { describe, expect, it } from 'vitest';
import { accessOf } from '../../src/runs/access.ts';
import { isAdmin } from '../../src/runs/admins.ts';
import { parseCommand } from '../../src/runs/commands.ts';
import { endNotice } from '../../src/runs/outcome.ts';
import type { AccessLists } from '../../src/runs/settings.ts';
import { type TriggerFacts, triggerOf } from '../../src/runs/trigger.ts';
import type { InboundMessage } from '../../src/surface/inbound.ts';
import { anna, noLists } from '../support/world.ts';

const message: InboundMessage = {
  kind: 'message',
  eventKey: 'slack:C1:1',
  conversation: { adapter: 'slack', space: 'T1', channel: 'C1', thread: '1' },
  author: { ...anna, id: 'slack:U1' },
  at: 1,
  channelName: 'ops',
  channelKind: 'public',
  messageId: '1',
  place: 'channel',
  text: 'hello',
  files: [],
  mentionsBot: false,
  addressesOther: false,
};
const facts: TriggerFacts = {
  isKnown: true,
  hasLeft: false,
  followUps: 'all',
  bots: ['slack:B7'],
  botRuns: 0,
};
const bot = { ...message.author, id: 'slack:B7', isBot: true };
const file = { id: 'F1', name: 'a.png', mediaType: 'image/png', bytes: 1, url: 'x' };

describe('a trigger', () => {
  it.each<
    [string, Partial<InboundMessage>, Partial<TriggerFacts>, 'addressed' | 'follow-up' | 'ignored']
  >([
    ['a mention in a channel', { mentionsBot: true }, { isKnown: false }, 'addressed'],
    ['a channel message without a mention', {}, {}, 'ignored'],
    ['a direct message', { place: 'direct' }, { isKnown: false }, 'addressed'],
    ['a thread the bot takes part in', { place: 'thread' }, {}, 'follow-up'],
    ['a thread the bot takes no part in', { place: 'thread' }, { isKnown: false }, 'ignored'],
    [
      'a mention in a thread it takes no part in',
      { place: 'thread', mentionsBot: true },
      { isKnown: false },
      'addressed',
    ],
    ['a message to somebody else', { place: 'thread', addressesOther: true }, {}, 'ignored'],
    [
      'a message to somebody else that mentions the bot',
      { place: 'thread', addressesOther: true, mentionsBot: true },
      {},
      'addressed',
    ],
    [
      'a follow-up where only mentions count',
      { place: 'thread' },
      { followUps: 'mention' },
      'ignored',
    ],
    [
      'a mention where only mentions count',
      { place: 'thread', mentionsBot: true },
      { followUps: 'mention' },
      'addressed',
    ],
    ['an empty message', { place: 'direct', text: '  ' }, {}, 'ignored'],
    ['a file without text (B043)', { place: 'direct', text: '', files: [file] }, {}, 'addressed'],
    ['a bare mention', { text: '', mentionsBot: true }, {}, 'addressed'],
    [
      'another bot in a thread (B048)',
      { place: 'thread', author: { ...bot, id: 'slack:B8' } },
      {},
      'ignored',
    ],
    [
      'another bot that mentions the bot',
      { mentionsBot: true, author: { ...bot, id: 'slack:B8' } },
      {},
      'ignored',
    ],
    ['an allowed bot without a mention', { place: 'thread', author: bot }, {}, 'ignored'],
    [
      'an allowed bot with a mention',
      { mentionsBot: true, author: bot },
      { botRuns: 2 },
      'addressed',
    ],
    [
      'an allowed bot for the fourth time',
      { mentionsBot: true, author: bot },
      { botRuns: 3 },
      'ignored',
    ],
  ])('%s', (_what, said, known, expected) => {
    const trigger = triggerOf({ ...message, ...said }, { ...facts, ...known });
    const is =
      trigger.kind === 'ignore' ? 'ignored' : trigger.addressed ? 'addressed' : 'follow-up';
    expect(is).toBe(expected);
    expect(trigger.rule).not.toBe('');
  });
});

describe('access', () => {
  const place = { adapter: 'slack', space: 'T1', channel: 'C1' };
  const lists = (more: Partial<AccessLists>): { value: AccessLists; source: string } => ({
    value: { ...noLists, ...more },
    source: 'test',
  });
  const check = (
    allow: Partial<AccessLists>[],
    deny: Partial<AccessLists>[] = [],
    author: Partial<typeof message.author> = {},
    where: Partial<Parameters<typeof accessOf>[1]> = {},
  ): string =>
    accessOf(
      { ...message.author, ...author },
      { ...place, ...where },
      { allow: allow.map(lists), deny: deny.map(lists) },
      ['slack:T1'],
    ).kind;

  it('lets in everybody of an allowed space by default', () => {
    expect(check([])).toBe('allowed');
    expect(check([], [], {}, { space: 'T2' })).toBe('refused');
  });

  it('matches people by id only, never by name (B167)', () => {
    expect(check([{ users: ['slack:U1'] }])).toBe('allowed');
    expect(check([{ users: ['slack:U2'] }], [], { name: 'slack:U2' })).toBe('refused');
  });

  it('lets a role or a name of the list pass, and asks every list', () => {
    expect(
      check([{ users: ['slack:U2'], roles: ['discord:R1'] }], [], { roles: ['discord:R1'] }),
    ).toBe('allowed');
    expect(check([{ users: ['slack:U1'] }, { channels: ['slack:C2'] }])).toBe('refused');
    expect(check([{ users: ['slack:U1'] }, { channels: ['slack:C1'] }])).toBe('allowed');
  });

  it('lets a deny list beat any allow list', () => {
    expect(check([{ users: ['slack:U1'] }], [{ users: ['slack:U1'] }])).toBe('refused');
    expect(check([], [{ channels: ['slack:C1'] }])).toBe('refused');
    expect(check([], [{ spaces: ['slack:T1'] }])).toBe('refused');
  });

  it('refuses guests and people of other workspaces, with one plain line', () => {
    const guest = accessOf(
      { ...message.author, standing: 'guest' },
      place,
      { allow: [], deny: [] },
      ['slack:T1'],
    );
    expect(guest).toEqual({
      kind: 'refused',
      rule: 'guests are not served',
      told: 'I cannot work for guests yet.',
    });
    expect(check([], [], { standing: 'external' })).toBe('refused');
  });

  it('takes a direct message only from people who share an allowed space', () => {
    expect(check([], [], {}, { space: 'direct', sharedSpaces: ['T1', 'T9'] })).toBe('allowed');
    expect(check([], [], {}, { space: 'direct', sharedSpaces: ['T9'] })).toBe('refused');
    expect(check([], [], {}, { space: 'direct', sharedSpaces: [] })).toBe('refused');
  });
});

describe('commands', () => {
  it.each([
    ['!stop', { name: 'stop', args: '' }],
    ['  !Config  model ', { name: 'config', args: 'model' }],
    ['!spaces allow discord:1', { name: 'spaces', args: 'allow discord:1' }],
  ])('%j is a command', (text, parsed) => {
    expect(parseCommand(text)).toEqual(parsed);
  });

  it.each(['stop', '!', '! stop', '!!', 'so !stop', '!5'])('%j is none', (text) => {
    expect(parseCommand(text)).toBeUndefined();
  });

  it('knows admins by id; the local page’s person is one', () => {
    const governance = { admins: ['slack:U1'], bots: [] };
    expect(isAdmin('slack:U1', governance)).toBe(true);
    expect(isAdmin('slack:U2', governance)).toBe(false);
    expect(isAdmin('web:local', governance)).toBe(true);
  });
});

describe('the end of a run in words', () => {
  const end = { isEmpty: false, addressed: true, runId: 'run_1' };

  it('names who stopped it', () => {
    expect(endNotice({ kind: 'stopped', by: 'Ben', why: 'person' }, end)).toBe('Stopped by Ben.');
  });

  it('says nothing where the text speaks for itself, or silence is right', () => {
    expect(endNotice({ kind: 'finished', silent: false }, end)).toBeUndefined();
    expect(
      endNotice({ kind: 'finished', silent: true }, { ...end, isEmpty: true, addressed: false }),
    ).toBeUndefined();
    expect(
      endNotice({ kind: 'finished', silent: false }, { ...end, isEmpty: true, addressed: false }),
    ).toBeUndefined();
  });
});
