/**
 * The edit budget of one platform account, shared by all live replies (rule 18). A scope (a Slack
 * workspace, a Discord channel) takes a fixed number of edits in any window; the last of them are
 * kept for ends, which go first. A 429 closes the scope until its retry-after has passed (rule 5).
 */

import { abortReasonOf } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';

export type Urgency = 'end' | 'progress';

export interface Pacer {
  /** Resolves when an edit may be made in this scope now; it counts as made. */
  slot(scope: string, urgency: Urgency, signal?: AbortSignal): Promise<void>;
  /** The platform asked for silence in this scope until then. */
  close(scope: string, untilMs: number): void;
}

interface Waiter {
  readonly urgency: Urgency;
  readonly go: () => void;
}

interface Scope {
  /** Times of the edits of the last window. */
  made: number[];
  closedUntil: number;
  waiting: Waiter[];
  cancelTimer: () => void;
}

export interface PacerOptions {
  readonly edits: number;
  readonly windowMs: number;
}

export function createPacer(deps: { readonly clock: Clock }, options: PacerOptions): Pacer {
  const { clock } = deps;
  const scopes = new Map<string, Scope>();
  /** Edits of a window that only ends may use. */
  const kept = Math.max(1, Math.floor(options.edits / 10));

  const scopeOf = (name: string): Scope => {
    const known = scopes.get(name);
    if (known) return known;
    const made: Scope = { made: [], closedUntil: 0, waiting: [], cancelTimer: () => {} };
    scopes.set(name, made);
    return made;
  };

  /** Earliest time at which an edit of this urgency may be made. */
  const freeAt = (scope: Scope, urgency: Urgency): number => {
    const usable = urgency === 'end' ? options.edits : options.edits - kept;
    const oldest = scope.made.at(-usable);
    const windowFree = oldest === undefined ? 0 : oldest + options.windowMs;
    return Math.max(windowFree, scope.closedUntil);
  };

  const serve = (scope: Scope): void => {
    scope.cancelTimer();
    const now = clock.now();
    scope.made = scope.made.filter((at) => at > now - options.windowMs);
    for (;;) {
      const next = scope.waiting.find(({ urgency }) => urgency === 'end') ?? scope.waiting[0];
      if (!next) return;
      const at = freeAt(scope, next.urgency);
      if (at > now) {
        scope.cancelTimer = clock.setTimer(at - now, () => serve(scope));
        return;
      }
      scope.waiting = scope.waiting.filter((waiter) => waiter !== next);
      scope.made.push(now);
      next.go();
    }
  };

  return {
    slot: (name, urgency, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(abortReasonOf(signal));
          return;
        }
        const scope = scopeOf(name);
        const leave = (): void => {
          scope.waiting = scope.waiting.filter((other) => other !== waiter);
          if (signal) reject(abortReasonOf(signal));
        };
        const waiter: Waiter = {
          urgency,
          go: () => {
            signal?.removeEventListener('abort', leave);
            resolve();
          },
        };
        signal?.addEventListener('abort', leave, { once: true });
        scope.waiting.push(waiter);
        serve(scope);
      }),
    close: (name, untilMs) => {
      const scope = scopeOf(name);
      scope.closedUntil = Math.max(scope.closedUntil, untilMs);
      serve(scope);
    },
  };
}
