/** What every provider is made with. */

import type { Clock } from '../base/clock.ts';
import type { NewId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { ModelFetch } from './transport.ts';

export interface ProviderDeps {
  /** From createModelFetch. */
  readonly fetch: ModelFetch;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
}

export interface ProviderOptions {
  readonly apiKey: string;
  /** Base address of the API; each provider says what it ends in. */
  readonly baseUrl?: string;
}
