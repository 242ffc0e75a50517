/** All providers with a server keep the contract, and the README says what came of it. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createCapabilityTable, hasTableBlock, readmeWith } from '../contract/capabilities.ts';
import { describeChatProvider } from '../contract/chat-provider.ts';
import { providersUnderTest } from '../contract/providers-under-test.ts';

const table = createCapabilityTable(it);
for (const under of providersUnderTest) describeChatProvider(under, table.on(under.wire));

describe('the README', () => {
  const file = path.resolve(import.meta.dirname, '../../README.md');
  const readme = readFileSync(file, 'utf8');

  // Last of all: by now the table is full. `npm run providers-table` rewrites the README instead.
  it.skipIf(!hasTableBlock(readme))('shows what works with which provider', async () => {
    expect(table.markdown()).not.toContain('untested');
    await expect(readmeWith(readme, table.markdown())).toMatchFileSnapshot(file);
  });
});
