/**
 * Commands that run on in the background: a few a conversation, each with a bounded output that is
 * read piece by piece. A job ends with its run's stop, when it is killed, after 30 minutes, or with
 * the process.
 */

import { abortReasonOf, linkedAbort } from '../../base/abort.ts';
import { type BoundedText, createBoundedText } from '../../base/bounded-text.ts';
import type { Clock } from '../../base/clock.ts';
import { BotError, botErrorOf } from '../../base/errors.ts';
import type { NewId } from '../../base/ids.ts';
import type { Executor, ShellRequest, ShellResult } from './executor.ts';

export const mostJobMs = 30 * 60_000;
const mostRunningJobs = 5;
/** Ended jobs whose output nobody has looked at yet. */
const mostEndedJobs = 20;
const mostUnreadChars = 100_000;

export interface JobView {
  /** What came since the last look. */
  readonly output: string;
  /** As a clause: `is running`, `ended with exit code 1`. */
  readonly state: string;
  readonly isRunning: boolean;
}

export interface Jobs {
  /** The id of the new job; throws tool_failed when too many run. */
  start(conversationKey: string, request: JobRequest, runSignal: AbortSignal): string;
  /** Waits at most `waitMs` for the job's end or, where there is no output yet, for some. Undefined:
   * the conversation has no such job. */
  look(
    conversationKey: string,
    jobId: string,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<JobView | undefined>;
  /** Resolves when the job is gone. False: the conversation has no such job. */
  kill(conversationKey: string, jobId: string): Promise<boolean>;
  /** Ends all jobs of a conversation. */
  stop(conversationKey: string): Promise<void>;
  close(): Promise<void>;
  idsOf(conversationKey: string): readonly string[];
}

export type JobRequest = Pick<ShellRequest, 'command' | 'workspace' | 'session'>;

interface Job {
  readonly id: string;
  unread: BoundedText;
  /** Undefined while it runs. */
  ending: string | undefined;
  readonly done: Promise<void>;
  stop(): void;
  /** Calls those who wait for something new. */
  readonly watchers: Set<() => void>;
}

export interface JobsDeps {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly executor: Executor;
}

export function createJobs(deps: JobsDeps): Jobs {
  const books = new Map<string, Map<string, Job>>();
  const bookOf = (key: string): Map<string, Job> => {
    const book = books.get(key) ?? new Map<string, Job>();
    books.set(key, book);
    return book;
  };
  const stopAll = async (jobs: Iterable<Job>): Promise<void> => {
    const all = [...jobs];
    for (const job of all) job.stop();
    await Promise.all(all.map(({ done }) => done));
  };
  return {
    start: (key, request, runSignal) => {
      const book = bookOf(key);
      const running = [...book.values()].filter(({ ending }) => ending === undefined);
      if (running.length >= mostRunningJobs) throw tooMany(running);
      forgetOldest(book);
      const job = startJob(deps, request, runSignal);
      book.set(job.id, job);
      return job.id;
    },
    look: async (key, jobId, waitMs, signal) => {
      const job = books.get(key)?.get(jobId);
      if (!job) return undefined;
      if (job.ending === undefined && job.unread.length === 0 && waitMs > 0) {
        await somethingNew(deps.clock, job, waitMs, signal);
      }
      const output = job.unread.read();
      job.unread = createBoundedText(mostUnreadChars);
      const isRunning = job.ending === undefined;
      if (!isRunning) forget(books, key, jobId);
      return { output, isRunning, state: job.ending ?? 'is running' };
    },
    kill: async (key, jobId) => {
      const job = books.get(key)?.get(jobId);
      if (!job) return false;
      await stopAll([job]);
      return true;
    },
    stop: async (key) => {
      const book = books.get(key);
      books.delete(key);
      await stopAll(book?.values() ?? []);
    },
    close: async () => {
      const all = [...books.values()].flatMap((book) => [...book.values()]);
      books.clear();
      await stopAll(all);
    },
    idsOf: (key) => [...(books.get(key)?.keys() ?? [])],
  };
}

function startJob({ newId, executor }: JobsDeps, request: JobRequest, runSignal: AbortSignal): Job {
  const linked = linkedAbort(runSignal);
  const watchers = new Set<() => void>();
  const job: Job = {
    id: newId('job'),
    unread: createBoundedText(mostUnreadChars),
    ending: undefined,
    watchers,
    stop: () => linked.abort(new BotError('stopped', 'The job was ended.')),
    done: Promise.resolve()
      .then(() =>
        executor.run(
          {
            ...request,
            timeoutMs: mostJobMs,
            onOutput: (text) => {
              job.unread.append(text);
              tell();
            },
          },
          linked.signal,
        ),
      )
      .then(endingOf, (thrown: unknown) => `failed: ${botErrorOf(thrown).message}`)
      .then((ending) => {
        job.ending = ending;
        linked.release();
        tell();
      }),
  };
  const tell = (): void => {
    for (const watcher of watchers) watcher();
  };
  return job;
}

function endingOf({ how, exitCode }: ShellResult): string {
  switch (how) {
    case 'exited':
      return `ended with exit code ${exitCode}`;
    case 'stopped':
      return 'was ended before it was done';
    case 'timed_out':
      return `ran for ${mostJobMs / 60_000} minutes and was ended`;
    case 'out_of_memory':
      return 'needed too much memory and was ended';
    case 'too_much_output':
      return 'wrote too much and was ended';
    case 'too_many_processes':
      return 'started too many processes and was ended';
  }
}

/** Resolves when the job wrote or ended, or after `waitMs`; rejects when the call is stopped. */
function somethingNew(
  clock: Clock,
  { watchers }: Job,
  waitMs: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (work: () => void): void => {
      watchers.delete(onNew);
      cancel();
      signal.removeEventListener('abort', onAbort);
      work();
    };
    const onNew = (): void => settle(resolve);
    const onAbort = (): void => settle(() => reject(abortReasonOf(signal)));
    const cancel = clock.setTimer(waitMs, onNew);
    watchers.add(onNew);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

function forgetOldest(book: Map<string, Job>): void {
  const ended = [...book.values()].filter(({ ending }) => ending !== undefined);
  for (const { id } of ended.slice(0, Math.max(0, ended.length - mostEndedJobs + 1))) {
    book.delete(id);
  }
}

function forget(books: Map<string, Map<string, Job>>, key: string, jobId: string): void {
  const book = books.get(key);
  book?.delete(jobId);
  if (book?.size === 0) books.delete(key);
}

function tooMany(running: readonly Job[]): BotError {
  const ids = running.map(({ id }) => id).join(', ');
  return new BotError(
    'tool_failed',
    `${running.length} jobs are running already (${ids}). Wait for one with BashOutput, or end one with KillBash.`,
  );
}
