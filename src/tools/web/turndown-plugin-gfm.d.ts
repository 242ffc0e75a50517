/** The part of the plugin that is used here; it comes without types. */

declare module 'turndown-plugin-gfm' {
  import type TurndownService from 'turndown';

  /** Tables, strikethrough and task lists. */
  export const gfm: TurndownService.Plugin;
}
