/**
 * Drawing of approval cards: exactly what will happen, why it is asked, until when it can be
 * approved and by whom. What does not fit is complete in a file beside the card.
 */

import { codeBlock, inPlainSight } from '../base/plain-sight.ts';
import { cutToUnits } from '../base/text.ts';
import type { ApprovalAsk } from '../messages/questions.ts';
import type { CallVerdict } from '../permissions/approver.ts';
import type { Block, Button, OutboundMessage } from '../surface/outbound.ts';
import { type ApprovalRecord, approvalControlId, approveAllControlId } from './approval-record.ts';

/** Length that a card may have. */
export interface CardRoom {
  readonly mostLength: number;
  /** Length of Markdown when it is drawn there. */
  lengthOf(markdown: string): number;
}

export interface CardOptions {
  /** What each ask has come to. */
  readonly verdicts: readonly CallVerdict[];
  readonly room: CardRoom;
  /** Who may approve, in words: "Anna", "2 of these people: …". */
  readonly approvers: string;
}

/** Asks that a card shows with buttons at a time; the others follow. */
const mostShown = 4;
/** Where messages are short. */
const mostShownShort = 2;
const shortRoom = 3000;
/** Room for what was decided, beside asks that are open. */
const roomOfDecided = 420;
/** Room for the line that says who may approve until when. */
const roomOfWho = 280;
const roomOfQuorum = 180;
const mostLabelUnits = 75;
const mostTitleUnits = 60;
const mostWhyUnits = 140;
const mostNamesUnits = 60;
const mostApproversUnits = 100;
const mostNoteUnits = 100;
const mostDecidedLines = 10;
/** A grant whose pattern has no place on a line of the card is not offered. */
const mostGrantUnits = 80;

/** The asks that the card shows with buttons. */
export function shownAsks(verdicts: readonly CallVerdict[], room: CardRoom): readonly number[] {
  const open = verdicts.flatMap(({ kind }, index) => (kind === 'open' ? [index] : []));
  return open.slice(0, mostShownIn(room));
}

function mostShownIn({ mostLength }: CardRoom): number {
  return mostLength < shortRoom ? mostShownShort : mostShown;
}

/** Asks of a record whose preview does not fit into a card of this room. */
export function longAsks(record: ApprovalRecord, room: CardRoom): readonly number[] {
  return record.asks.flatMap((ask, index) => (fittingOf(record, ask, room).isLong ? [index] : []));
}

/** The whole preview, as it stands in the file beside the card. */
export function wholePreview({ preview }: ApprovalAsk): string {
  return `${inPlainSight(preview.text)}\n`;
}

export function drawApprovals(record: ApprovalRecord, options: CardOptions): OutboundMessage {
  const { verdicts, room } = options;
  const isOver = record.state === 'expired' || record.state === 'withdrawn';
  const lines = record.asks.flatMap((ask, index) => {
    const verdict = verdicts[index];
    if (!verdict || (verdict.kind === 'open' && !isOver)) return [];
    return [lineOf(record, ask, verdict)];
  });
  const open = openBlocks(record, options);
  const isPlan = record.kind === 'plan';
  const most = open.length > 0 || isPlan ? roomOfDecided : room.mostLength - roomOfWho;
  const blocks: Block[] = isPlan && lines.length > 0 ? keptPlan(record, room) : [];
  if (lines.length > 0) blocks.push({ kind: 'markdown', text: newestOf(lines, most, room) });
  return { blocks: [...blocks, ...open], mentionable: [] };
}

/** What was approved, or is to be changed, stays readable. */
function keptPlan(record: ApprovalRecord, room: CardRoom): Block[] {
  const most = { ...room, mostLength: room.mostLength - roomOfDecided };
  const [ask] = record.asks;
  return ask ? [{ kind: 'markdown', text: fittingOf(record, ask, most).text }] : [];
}

/** The last lines that fit, and how many stand before them. */
function newestOf(lines: readonly string[], most: number, room: CardRoom): string {
  for (let from = Math.max(0, lines.length - mostDecidedLines); from < lines.length; from += 1) {
    const before = from > 0 ? [`(${from} decided before)`] : [];
    const text = [...before, ...lines.slice(from)].join('\n');
    if (room.lengthOf(text) <= most) return text;
  }
  return `(${lines.length} decided before)`;
}

function notice(text: string): Block {
  return { kind: 'notice', text };
}

/** What an ask has come to. */
function lineOf({ kind }: ApprovalRecord, ask: ApprovalAsk, verdict: CallVerdict): string {
  const title = plain(ask.title, mostTitleUnits);
  if (verdict.kind === 'open') return `– ${title}`;
  if (verdict.kind === 'approved') {
    return `✓ ${title}: approved by ${plain(verdict.by.join(' and '), mostNamesUnits)}`;
  }
  const note = verdict.note === undefined ? '' : `: ${plain(verdict.note, mostNoteUnits)}`;
  const what = kind === 'plan' ? 'changes wanted' : 'denied';
  return `✗ ${title}: ${what} by ${plain(verdict.by, mostNamesUnits)}${note}`;
}

function openBlocks(record: ApprovalRecord, options: CardOptions): readonly Block[] {
  if (record.state === 'expired') return [notice('Nobody approved in time. This has expired.')];
  if (record.state === 'withdrawn') return [notice('This is no longer needed.')];
  const { verdicts, room } = options;
  const shown = shownAsks(verdicts, room);
  if (shown.length === 0) return [];
  const blocks = shown.flatMap((index): Block[] => {
    const ask = record.asks[index];
    const verdict = verdicts[index];
    if (!ask || verdict?.kind !== 'open') return [];
    const { text } = fittingOf(record, ask, room, verdict.approvedBy);
    return [
      { kind: 'markdown', text },
      { kind: 'buttons', buttons: buttonsOf(record, index, ask) },
    ];
  });
  const rest = verdicts.filter(({ kind }) => kind === 'open').length - shown.length;
  const more = rest > 0 ? ` ${rest} more follow.` : '';
  const until = new Date(record.expiresAt).toUTCString().replace(/:\d\d GMT$/u, ' UTC');
  const who = plain(options.approvers, mostApproversUnits);
  blocks.push(notice(`May be approved by ${who} until ${until}.${more}`));
  if (shown.length > 1) {
    const controlId = approveAllControlId(record.id, shown);
    const label = rest > 0 ? `Approve these ${shown.length}` : 'Approve all';
    blocks.push({ kind: 'buttons', buttons: [{ controlId, label, style: 'plain' }] });
  }
  return blocks;
}

interface Fitting {
  readonly text: string;
  /** The preview is cut. */
  readonly isLong: boolean;
}

/**
 * The text of an ask, its preview cut to the ask's share of the card. Whether it is cut depends on
 * the record alone: the file beside the card is posted once.
 */
function fittingOf(
  record: ApprovalRecord,
  ask: ApprovalAsk,
  room: CardRoom,
  approvedBy: readonly string[] = [],
): Fitting {
  const shown = inPlainSight(ask.preview.text);
  const most = shareOf(record, room);
  const quorum = record.quorum > 1 ? quorumLine(record.quorum, approvedBy) : undefined;
  const fits = (preview: string, isLong: boolean): boolean =>
    room.lengthOf(askText(record, ask, { preview, isLong })) <= most;
  if (shown.length <= most && fits(shown, false)) {
    return { text: askText(record, ask, { preview: shown, isLong: false, quorum }), isLong: false };
  }
  let units = most;
  while (units > 1 && !fits(cutToUnits(shown, units), true)) units = Math.floor(units * 0.9);
  const preview = cutToUnits(shown, units);
  return { text: askText(record, ask, { preview, isLong: true, quorum }), isLong: true };
}

function shareOf({ asks, quorum }: ApprovalRecord, room: CardRoom): number {
  const shown = Math.max(1, Math.min(asks.length, mostShownIn(room)));
  const decided = asks.length > 1 ? roomOfDecided : 0;
  const share = Math.floor((room.mostLength - decided - roomOfWho) / shown);
  return share - (quorum > 1 ? roomOfQuorum : 0);
}

interface AskShown {
  readonly preview: string;
  readonly isLong: boolean;
  /** Who must still approve; has its room besides the rest. */
  readonly quorum?: string | undefined;
}

function askText(
  record: ApprovalRecord,
  ask: ApprovalAsk,
  { preview, isLong, quorum }: AskShown,
): string {
  const note = isLong ? ['The whole text is in the file above.'] : [];
  const votes = quorum === undefined ? [] : [quorum];
  // A plan is Markdown: what it leaves open must not swallow the lines of the card.
  if (record.kind === 'plan') return ['**My plan**', ...note, ...votes, preview].join('\n\n');
  return [
    `**${numberOf(record, ask, '. ')}${plain(ask.title, mostTitleUnits)}**`,
    codeBlock(ask.preview.language, preview),
    ...note,
    whyLine(record, ask),
    ...votes,
  ].join('\n\n');
}

/** Of several asks: where buttons stand under all texts, the number says which one they are for. */
function numberOf({ asks }: ApprovalRecord, ask: ApprovalAsk, end: string): string {
  return asks.length > 1 ? `${asks.indexOf(ask) + 1}${end}` : '';
}

/** Why it is asked, and what "for this thread" would cover. */
function whyLine(record: ApprovalRecord, ask: ApprovalAsk): string {
  const why = `I ask because ${plain(ask.why, mostWhyUnits)}.`;
  if (!mayGrant(record, ask)) return why;
  return `${why} "For this thread" covers ${inlineCode(grantText(ask))} for ${formatHours(record.grantMs)}.`;
}

function grantText({ tool, grant }: ApprovalAsk): string {
  return grant ? inPlainSight(`${tool}(${grant.pattern})`) : '';
}

function quorumLine(quorum: number, approvedBy: readonly string[]): string {
  const names = plain(approvedBy.join(', '), mostNamesUnits);
  const so = approvedBy.length === 0 ? 'none yet' : `so far ${names}`;
  return `${quorum} people must approve: ${so}.`;
}

function buttonsOf(record: ApprovalRecord, index: number, ask: ApprovalAsk): readonly Button[] {
  const { id, grantMs } = record;
  const number = numberOf(record, ask, ' ');
  const named = (what: string, more = ''): string => `${what} ${number}${more}`.trim();
  const button = (
    action: Parameters<typeof approvalControlId>[2],
    label: string,
    style: Button['style'],
  ): Button => ({
    controlId: approvalControlId(id, index, action),
    label: cutToUnits(label, mostLabelUnits),
    style,
  });
  if (record.kind === 'plan') {
    return [button('once', 'Approve', 'primary'), button('note', 'Request changes…', 'plain')];
  }
  return [
    button('once', named('Approve'), 'primary'),
    ...(mayGrant(record, ask)
      ? [button('thread', named('Approve', `for this thread (${formatHours(grantMs)})`), 'plain')]
      : []),
    button('deny', named('Deny'), 'danger'),
    button('note', named('Deny', 'with a note…'), 'plain'),
  ];
}

/** Whether "for this thread" is offered. Where several people must look at each call, none of them is
 * spared. */
export function mayGrant({ notAsker, quorum }: ApprovalRecord, ask: ApprovalAsk): boolean {
  if (!ask.grant || notAsker || quorum > 1) return false;
  const text = grantText(ask);
  return text.length <= mostGrantUnits && !text.includes('\n');
}

function formatHours(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;
}

/** A text that is not the card's own, on one line: its `code` spans stay, all other marks are
 * escaped. */
function plain(text: string, mostUnits: number): string {
  return cutLine(inPlainSight(text.replace(/\s+/gu, ' ')).trim(), mostUnits)
    .split(/(`[^`]+`)/u)
    .map((piece) =>
      piece.length > 2 && piece.startsWith('`')
        ? piece
        : piece.replace(/([\\`*_[\]<>~|])/gu, '\\$1'),
    )
    .join('');
}

/** A `code` span that the cut would leave open is closed. */
function cutLine(text: string, mostUnits: number): string {
  if (text.length <= mostUnits) return text;
  const cut = cutToUnits(text, mostUnits - 1);
  return cut.split('`').length % 2 === 0 ? `${cut}\`` : cut;
}

function inlineCode(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``;
}
