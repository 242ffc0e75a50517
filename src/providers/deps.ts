/** What every provider is made with. */

import type { Clock } from '../base/clock.ts';
import type { NewId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { LearnedBook } from './adaptations.ts';
import type { ModelFetch } from './transport.ts';

export interface ProviderDeps {
  /** From createModelFetch. */
  readonly fetch: ModelFetch;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  /** What models were found to refuse, kept over restarts. */
  readonly learned: LearnedBook;
}

export interface ProviderOptions {
  readonly apiKey: string;
  /** Base address of the API; each provider says what it ends in. */
  readonly baseUrl?: string;
  /** The word before the slash of its models, where it is not the vendor's own. */
  readonly name?: string;
  /** Where the key is set, for people: `ANTHROPIC_API_KEY`. */
  readonly keySetting?: string;
  /** Sent with each request, over ours where the names are the same. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** As a field to spread: absent where it is not known. */
export function keySettingOf({ keySetting }: { readonly keySetting?: string }): {
  readonly keySetting?: string;
} {
  return keySetting === undefined ? {} : { keySetting };
}
