/** What people chose for one conversation: its model and how hard it thinks. */

import { z } from 'zod';
import type { Log } from '../base/log.ts';
import { createKeyedQueue } from '../base/queues.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import { effortSchema } from '../messages/model.ts';
import type { Store } from '../storage/store.ts';
import { readValidated } from '../storage/validated.ts';

const byWhom = { by: z.object({ id: z.string(), name: z.string() }) };

export const choiceSchema = z.object({
  /** `provider/model` */
  model: z.object({ value: z.string(), ...byWhom }).exactOptional(),
  effort: z.object({ value: effortSchema, ...byWhom }).exactOptional(),
});
export type Choice = Readonly<z.infer<typeof choiceSchema>>;

const storedSchema = choiceSchema.extend({ v: z.literal(1) });
type Stored = z.infer<typeof storedSchema>;

export interface Choices {
  /** Empty when nobody chose anything. */
  read(key: ConversationKey): Promise<Choice>;
  /** Undefined takes a choice back. */
  setModel(key: ConversationKey, model: Choice['model']): Promise<void>;
  setEffort(key: ConversationKey, effort: Choice['effort']): Promise<void>;
  /** Takes back what of this still stands; what was chosen since stays. */
  takeBack(key: ConversationKey, choice: Choice): Promise<void>;
}

export function createChoices(deps: { readonly store: Store; readonly log: Log }): Choices {
  const keyOf = (key: ConversationKey): string => `choice:${key}`;
  const read = async (key: ConversationKey): Promise<Choice> => {
    const { v: _version, ...choice } = (await readValidated(deps, keyOf(key), storedSchema)) ?? {
      v: 1,
    };
    return choice;
  };
  const save = (key: ConversationKey, choice: Choice): Promise<void> =>
    deps.store.set(keyOf(key), { v: 1, ...choice } satisfies Stored);
  /** Two people may choose at the same time. */
  const changes = createKeyedQueue();
  return {
    read,
    setModel: (key, model) =>
      changes.run(key, async () => {
        const { model: _old, ...rest } = await read(key);
        await save(key, model ? { ...rest, model } : rest);
      }),
    setEffort: (key, effort) =>
      changes.run(key, async () => {
        const { effort: _old, ...rest } = await read(key);
        await save(key, effort ? { ...rest, effort } : rest);
      }),
    takeBack: (key, { model, effort }) =>
      changes.run(key, async () => {
        if (!model && !effort) return;
        const { model: oldModel, effort: oldEffort } = await read(key);
        await save(key, {
          ...(oldModel && !isSame(oldModel, model) ? { model: oldModel } : {}),
          ...(oldEffort && !isSame(oldEffort, effort) ? { effort: oldEffort } : {}),
        });
      }),
  };
}

interface Chosen {
  readonly value: string;
  readonly by: { readonly id: string };
}

function isSame(one: Chosen, other: Chosen | undefined): boolean {
  return one.value === other?.value && one.by.id === other.by.id;
}
