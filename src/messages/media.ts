/**
 * Bytes of a file as something that models look at: an image, made to fit, or a PDF. What a model
 * is sent is bounded here once, wherever the file comes from.
 */

import { fileTypeOf, formatMegabytes } from '../base/file-types.ts';
import { fitImage } from '../base/images.ts';
import { inspectPdf } from '../base/pdf.ts';
import type { DocumentPart, ImagePart } from './parts.ts';
import type { MediaLimits } from './settings.ts';

export type MediaPart = ImagePart | DocumentPart;

/** A file larger than this is not even read. */
export const mostFileBytes = 20_000_000;
/**
 * Base64 of all images and documents in one request. Gemini takes 20 MB inline, text included;
 * Anthropic's whole request may have 32 MB, OpenAI's files 50 MB.
 */
export const mostMediaChars = 19_000_000;
/** One PDF that fits by itself. */
export const mostPdfBytes = 14_000_000;
/** Of a PDF's text, for models that cannot look into it. */
const mostTextChars = 20_000;

export type MediaOutcome =
  | MediaPart
  | {
      readonly kind: 'problem';
      /** A clause that says why nobody can look at it: "it is damaged". */
      readonly problem: string;
    }
  /** Neither an image nor a PDF. */
  | { readonly kind: 'other' };

export async function mediaPartOf(
  name: string,
  content: Uint8Array,
  limits: MediaLimits,
): Promise<MediaOutcome> {
  const type = fileTypeOf(content);
  if (type === undefined) return { kind: 'other' };
  const mostSeconds = limits.mostDecodeSeconds;
  if (type === 'application/pdf') {
    if (content.length > mostPdfBytes) {
      return { kind: 'problem', problem: tooLarge(content.length, mostPdfBytes) };
    }
    const mostPages = limits.mostPdfPages;
    const pdf = await inspectPdf(content, { mostPages, mostSeconds, mostTextChars });
    if (pdf.kind === 'problem') return pdf;
    const text = pdf.text === '' ? {} : { text: pdf.text };
    return { kind: 'document', mediaType: type, name, base64: base64Of(content), ...text };
  }
  const mostPixels = limits.mostImageMegapixels * 1_000_000;
  const image = await fitImage(content, { mostPixels, mostSeconds });
  if (image.kind === 'problem') return image;
  return { kind: 'image', mediaType: image.mediaType, base64: base64Of(image.bytes) };
}

export function tooLarge(bytes: number, mostBytes: number): string {
  return `too large (${formatMegabytes(bytes)}, at most ${formatMegabytes(mostBytes)})`;
}

function base64Of(content: Uint8Array): string {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('base64');
}
