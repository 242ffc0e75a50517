/**
 * What Anthropic refuses of images: more than 5 MB of base64 each, sides over 8,000 px, sides over
 * 2,000 px in a request of more than 20, and a media type that the bytes do not have.
 */

import { type JsonObject, objectOf, objectsOf, stringOf } from './wire.ts';

const mostChars = 5 * 1024 * 1024;
const manyImages = 20;

interface FoundImage {
  readonly path: string;
  readonly block: JsonObject;
}

/** What the API would say; undefined when it takes all images. */
export function imageObjection(body: JsonObject): string | undefined {
  const images = imagesIn(body);
  for (const { path, block } of images) {
    const source = objectOf(block['source']);
    const base64 = stringOf(source['data']);
    const at = `${path}.image.source.base64`;
    if (base64.length > mostChars) {
      return `${at}: image exceeds 5 MB maximum: ${base64.length} bytes > ${mostChars} bytes`;
    }
    const seen = headerOf(Buffer.from(base64, 'base64'));
    if (seen === undefined) return 'Could not process image';
    if (seen.mediaType !== source['media_type']) {
      return `${at}.media_type: the image appears to be ${seen.mediaType}`;
    }
    const isMany = images.length > manyImages;
    if (Math.max(seen.width, seen.height) > (isMany ? 2000 : 8000)) {
      const size = isMany ? 'size for many-image requests: 2000 pixels' : 'size: 8000 pixels';
      return `${at}.data: At least one of the image dimensions exceed max allowed ${size}`;
    }
  }
  return undefined;
}

/** How many images a request holds. */
export function imagesIn(body: JsonObject): readonly FoundImage[] {
  return objectsOf(body['messages']).flatMap(({ content }, place) =>
    imagesAmong(objectsOf(content), `messages.${place}`),
  );
}

function imagesAmong(blocks: readonly JsonObject[], path: string): readonly FoundImage[] {
  return blocks.flatMap((block, place) => {
    const here = `${path}.content.${place}`;
    if (block['type'] === 'image') return [{ path: here, block }];
    return block['type'] === 'tool_result' ? imagesAmong(objectsOf(block['content']), here) : [];
  });
}

interface Header {
  readonly mediaType: string;
  readonly width: number;
  readonly height: number;
}

function headerOf(bytes: Buffer): Header | undefined {
  if (bytes.subarray(1, 4).toString('latin1') === 'PNG') {
    return {
      mediaType: 'image/png',
      width: bytes.readUInt32BE(16),
      height: bytes.readUInt32BE(20),
    };
  }
  return bytes.readUInt16BE(0) === 0xff_d8 ? jpegHeader(bytes) : undefined;
}

/** From the first frame segment (SOF0 to SOF2). */
function jpegHeader(bytes: Buffer): Header | undefined {
  for (let at = 2; at + 9 < bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes.readUInt16BE(at);
    if (marker >= 0xff_c0 && marker <= 0xff_c2) {
      const height = bytes.readUInt16BE(at + 5);
      return { mediaType: 'image/jpeg', width: bytes.readUInt16BE(at + 7), height };
    }
  }
  return undefined;
}
