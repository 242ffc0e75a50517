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

export interface CardOptions {
  /** What each ask has come to. */
  readonly verdicts: readonly CallVerdict[];
  /** Length of Markdown that the card may have. */
  readonly room: number;
  /** Who may approve, in words: "Anna", "2 of these people: …". */
  readonly approvers: string;
}

/** Asks that a card shows with buttons at a time; the others follow. */
const mostShown = 4;
/** Where messages are short. */
const mostShownShort = 2;
const shortRoom = 3000;
/** Room for everything besides the previews. */
const roomOfRest = 600;
const roomOfAsk = 260;
const leastPreview = 200;
const mostLabelUnits = 75;
const mostDecidedUnits = 120;
/** Of what was decided. */
const mostLines = 10;

/** The asks that the card shows with buttons. */
export function shownAsks(verdicts: readonly CallVerdict[], room: number): readonly number[] {
  const open = verdicts.flatMap(({ kind }, index) => (kind === 'open' ? [index] : []));
  return open.slice(0, mostShownIn(room));
}

function mostShownIn(room: number): number {
  return room < shortRoom ? mostShownShort : mostShown;
}

/** Asks of a record whose preview does not fit into a card of this room. */
export function longAsks(record: ApprovalRecord, room: number): readonly number[] {
  const most = previewRoom(record.asks.length, room);
  return record.asks.flatMap(({ preview }, index) =>
    inPlainSight(preview.text).length > most ? [index] : [],
  );
}

/** The whole preview, as it stands in the file beside the card. */
export function wholePreview({ preview }: ApprovalAsk): string {
  return `${inPlainSight(preview.text)}\n`;
}

export function drawApprovals(record: ApprovalRecord, options: CardOptions): OutboundMessage {
  const { verdicts } = options;
  const isOver = record.state === 'expired' || record.state === 'withdrawn';
  const lines = record.asks.flatMap((ask, index) => {
    const verdict = verdicts[index];
    if (!verdict || (verdict.kind === 'open' && !isOver)) return [];
    return [verdict.kind === 'open' ? `– ${plain(ask.title)}` : decidedLine(record, ask, verdict)];
  });
  const blocks: Block[] =
    record.kind === 'plan' && lines.length > 0 ? keptPlan(record, options) : [];
  if (lines.length > 0) blocks.push({ kind: 'markdown', text: lines.slice(-mostLines).join('\n') });
  if (record.state === 'expired') blocks.push(notice('Nobody approved in time. This has expired.'));
  else if (record.state === 'withdrawn') blocks.push(notice('This is no longer needed.'));
  else blocks.push(...openBlocks(record, options));
  return { blocks, mentionable: [] };
}

function notice(text: string): Block {
  return { kind: 'notice', text };
}

/** What was approved, or is to be changed, stays readable. */
function keptPlan(record: ApprovalRecord, { room }: CardOptions): Block[] {
  return record.asks.map((ask) => {
    const paragraphs = previewText(record, ask, previewRoom(record.asks.length, room));
    return { kind: 'markdown', text: paragraphs.join('\n\n') };
  });
}

function decidedLine(
  { kind }: ApprovalRecord,
  ask: ApprovalAsk,
  verdict: Exclude<CallVerdict, { kind: 'open' }>,
): string {
  const title = plain(ask.title);
  if (verdict.kind === 'approved') {
    return `✓ ${title}: approved by ${plain(verdict.by.join(' and '))}`;
  }
  const note =
    verdict.note === undefined ? '' : `: ${plain(cutToUnits(verdict.note, mostDecidedUnits))}`;
  const what = kind === 'plan' ? 'changes wanted' : 'denied';
  return `✗ ${title}: ${what} by ${plain(verdict.by)}${note}`;
}

function openBlocks(record: ApprovalRecord, options: CardOptions): readonly Block[] {
  const shown = shownAsks(options.verdicts, options.room);
  if (shown.length === 0) return [];
  const room = previewRoom(record.asks.length, options.room);
  const blocks = shown.flatMap((index): Block[] => {
    const ask = record.asks[index];
    const verdict = options.verdicts[index];
    if (!ask || verdict?.kind !== 'open') return [];
    return [
      { kind: 'markdown', text: askText(record, ask, verdict, room) },
      { kind: 'buttons', buttons: buttonsOf(record, index, ask) },
    ];
  });
  const rest = options.verdicts.filter(({ kind }) => kind === 'open').length - shown.length;
  const more = rest > 0 ? ` ${rest} more follow.` : '';
  const until = new Date(record.expiresAt).toUTCString().replace(/:\d\d GMT$/u, ' UTC');
  blocks.push(notice(`May be approved by ${options.approvers} until ${until}.${more}`));
  if (shown.length > 1) {
    const controlId = approveAllControlId(record.id, shown);
    const label = rest > 0 ? `Approve these ${shown.length}` : 'Approve all';
    blocks.push({ kind: 'buttons', buttons: [{ controlId, label, style: 'plain' }] });
  }
  return blocks;
}

function askText(
  record: ApprovalRecord,
  ask: ApprovalAsk,
  { approvedBy }: CallVerdict & { kind: 'open' },
  room: number,
): string {
  const lines = [
    ...previewText(record, ask, room),
    ...(record.kind === 'plan' ? [] : [whyLine(record, ask)]),
    ...(record.quorum > 1 ? [quorumLine(record.quorum, approvedBy)] : []),
  ];
  return lines.join('\n\n');
}

/** What will happen: heading, text, and where the rest of it is. */
function previewText(record: ApprovalRecord, ask: ApprovalAsk, room: number): readonly string[] {
  const isPlan = record.kind === 'plan';
  const heading = isPlan ? 'My plan' : `${numberOf(record, ask, '. ')}${plain(ask.title)}`;
  const shown = inPlainSight(ask.preview.text);
  const isLong = shown.length > room;
  const text = isLong ? cutToUnits(shown, room) : shown;
  return [
    `**${heading}**`,
    isPlan ? text : codeBlock(ask.preview.language, text),
    ...(isLong ? ['The whole text is in the file above.'] : []),
  ];
}

/** Of several asks: where buttons stand under all texts, the number says which one they are for. */
function numberOf({ asks }: ApprovalRecord, ask: ApprovalAsk, end: string): string {
  return asks.length > 1 ? `${asks.indexOf(ask) + 1}${end}` : '';
}

/** Why it is asked, and what "for this thread" would cover. */
function whyLine({ grantMs, notAsker, quorum }: ApprovalRecord, ask: ApprovalAsk): string {
  const why = `I ask because ${ask.why}.`;
  if (!ask.grant || notAsker || quorum > 1) return why;
  const covered = inlineCode(`${ask.tool}(${ask.grant.pattern})`);
  return `${why} "For this thread" covers ${covered} for ${formatHours(grantMs)}.`;
}

function quorumLine(quorum: number, approvedBy: readonly string[]): string {
  const so = approvedBy.length === 0 ? 'none yet' : `so far ${plain(approvedBy.join(', '))}`;
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
    ...(ask.grant && mayGrant(record)
      ? [button('thread', named('Approve', `for this thread (${formatHours(grantMs)})`), 'plain')]
      : []),
    button('deny', named('Deny'), 'danger'),
    button('note', named('Deny', 'with a note…'), 'plain'),
  ];
}

/** Where several people must look at each call, none of them is spared. */
export function mayGrant({ notAsker, quorum }: ApprovalRecord): boolean {
  return !notAsker && quorum === 1;
}

function previewRoom(asks: number, room: number): number {
  const shown = Math.max(1, Math.min(asks, mostShownIn(room)));
  const share = (room - roomOfRest - shown * roomOfAsk) / shown;
  return Math.max(leastPreview, Math.floor(share));
}

function formatHours(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;
}

/** A title holds `code` spans of the tool's; all other marks are escaped. */
function plain(text: string): string {
  return inPlainSight(text)
    .replace(/\s+/gu, ' ')
    .split(/(`[^`]+`)/u)
    .map((piece) =>
      piece.length > 2 && piece.startsWith('`')
        ? piece
        : piece.replace(/([\\`*_[\]<>~|])/gu, '\\$1'),
    )
    .join('');
}

function inlineCode(text: string): string {
  return `\`${inPlainSight(text).replaceAll('`', "'")}\``;
}
