/** The executors that are installed here keep the contract. */

import { describe } from 'vitest';
import { bubblewrapProblem } from '../../../src/tools/shell/bubblewrap.ts';
import { describeExecutor } from '../../contract/executor.ts';
import { bubblewrapOf, hostOf, virtualOf } from './set-up.ts';

describeExecutor('virtual', virtualOf, { isSandboxed: true, isReal: false });
describeExecutor('host', hostOf, { isSandboxed: false, isReal: true });
describe.runIf(bubblewrapProblem() === undefined)('where there is bubblewrap', () => {
  describeExecutor('bubblewrap', bubblewrapOf, { isSandboxed: true, isReal: true });
});
