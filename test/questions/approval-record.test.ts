/** Ids of the controls of approval cards. */

import { describe, expect, it } from 'vitest';
import {
  approvalActions,
  approvalControlId,
  approveAllControlId,
  parseApprovalControlId,
} from '../../src/questions/approval-record.ts';

describe('the id of a control', () => {
  it.each(approvalActions)('for %s is read back as it was made', (action) => {
    const controlId = approvalControlId('a_ab12', 3, action);
    expect(parseApprovalControlId(controlId)).toEqual({ id: 'a_ab12', asks: [3], action });
  });

  it('opens a form for a note, and for nothing else', () => {
    expect(approvalActions.map((action) => approvalControlId('a_1', 0, action))).toEqual([
      'a_1.0.once',
      'a_1.0.thread',
      'a_1.0.deny',
      'form.a_1.0.note',
    ]);
  });

  it('of several asks names each, once', () => {
    expect(parseApprovalControlId(approveAllControlId('a_ab12', [0, 2, 13]))).toEqual({
      id: 'a_ab12',
      asks: [0, 2, 13],
      action: 'once',
    });
  });

  it.each([
    'q_ab12.1.2',
    'a_ab12',
    'a_ab12.1',
    'a_ab12.1.approve',
    'a_ab12.x.once',
    'a_ab12.1000.once',
    'a_AB12.1.once',
    'a_ab12.all.',
    'a_ab12.all.1-',
    'a_ab12.all.-1',
    'form.a_ab12.all.1',
    'form.a_ab12.0.once',
    'form.a_ab12.0.thread',
    'a_ab12.0.note',
    'x a_ab12.0.once',
    'a_ab12.0.once\n',
    'a_ab12.0.constructor',
  ])('is none of an approval: %j', (controlId) => {
    expect(parseApprovalControlId(controlId)).toBeUndefined();
  });
});
