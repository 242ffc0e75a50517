/** Buttons of replies, by the ids that their clicks carry. */

import type { Block, Button } from '../surface/outbound.ts';

export const stopControlId = 'run.stop';
export const continueControlId = 'run.continue';
export const retryControlId = 'run.retry';
const detailsPrefix = 'run.details.';
const feedbackPrefix = 'run.feedback.';

export const stopButton: Button = { controlId: stopControlId, label: 'Stop', style: 'plain' };
export const continueButton: Button = {
  controlId: continueControlId,
  label: 'Continue',
  style: 'primary',
};
export const retryButton: Button = { controlId: retryControlId, label: 'Retry', style: 'primary' };

export function detailsButton(runId: string): Button {
  return { controlId: `${detailsPrefix}${runId}`, label: 'Details', style: 'plain' };
}

export function feedbackBlock(runId: string): Block {
  return { kind: 'feedback', controlId: `${feedbackPrefix}${runId}` };
}

/** What a control of a reply does; undefined for one of somebody else. */
export type ReplyControl =
  | { readonly kind: 'stop' | 'continue' | 'retry' }
  | { readonly kind: 'details' | 'feedback'; readonly runId: string };

export function replyControlOf(controlId: string): ReplyControl | undefined {
  switch (controlId) {
    case stopControlId:
      return { kind: 'stop' };
    case continueControlId:
      return { kind: 'continue' };
    case retryControlId:
      return { kind: 'retry' };
  }
  if (controlId.startsWith(detailsPrefix)) {
    return { kind: 'details', runId: controlId.slice(detailsPrefix.length) };
  }
  if (controlId.startsWith(feedbackPrefix)) {
    return { kind: 'feedback', runId: controlId.slice(feedbackPrefix.length) };
  }
  return undefined;
}
