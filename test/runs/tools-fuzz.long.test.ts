/** Half an hour of tools, stops and crashes, many times. */

import { describeToolsFuzz } from './tools-fuzz.ts';

describeToolsFuzz(Array.from({ length: 18 }, (_, index) => index + 3));
