/** A life that can end at any call: what the process had begun after that never happens. */

import type { Conversation } from '../../src/messages/conversation.ts';
import type { Store } from '../../src/storage/store.ts';
import type { Adapter } from '../../src/surface/adapter.ts';
import type { Surface } from '../../src/surface/surface.ts';

export interface Life {
  isDead: boolean;
  /** Writes and platform calls so far. */
  calls: number;
  /** It dies at this call: before it, or after its effect with the answer lost. */
  dieAt: { readonly call: number; readonly when: 'before' | 'after' } | undefined;
}

export function createLife(dieAt?: Life['dieAt']): Life {
  return { isDead: false, calls: 0, dieAt };
}

const never = <T>(): Promise<T> => new Promise<T>(() => {});

/** Makes a call as this life: never answers once it is dead. */
async function as<T>(life: Life, counts: boolean, call: () => Promise<T>): Promise<T> {
  if (life.isDead) return never();
  if (counts) life.calls += 1;
  const dies = counts && life.dieAt?.call === life.calls ? life.dieAt.when : undefined;
  if (dies === 'before') {
    life.isDead = true;
    return never();
  }
  const result = await call();
  if (dies === 'after') life.isDead = true;
  return life.isDead ? never() : result;
}

export function mortalStore(store: Store, life: Life): Store {
  return {
    get: (key) => as(life, false, () => store.get(key)),
    getMany: (keys) => as(life, false, () => store.getMany(keys)),
    set: (key, value, options) => as(life, true, () => store.set(key, value, options)),
    setMany: (entries) => as(life, true, () => store.setMany(entries)),
    delete: (key) => as(life, true, () => store.delete(key)),
    claim: (key, value, options) => as(life, true, () => store.claim(key, value, options)),
    addToIndex: (entry) => as(life, true, () => store.addToIndex(entry)),
    removeFromIndex: (index, member) => as(life, true, () => store.removeFromIndex(index, member)),
    settleInIndex: (index, member, settled) =>
      as(life, true, () => store.settleInIndex(index, member, settled)),
    rangeOfIndex: (index, options) => as(life, false, () => store.rangeOfIndex(index, options)),
    check: () => as(life, false, () => store.check()),
    close: () => store.close(),
  };
}

export function mortalAdapter(adapter: Adapter, life: Life): Adapter {
  return {
    ...adapter,
    surfaceOf: (conversation: Conversation, title?: string): Surface => {
      const surface = adapter.surfaceOf(conversation, title);
      return {
        ...surface,
        post: (message, options) => as(life, true, () => surface.post(message, options)),
        edit: (messageId, message) => as(life, true, () => surface.edit(messageId, message)),
        upload: (file, options) => as(life, true, () => surface.upload(file, options)),
        remove: (messageId) => as(life, true, () => surface.remove(messageId)),
      };
    },
  };
}
