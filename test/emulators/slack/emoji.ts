/** Short names that Slack knows (https://github.com/iamcal/emoji-data, `short_name`); any other name
 * is refused unless it is a workspace's own. A part of the list, with look-alikes that are not on it
 * left out: thumbs_up, check, party. */
export const emojiNames: ReadonlySet<string> = new Set(
  `+1 -1 100 white_check_mark heavy_check_mark x eyes heart broken_heart tada confetti_ball rocket
  fire pray clap raised_hands wave ok_hand muscle star star2 sparkles dart bulb thinking_face smile
  smiley grinning joy cry sob open_mouth astonished question exclamation warning bug wrench hammer
  memo pushpin round_pushpin hourglass hourglass_flowing_sand lock unlock key ship anchor zzz`
    .split(/\s+/u)
    .filter((name) => name !== ''),
);
