/** Half an hour of tools, stops and crashes, twice; tools-fuzz.long.test.ts has more of it. */

import { describeToolsFuzz } from './tools-fuzz.ts';

describeToolsFuzz([1, 2]);
