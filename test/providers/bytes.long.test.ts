/** The bytes of each wire, cut everywhere. */

import { describe } from 'vitest';
import { describeProviderCuts } from '../contract/provider-bytes.ts';
import { providersUnderTest } from '../contract/providers-under-test.ts';

describe.each(providersUnderTest)('the stream of $wire', (under) => {
  describeProviderCuts(under, 'all');
});
