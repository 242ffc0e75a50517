/** An executor that does what the test says, in no time. */

import type { Executor, ShellRequest, ShellResult } from '../../../src/tools/shell/executor.ts';

export interface FakeExecutor extends Executor {
  readonly requests: readonly ShellRequest[];
  /** Ends the oldest command that runs. */
  finish(result?: Partial<ShellResult>): void;
  readonly running: number;
  readonly isClosed: boolean;
}

export function createFakeExecutor(streams = true): FakeExecutor {
  const requests: ShellRequest[] = [];
  const waiting: ((result: Partial<ShellResult>) => void)[] = [];
  let isClosed = false;
  return {
    name: 'virtual',
    description: 'It is not real.',
    streams,
    startFolder: () => '/workspace',
    run: (request, signal) => {
      requests.push(request);
      const session = request.session ?? { cwd: '/workspace', env: {} };
      return new Promise((resolve) => {
        const finish = (result: Partial<ShellResult>): void => {
          const place = waiting.indexOf(finish);
          if (place !== -1) waiting.splice(place, 1);
          resolve({
            how: 'exited',
            output: '',
            isCut: false,
            exitCode: 0,
            session,
            lostFolder: undefined,
            ...result,
          });
        };
        waiting.push(finish);
        const stop = (): void => finish({ how: 'stopped' });
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop, { once: true });
      });
    },
    finish: (result = {}) => waiting[0]?.(result),
    get requests() {
      return requests;
    },
    get running() {
      return waiting.length;
    },
    close: async () => {
      isClosed = true;
    },
    get isClosed() {
      return isClosed;
    },
  };
}
