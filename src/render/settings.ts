/** Settings of replies: what people see of a run, and by what they are told. */

import { z } from 'zod';

/** For all places, or for those of a profile; the nearest wins field by field. */
export const replySettings = z.strictObject({
  /** What the bot is doing while it works. off: nothing · line: one line, folded at the end · all:
   * each tool by itself. Default: line. */
  activity: z.enum(['off', 'line', 'all']).exactOptional(),
  /** What the model thinks, where its vendor tells. off · line: one line that sums it up. Default:
   * off. */
  thinking: z.enum(['off', 'line']).exactOptional(),
  /** Whether the end of a run is a new message that mentions the asker: an edit notifies nobody.
   * off: never · long: when the run failed or took more than a minute · always: after each answer.
   * Default: long. */
  notify: z.enum(['off', 'long', 'always']).exactOptional(),
  /** Two thumbs under each answer; what they say is stored with the run. Default: off. */
  feedback: z.enum(['on', 'off']).exactOptional(),
  /** How people see within a second that their message was read. status: the platform's own sign
   * (Slack's status, Discord's typing) · reaction: 👀 on the message until the end · both. Default:
   * status. */
  seen: z.enum(['status', 'reaction', 'both']).exactOptional(),
});
export type ReplySettings = Readonly<z.infer<typeof replySettings>>;

/** How much of the work people see. */
export type ShownWork = Required<Pick<ReplySettings, 'activity' | 'thinking'>>;

export const replyDefaults: Required<ReplySettings> = {
  activity: 'line',
  thinking: 'off',
  notify: 'long',
  feedback: 'off',
  seen: 'status',
};
