/** What a shell line would do, as permissions ask for it. */

import type { Assessment, ToolScene } from '../contract.ts';
import type { Workspace } from '../paths.ts';
import type { BashSettings } from '../settings.ts';
import { placesInSandbox, placesOnHost } from './analysis/places.ts';
import { carriedCommands } from './carried-commands.ts';

/** The shell that a line would run in. */
export interface ShellPlace {
  /** Absolute, as the shell sees it. */
  readonly cwd: string;
  /** Names of variables that earlier lines exported. */
  readonly carried: readonly string[];
}

export type AssessShell = (
  command: string,
  scene: ToolScene,
  shell: ShellPlace,
) => Promise<Assessment>;

export function createShellAssessment(settings: BashSettings): AssessShell {
  const { executor, network } = settings;
  const isOnHost = executor === 'host';
  const curlHosts = typeof network === 'boolean' ? [] : network.map((host) => host.toLowerCase());
  // Its parser is large: it is loaded with the first line that is judged.
  let analysis: Promise<typeof import('./analysis/analyse.ts')> | undefined;
  const homeOf = ({ folder }: Workspace): string => (isOnHost ? folder : '/workspace');
  return async (command, { workspace }, { cwd, carried }) => {
    const places = isOnHost ? placesOnHost(workspace) : placesInSandbox(workspace);
    const home = homeOf(workspace);
    analysis ??= import('./analysis/analyse.ts');
    const { analyseShell } = await analysis;
    const facts = await analyseShell(command, { places, cwd, curlHosts, home });
    // Exported variables change what commands mean: PATH, options, proxies, and who knows which.
    const isPlain = carried.length === 0;
    const isReadOnly = facts.isReadOnly && isPlain;
    const why = isPlain
      ? facts.why
      : `this shell carries what earlier commands exported (${carried.slice(0, 3).join(', ')}), which can change what commands do`;
    return {
      isReadOnly,
      needsApproval: !isReadOnly,
      why,
      subjects: [...new Set([...facts.commands, ...facts.commands.flatMap(carriedCommands)])],
      // What only reads needs no rule of its own.
      asking: isPlain ? facts.unknown : facts.commands,
      match: 'text',
      isWhole: facts.isWhole,
      alwaysAsks: facts.alwaysAsks,
      grant: isPlain ? facts.grant : undefined,
    };
  };
}
