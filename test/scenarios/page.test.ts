/** The local page end to end: the real process, spoken to as a browser does. */

import { describePlatform } from './platform-suite.ts';
import { createPageStage } from './stages.ts';

describePlatform('The page', createPageStage, {
  limits: false,
  connection: false,
  livesInProcess: true,
});
