/**
 * Files that came with a message. A file of another workspace arrives as a stub without name, type
 * and address: it is looked up first, so that an image is known as one. That may not hold up the
 * message; a file nobody described in time is told as bytes of an unknown kind.
 */

import { z } from 'zod';
import type { Clock } from '../../src/base/clock.ts';
import type { Log } from '../../src/base/log.ts';
import type { InboundFile } from '../../src/surface/inbound.ts';
import { createCache } from './cache.ts';
import type { CallSlack } from './web-api.ts';
import { type SlackFile, slackFileSchema } from './wire.ts';

export type DescribeFiles = (files: readonly SlackFile[]) => Promise<readonly InboundFile[]>;

export const fileAnswerSchema = z.object({ file: slackFileSchema });

/** More stubs than this in one message are not looked up: Slack takes 10 files a message. */
const mostLookUps = 10;

export function createDescribeFiles(deps: {
  readonly call: CallSlack;
  readonly clock: Clock;
  readonly log: Log;
}): DescribeFiles {
  const described = createCache<SlackFile>({
    ...deps,
    load: async (id) => (await deps.call('files.info', { file: id }, fileAnswerSchema)).file,
  });
  return async (files) => {
    const stubs = files.filter(isStub).slice(0, mostLookUps);
    const found = new Map(
      await Promise.all(stubs.map(async ({ id }) => [id, await described.get(id)] as const)),
    );
    return files.flatMap((file) => fileOf(found.get(file.id) ?? file));
  };
}

function isStub(file: SlackFile): boolean {
  if (isGone(file) || file.mode === 'hidden_by_limit') return false;
  const hasAddress = typeof (file.url_private_download ?? file.url_private) === 'string';
  return file.file_access === 'check_file_info' || typeof file.mimetype !== 'string' || !hasAddress;
}

/** Deleted. What is hidden by a limit is there, and said to be so when it is asked for. */
function isGone(file: SlackFile): boolean {
  return file.mode === 'tombstone';
}

function fileOf(file: SlackFile): InboundFile[] {
  if (isGone(file)) return [];
  return [
    {
      id: file.id,
      name: file.name ?? file.title ?? file.id,
      mediaType: file.mimetype ?? 'application/octet-stream',
      bytes: file.size ?? 0,
      url: file.url_private_download ?? file.url_private ?? '',
    },
  ];
}
