/**
 * Images that the model made go into the thread as files, behind the text they belong to: each once,
 * whatever crash comes between. How far they are is in the run's record.
 */

import { hashOf } from '../base/canonical.ts';
import { type BotError, botErrorOf } from '../base/errors.ts';
import { formatMegabytes } from '../base/file-types.ts';
import { fitImage } from '../base/images.ts';
import { errorFacts } from '../base/log.ts';
import type { Entry } from '../messages/entries.ts';
import type { MadeImagePart } from '../messages/parts.ts';
import { deliver } from '../surface/deliver.ts';
import type { OutboundFile } from '../surface/outbound.ts';
import { noticeMessage } from './commands.ts';
import type { ExecuteDeps } from './execute-deps.ts';
import type { RunRecord } from './run-record.ts';
import type { Scene } from './scene.ts';

interface MadeImage {
  /** Step and place in it: `3.0`. */
  readonly id: string;
  readonly part: MadeImagePart;
}

/**
 * Posts what is not there yet; resolves with the record as it is stored by then. Throws what will
 * pass: a platform that is out, a process that ends.
 */
export async function sendMadeImages(
  deps: ExecuteDeps,
  scene: Scene,
  record: RunRecord,
  signal: AbortSignal,
): Promise<RunRecord> {
  let now = record;
  for (const image of madeImages(scene.transcript.entries(), record.runId)) {
    const state = now.images[image.id];
    if (state === 'done') continue;
    now = { ...now, images: { ...now.images, [image.id]: 'begun' } };
    await deps.records.save(scene.key, now);
    const postKey = `${record.runId}.i${image.id}`;
    await send(deps, scene, image.part, { postKey, wasBegun: state === 'begun', signal });
    now = { ...now, images: { ...now.images, [image.id]: 'done' } };
    await deps.records.save(scene.key, now);
  }
  return now;
}

/** Whether an answer of the run holds an image. */
export function hasMadeImage(entries: readonly Entry[], runId: string): boolean {
  return madeImages(entries, runId).length > 0;
}

function madeImages(entries: readonly Entry[], runId: string): readonly MadeImage[] {
  return entries.flatMap((entry) => {
    if (entry.kind !== 'assistant_message' || entry.runId !== runId) return [];
    return entry.parts
      .filter((part) => part.kind === 'image')
      .map((part, place) => ({ id: `${entry.step}.${place}`, part }));
  });
}

interface Sending {
  readonly postKey: string;
  /** An earlier life may have posted it. */
  readonly wasBegun: boolean;
  readonly signal: AbortSignal;
}

async function send(
  deps: ExecuteDeps,
  scene: Scene,
  part: MadeImagePart,
  sending: Sending,
): Promise<void> {
  const content = Buffer.from(part.base64, 'base64');
  let refusal = await upload(deps, scene, fileOf(content, part.mediaType, sending), sending);
  if (refusal?.code === 'message_too_long') {
    const smaller = await smallerFile(deps, content, sending);
    if (smaller) refusal = await upload(deps, scene, smaller, sending);
  }
  if (!refusal) return;
  deps.log.warn('image_not_posted', { conversation: scene.key, ...errorFacts(refusal) });
  if (refusal.code === 'surface_gone') return;
  const text = `I made an image, but it could not be posted: ${refusal.message}`;
  const key = `${sending.postKey}n`;
  await deliver(
    deps.clock,
    (attempt) =>
      scene.surface.post(noticeMessage(text), {
        key,
        maybePosted: sending.wasBegun || attempt > 1,
      }),
    sending.signal,
  );
}

/** Why the platform does not take it; undefined once it is there. */
async function upload(
  { clock }: ExecuteDeps,
  { surface }: Scene,
  file: OutboundFile,
  { postKey: key, wasBegun, signal }: Sending,
): Promise<BotError | undefined> {
  try {
    await deliver(
      clock,
      (attempt) => surface.upload(file, { key, maybePosted: wasBegun || attempt > 1 }),
      signal,
    );
    return undefined;
  } catch (thrown) {
    const error = botErrorOf(thrown);
    if (error.code === 'surface_unavailable' || signal.aborted) throw error;
    return error;
  }
}

const endings: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
};

/** Its name is made of the key, so that it can be told from all others. */
function fileOf(content: Uint8Array, mediaType: string, { postKey }: Sending): OutboundFile {
  const ending = endings[mediaType] ?? 'img';
  const name = `image-${hashOf(postKey).slice(0, 8)}.${ending}`;
  return { name, content, isNameUnique: true };
}

/** What the platform may take instead; undefined where it is no smaller. */
async function smallerFile(
  { settings }: ExecuteDeps,
  content: Uint8Array,
  sending: Sending,
): Promise<OutboundFile | undefined> {
  const fitted = await fitImage(content, {
    mostPixels: settings.files.mostImageMegapixels * 1_000_000,
    mostSeconds: settings.files.mostDecodeSeconds,
  });
  if (fitted.kind === 'problem' || fitted.bytes.length >= content.length) return undefined;
  const comment = `Scaled down: as it was made it has ${formatMegabytes(content.length)}, more than can be posted here.`;
  return { ...fileOf(fitted.bytes, fitted.mediaType, sending), comment };
}
