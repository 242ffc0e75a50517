/** The bytes of each wire, cut where it tells; bytes.long.test.ts cuts everywhere. */

import { describe } from 'vitest';
import { describeProviderBytes, describeProviderCuts } from '../contract/provider-bytes.ts';
import { providersUnderTest } from '../contract/providers-under-test.ts';

describe.each(providersUnderTest)('the stream of $wire', (under) => {
  describeProviderCuts(under, 'telling');
  describeProviderBytes(under);
});
