/** The whole configuration, composed of the settings that each folder declares. */

import { z } from 'zod';
import { agentSettings } from '../agent/settings.ts';
import { reasoningOptionsSchema } from '../messages/model.ts';
import { limitSettings, permissionSettings } from '../permissions/settings.ts';
import { providerSettingsSchema } from '../providers/settings.ts';
import { questionSettings } from '../questions/settings.ts';
import { replySettings } from '../render/settings.ts';
import { accessLists, fileSettings, profileSettings, runSettings } from '../runs/settings.ts';
import { storageSettingsSchema } from '../storage/settings.ts';
import { toolSettings } from '../tools/settings.ts';

const personId = z
  .string()
  .regex(/^(slack|discord|web):[A-Za-z0-9]+$/u, 'must be like slack:U024BE7LH: platform and id');

const portProblem = 'must be a number from 0 to 65535';

/** Which places an entry of `channels` is about; what is left out matches all. */
const placePattern = z.strictObject({
  platform: z.enum(['slack', 'discord', 'web']).exactOptional(),
  /** Workspace or guild id. */
  space: z.string().exactOptional(),
  /** Channel id, or its name with * as a wildcard, without #. */
  channel: z.string().exactOptional(),
});
export type PlacePattern = Readonly<z.infer<typeof placePattern>>;

const channelEntry = z.strictObject({ match: placePattern, ...profileSettings.shape });
export type ChannelEntry = Readonly<z.infer<typeof channelEntry>>;

/** Sections are optional: each has defaults. */
export function configSchemaOf<P extends z.ZodRawShape>(platforms: P) {
  return z.strictObject({
    /** What the bot calls itself. */
    name: z.string().min(1).max(40).default('Deckhand'),
    /** Each platform's own settings; every one has defaults. */
    platforms: z.strictObject(platforms),
    models: providerSettingsSchema.prefault({}),
    store: storageSettingsSchema.prefault({}),
    workspace: z
      .strictObject({
        folder: z.string().min(1).default('./data/workspaces'),
        /** Folders that all conversations may read, by name: `/mnt/<name>` to the model. */
        mounts: z
          .record(
            z.string().regex(/^[a-z0-9-]{1,40}$/u, 'must be a name of a-z, 0-9 and -'),
            z.string().min(1),
          )
          .default({}),
      })
      .prefault({}),
    server: z
      .strictObject({
        host: z.string().min(1).default('127.0.0.1'),
        port: z.int(portProblem).min(0, portProblem).max(65535, portProblem).default(3000),
      })
      .prefault({}),
    log: z
      .strictObject({
        level: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
      })
      .prefault({}),
    runs: runSettings.prefault({}),
    agent: agentSettings.prefault({}),
    tools: toolSettings.prefault({}),
    files: fileSettings.prefault({}),
    limits: limitSettings.prefault({}),
    questions: questionSettings.prefault({}),
    /** Ids of people with admin rights. Empty: only the local page's person. */
    admins: z.array(personId).readonly().default([]),
    /** Other bots that may mention this one. */
    bots: z.array(personId).readonly().default([]),
    allow: accessLists.prefault({}),
    deny: accessLists.prefault({}),
    permissions: permissionSettings.prefault({}),
    instructions: z.string().exactOptional(),
    /** Default: all. */
    followUps: z.enum(['all', 'mention']).exactOptional(),
    reasoning: reasoningOptionsSchema.exactOptional(),
    /** Default: false. */
    webSearch: z.boolean().exactOptional(),
    /** Default: true. */
    channelHistory: z.boolean().exactOptional(),
    /** What people see of a run. */
    reply: replySettings.prefault({}),
    channels: z.array(channelEntry).readonly().default([]),
  });
}
