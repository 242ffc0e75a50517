import { createMemoryStore } from '../../src/storage/memory.ts';
import { describeStoreContract } from '../contract/store.ts';

describeStoreContract('memory', async (deps) => {
  const store = createMemoryStore(deps);
  return { store, remove: () => store.close() };
});
