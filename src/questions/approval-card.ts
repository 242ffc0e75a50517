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
const roomOfAsk = 380;
const leastPreview = 150;
/** Fences and language of a usual code block. */
const roomOfFence = 20;
const mostLabelUnits = 75;
const mostTitleUnits = 80;
const mostWhyUnits = 120;
const mostNoteUnits = 120;
const mostNamesUnits = 120;
/** Length of the lines on what is decided; of more than fit the newest stay. */
const mostDecidedLength = 300;

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
  return record.asks.flatMap((ask, index) => (bodyOf(record, ask, most).isLong ? [index] : []));
}

/** The whole preview, as it stands in the file beside the card. */
export function wholePreview({ preview }: ApprovalAsk): string {
  return `${inPlainSight(preview.text)}\n`;
}

export function drawApprovals(record: ApprovalRecord, options: CardOptions): OutboundMessage {
  const { verdicts } = options;
  const decided = record.asks.flatMap((ask, index) => {
    const verdict = verdicts[index];
    return verdict && verdict.kind !== 'open' ? [decidedLine(ask, verdict)] : [];
  });
  const blocks: Block[] =
    decided.length > 0 ? [{ kind: 'markdown', text: newestOf(decided).join('\n') }] : [];
  if (record.state === 'expired') blocks.push(notice('Nobody approved in time. This has expired.'));
  else if (record.state === 'withdrawn') blocks.push(notice('This is no longer needed.'));
  else blocks.push(...openBlocks(record, options));
  return { blocks, mentionable: [] };
}

/** As many of the last lines as there is room for, one at least. */
function newestOf(lines: readonly string[]): readonly string[] {
  const kept: string[] = [];
  let length = 0;
  for (const line of lines.toReversed()) {
    length += line.length + 1;
    if (kept.length > 0 && length > mostDecidedLength) break;
    kept.unshift(line);
  }
  const before = lines.length - kept.length;
  return before > 0 ? [`(${before} decided before)`, ...kept] : kept;
}

function notice(text: string): Block {
  return { kind: 'notice', text };
}

function decidedLine(ask: ApprovalAsk, verdict: Exclude<CallVerdict, { kind: 'open' }>): string {
  const title = titleOf(ask);
  if (verdict.kind === 'approved') {
    return `✓ ${title}: approved by ${namesOf(verdict.by, ' and ')}`;
  }
  const note =
    verdict.note === undefined ? '' : `: ${plain(cutToUnits(verdict.note, mostNoteUnits))}`;
  return `✗ ${title}: denied by ${namesOf([verdict.by], '')}${note}`;
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
  const approvers = cutToUnits(options.approvers, mostNamesUnits);
  blocks.push(notice(`May be approved by ${approvers} until ${until}.${more}`));
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
  const heading = record.kind === 'plan' ? 'My plan' : titleOf(ask);
  const { body, isLong } = bodyOf(record, ask, room);
  const lines = [
    `**${heading}**`,
    body,
    ...(isLong ? ['The whole text is in the file above.'] : []),
    ...(record.kind === 'plan' ? [] : [whyLine(record, ask)]),
    ...(record.quorum > 1 ? [quorumLine(record.quorum, approvedBy)] : []),
  ];
  return lines.join('\n\n');
}

/** What will happen, as far as there is room for it. */
function bodyOf(
  { kind }: ApprovalRecord,
  { preview }: ApprovalAsk,
  room: number,
): { readonly body: string; readonly isLong: boolean } {
  const shown = inPlainSight(preview.text);
  if (kind === 'plan') return { body: cutToUnits(shown, room), isLong: shown.length > room };
  const block = (text: string): string => codeBlock(preview.language, text);
  const fits = (text: string): boolean => block(text).length <= room + roomOfFence;
  if (fits(shown)) return { body: block(shown), isLong: false };
  const cut = cutToUnits(shown, room);
  // A fence is longer than any inside: of nothing but backticks, a third has room.
  const text = fits(cut) ? cut : cutToUnits(shown, Math.floor(room / 3));
  return { body: block(text), isLong: true };
}

/** Why it is asked, and what "for this thread" would cover. */
function whyLine({ grantMs, notAsker, quorum }: ApprovalRecord, ask: ApprovalAsk): string {
  const why = `I ask because ${plain(cutToUnits(ask.why, mostWhyUnits))}.`;
  if (!ask.grant || notAsker || quorum > 1) return why;
  const covered = inlineCode(`${ask.tool}(${ask.grant.pattern})`);
  return `${why} "For this thread" covers ${covered} for ${formatHours(grantMs)}.`;
}

function quorumLine(quorum: number, approvedBy: readonly string[]): string {
  const so = approvedBy.length === 0 ? 'none yet' : `so far ${namesOf(approvedBy, ', ')}`;
  return `${quorum} people must approve: ${so}.`;
}

function buttonsOf(record: ApprovalRecord, index: number, ask: ApprovalAsk): readonly Button[] {
  const { id, grantMs } = record;
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
    button('once', 'Approve', 'primary'),
    ...(ask.grant && mayGrant(record)
      ? [button('thread', `Approve for this thread (${formatHours(grantMs)})`, 'plain')]
      : []),
    button('deny', 'Deny', 'danger'),
    button('note', 'Deny with a note…', 'plain'),
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

function titleOf({ title }: ApprovalAsk): string {
  return plain(cutToUnits(title, mostTitleUnits));
}

function namesOf(names: readonly string[], between: string): string {
  return plain(cutToUnits(names.join(between), mostNamesUnits));
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
