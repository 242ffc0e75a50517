/** Splitting of any Markdown, with many texts. */

import { describeSplitOfAny } from './split-any.ts';

describeSplitOfAny({ texts: 600, growing: 90 });
