/** What votes come to. */

import { describe, expect, it } from 'vitest';
import { type Vote, verdictOf } from '../../src/permissions/approver.ts';

/** `+anna`, `+anna thread`, `-ben because`. */
function voteOf(text: string): Vote {
  const [who = '', more] = text.slice(1).split(' ');
  const isApproval = text.startsWith('+');
  return {
    v: 1,
    decision: isApproval ? 'approve' : 'deny',
    scope: isApproval && more === 'thread' ? 'thread' : 'once',
    by: { id: `web:${who}`, name: who },
    ...(!isApproval && more !== undefined ? { note: more } : {}),
    at: 0,
    inputHash: 'h',
  };
}

describe('a verdict', () => {
  it.each<[readonly string[], number, string]>([
    [[], 1, 'open by nobody'],
    [['+anna'], 1, 'approved by anna'],
    [['+anna'], 2, 'open by anna'],
    [['+anna', '+anna'], 2, 'open by anna'],
    [['+anna', '+ben'], 2, 'approved by anna,ben'],
    [['+anna', '+anna', '+ben'], 3, 'open by anna,ben'],
    [['-ben'], 1, 'denied by ben'],
    [['-ben no', '+anna'], 1, 'denied by ben: no'],
    [['+anna', '-ben'], 2, 'denied by ben'],
    [['+anna', '-ben'], 1, 'approved by anna'],
    [['+anna', '+ben', '-cleo'], 2, 'approved by anna,ben'],
    [['+anna', '-anna'], 2, 'denied by anna'],
    [['+anna', '+ben', '+cleo'], 2, 'approved by anna,ben'],
  ])('of %j with a quorum of %d is: %s', (votes, quorum, expected) => {
    const verdict = verdictOf(votes.map(voteOf), quorum);
    const told = {
      open: () => `by ${verdict.kind === 'open' ? verdict.approvedBy.join() || 'nobody' : ''}`,
      approved: () => `by ${verdict.kind === 'approved' ? verdict.by.join() : ''}`,
      denied: () =>
        verdict.kind === 'denied'
          ? `by ${verdict.by}${verdict.note === undefined ? '' : `: ${verdict.note}`}`
          : '',
    }[verdict.kind]();
    expect(`${verdict.kind} ${told}`).toBe(expected);
  });

  it.each<[readonly string[], boolean]>([
    [['+anna thread'], true],
    [['+anna'], false],
    [['+anna thread', '+ben thread'], true],
    [['+anna thread', '+ben'], false],
    [['+anna', '+ben thread'], false],
  ])('of %j is for the thread only where all say so: %j', (votes, isGrant) => {
    const verdict = verdictOf(votes.map(voteOf), votes.length);
    expect(verdict).toMatchObject({ kind: 'approved', isGrant, first: { name: 'anna' } });
  });
});
