/** One line of a check-up: what was looked at, how it stands, and what cures it. */

export interface Finding {
  /** off: not configured, which is fine. */
  readonly state: 'ok' | 'warning' | 'problem' | 'off';
  /** `slack`, `model anthropic/claude-sonnet-5-5`. */
  readonly what: string;
  /** A sentence; for a warning or a problem with the cure. */
  readonly text: string;
}
