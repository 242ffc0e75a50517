/**
 * A provider's raw events as ours. Written out by hand: as a generator of its own it would cost each
 * event several turns through the promise queue, and events come by the thousand.
 */

type Step<Event> = IteratorResult<Event> | Promise<IteratorResult<Event>>;

const over = { done: true, value: undefined } as const;

/**
 * `translate` is called with each raw value in turn, `end` once after the last; what they throw ends
 * the stream behind what they gave before. For one reader, that asks for one event after the other. Leaving it leaves `raw`.
 */
export function translated<Event>(
  raw: AsyncIterable<unknown>,
  translate: (value: unknown) => Iterable<Event>,
  end: () => Iterable<Event>,
): AsyncIterable<Event> {
  return {
    [Symbol.asyncIterator]: (): AsyncIterator<Event> => {
      const values = raw[Symbol.asyncIterator]();
      const ready: Event[] = [];
      let failure: { readonly thrown: unknown } | undefined;
      let hasEnded = false;
      let isOver = false;
      const read = (result: IteratorResult<unknown>): Step<Event> => {
        hasEnded = result.done === true;
        try {
          const events = hasEnded ? end() : translate(result.value);
          // Nearly always; nothing is ready, for only then is a value read.
          const [only] = isList(events) && events.length === 1 ? events : [];
          if (only !== undefined) return { done: false, value: only };
          for (const event of events) ready.push(event);
        } catch (thrown) {
          failure = { thrown };
        }
        return step();
      };
      /** What is ready, then what went wrong, then the end, else what comes next. */
      const step = (): Step<Event> => {
        const value = ready.shift();
        if (value !== undefined) return { done: false, value };
        if (failure !== undefined) return leave(failure.thrown);
        if (!hasEnded) return values.next().then(read);
        isOver = true;
        return over;
      };
      const leave = async (thrown: unknown): Promise<never> => {
        isOver = true;
        await values.return?.();
        throw thrown;
      };
      return {
        next: () => Promise.resolve(isOver ? over : step()),
        return: async () => {
          isOver = true;
          await values.return?.();
          return over;
        },
      };
    },
  };
}

function isList<Event>(events: Iterable<Event>): events is readonly Event[] {
  return Array.isArray(events);
}
