/** What can go wrong with a REST call, by route: `POST /channels/:id/messages`. */

export type Fault =
  /** HTTP 429 with retry_after in seconds. */
  | { readonly kind: 'rate_limited'; readonly retryAfterSeconds: number; readonly global?: boolean }
  | { readonly kind: 'status'; readonly status: number }
  /** Refused with this number. */
  | { readonly kind: 'refused'; readonly code: number; readonly status?: number }
  /** The call takes effect, but the connection breaks before the answer. */
  | { readonly kind: 'answer_lost' }
  /** The connection breaks before the call takes effect. */
  | { readonly kind: 'cut' }
  /** The answer comes this late. */
  | { readonly kind: 'slow'; readonly ms: number };
