/** Which limit is reached, in words for people: what it is, and who can raise it. */

import { formatUsd } from '../base/text.ts';
import type { LimitSettings } from './settings.ts';

export interface ReachedLimit {
  readonly limit: keyof LimitSettings;
  /** For people. */
  readonly text: string;
}

export interface Spent {
  readonly runUsd: number;
  readonly dayUsd: number;
}

/** The limit of money that is used up; undefined when a further step may be made. */
export function reachedLimit(spent: Spent, limits: LimitSettings): ReachedLimit | undefined {
  const { usdPerRun, usdPerDay } = limits;
  if (usdPerDay !== undefined && spent.dayUsd >= usdPerDay) {
    return {
      limit: 'usdPerDay',
      text: `The limit of ${formatUsd(usdPerDay)} a day for all of us is used up. It starts anew at midnight UTC; an admin can raise it (\`limits.usdPerDay\`).`,
    };
  }
  if (usdPerRun !== undefined && spent.runUsd >= usdPerRun) {
    return {
      limit: 'usdPerRun',
      text: `I stopped at the limit of ${formatUsd(usdPerRun)} for one run. Say "go on" if I should continue; an admin can raise it (\`limits.usdPerRun\`).`,
    };
  }
  return undefined;
}

/** `waitMs`: until the oldest run of the hour no longer counts. */
export function tooManyRuns(name: string, limits: LimitSettings, waitMs: number): string {
  const minutes = Math.max(1, Math.ceil(waitMs / 60_000));
  const count = limits.runsPerPersonHour === 1 ? '1 run' : `${limits.runsPerPersonHour} runs`;
  return `${name} has started ${count} within an hour, which is the limit for one person. The next one can start in ${minutes} min; an admin can raise it (\`limits.runsPerPersonHour\`).`;
}

export function tooManySteps(limits: LimitSettings): string {
  return `I stopped after ${limits.stepsPerRun} steps, the limit for one run. Say "go on" if I should continue; an admin can raise it (\`limits.stepsPerRun\`).`;
}
