/** All providers with a server keep the contract. */

import { describeChatProvider } from '../contract/chat-provider.ts';
import { providersUnderTest } from '../contract/providers-under-test.ts';

for (const under of providersUnderTest) describeChatProvider(under);
