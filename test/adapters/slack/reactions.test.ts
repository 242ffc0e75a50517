/** Emoji that people put on messages on Slack. */

import { describe, expect, it } from 'vitest';
import { usingSlack as using } from './set-up.ts';

describe('reaction_added', () => {
  it('is told once for each X, acknowledged, and not for any other emoji or the bot’s own', async () => {
    await using(async (slack) => {
      const ts = slack.workspace.say('U_ANNA', 'C1', 'hello');
      for (const name of ['+1', 'x', 'heavy_multiplication_x', 'custom_x']) {
        slack.workspace.react('U_BO', ts, name);
      }
      slack.workspace.react(slack.workspace.model.bot.userId, ts, 'x');
      await slack.workspace.settled();
      const told = slack.events.filter((event) => event.kind === 'reaction');
      expect(told.map(({ emoji, author }) => [emoji, author.name])).toEqual([
        ['❌', 'Bo Li'],
        ['✖', 'Bo Li'],
      ]);
      expect(new Set(told.map(({ eventKey }) => eventKey)).size).toBe(2);
      expect(slack.workspace.deliveries.every(({ isAcknowledged }) => isAcknowledged)).toBe(true);
    });
  });

  it('by another bot says that it is one', async () => {
    await using(
      async (slack) => {
        const ts = slack.workspace.say('U_ANNA', 'C1', 'hello');
        slack.workspace.react('U_ROBO', ts, 'x');
        expect((await slack.first('reaction')).author.isBot).toBe(true);
      },
      { prepare: (workspace) => workspace.addUser({ id: 'U_ROBO', name: 'Robo', isBot: true }) },
    );
  });

  it('that could not be stored comes again with the same key', async () => {
    await using(async (slack) => {
      const ts = slack.workspace.say('U_ANNA', 'C1', 'hello');
      await slack.workspace.settled();
      slack.failStoring(true);
      slack.workspace.react('U_ANNA', ts, 'x');
      await slack.workspace.until(() => slack.workspace.deliveries.at(-1)?.attempts === 1);
      slack.failStoring(false);
      const { eventKey } = await slack.first('reaction');
      expect(eventKey).toContain(`slack:C1:${ts}:reaction:U_ANNA:x`);
    });
  });
});
