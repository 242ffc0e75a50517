/** Settings of what may be looked into: bounds on decoding images and reading PDFs. */

import { z } from 'zod';

export const mediaSettings = z.strictObject({
  /**
   * Millions of pixels of an image; decoded each takes four bytes. Phones make up to 50. At most what
   * the image library can hold.
   */
  mostImageMegapixels: z.number().positive().max(268).default(64),
  /** Anthropic takes 100 pages in the smaller windows, Gemini 1,000. */
  mostPdfPages: z.int().min(1).max(5_000).default(100),
  /** Seconds that looking into one file may take. */
  mostDecodeSeconds: z.number().positive().max(300).default(20),
});

/** Bounds on looking into one file. */
export type MediaLimits = Readonly<z.infer<typeof mediaSettings>>;
