/** What can go wrong with a call of the Web API, by method. */

export type Fault =
  /** HTTP 429 with Retry-After in seconds. */
  | { readonly kind: 'rate_limited'; readonly retryAfterSeconds: number }
  | { readonly kind: 'status'; readonly status: number }
  /** `ok: false` with this word. */
  | { readonly kind: 'refused'; readonly word: string }
  /** The call takes effect, but the connection breaks before the answer. */
  | { readonly kind: 'answer_lost' }
  /** The connection breaks before the call takes effect. */
  | { readonly kind: 'cut' }
  /** The answer comes this late. */
  | { readonly kind: 'slow'; readonly ms: number };
