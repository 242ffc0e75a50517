/** Settings of tools: where shell commands run, and what they may use. */

import { z } from 'zod';

const hostPattern = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?$/u;

export const bashSettings = z.strictObject({
  /** virtual: a simulated bash that cannot touch the machine · bubblewrap: a real bash in a sandbox ·
   * host: a real bash on the bot's own machine, as the bot's user. */
  executor: z
    .enum(['virtual', 'bubblewrap', 'host'], 'must be virtual, bubblewrap or host')
    .default('virtual'),
  /** Must be true for executor: host. */
  acceptHostRisk: z.boolean().default(false),
  /** Seconds a command gets unless the model asks for another time. */
  timeoutSeconds: z.int().min(1).max(600).default(120),
  /**
   * virtual: false, or the hosts that curl may reach (`api.example.com`, with a port if it is not
   * that of the scheme); private addresses are refused even then. bubblewrap: true opens the whole
   * network of the machine, its own services included; hosts cannot be told apart. host: always has
   * the machine's network.
   */
  network: z
    .union([
      z.boolean(),
      z
        .array(z.string().regex(hostPattern, 'must be a host, like api.example.com'))
        .min(1)
        .readonly(),
    ])
    .default(false),
  /** Given to every command on purpose. The values are secrets to the filter of all that leaves. */
  environment: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/u, 'must be a name of letters, digits and _'),
      z.string(),
    )
    .default({}),
  /** virtual: of the shell's heap, default 256 · bubblewrap and host: of each process, default 2048. */
  mostMemoryMb: z.int().min(64).max(65_536).exactOptional(),
  /** bubblewrap: processes of a call at the same time. */
  mostProcesses: z.int().min(8).max(10_000).default(256),
  /** Largest file that a command may write. */
  mostFileMb: z.int().min(1).max(65_536).default(512),
});
export type BashSettings = Readonly<z.infer<typeof bashSettings>>;

const hostGlob = z
  .string()
  .regex(
    /^(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/u,
    'must be like docs.example.org or *.example.org',
  );

export const webSettings = z.strictObject({
  /** Hosts that may be fetched without approval. */
  allow: z.array(hostGlob).readonly().default([]),
  /** Hosts that must not be fetched. */
  deny: z.array(hostGlob).readonly().default([]),
  /**
   * Fetches go through HTTPS_PROXY. Then the proxy looks names up, so it must refuse private
   * addresses itself.
   */
  throughProxy: z.boolean().default(false),
  /** A search endpoint, for models whose vendor has no search of its own. */
  search: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('searxng'), url: z.url() }),
      z.strictObject({
        kind: z.enum(['brave', 'tavily']),
        apiKey: z.string().min(1),
        url: z.url().exactOptional(),
      }),
    ])
    .exactOptional(),
});

export const toolSettings = z.strictObject({
  bash: bashSettings.prefault({}),
  web: webSettings.prefault({}),
});
export type ToolSettings = Readonly<z.infer<typeof toolSettings>>;
