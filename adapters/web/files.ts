/**
 * Contents of the files that the bot put on the page. They live in memory and go with the process;
 * the archive keeps their names and sizes, so that the line is still shown afterwards.
 */

export interface RoomFiles {
  /** Takes it, and drops the oldest for it where there is no more room. */
  put(id: string, content: Uint8Array): void;
  get(id: string): Uint8Array | undefined;
  drop(id: string): void;
}

export interface RoomFilesOptions {
  /** Of all files together. */
  readonly mostBytes: number;
}

/** Of one file: as much as Discord takes, so that nothing works on the page alone. */
export const mostFileBytes = 10 * 1024 * 1024;
const defaults: RoomFilesOptions = { mostBytes: 200 * 1024 * 1024 };

export function createRoomFiles({ mostBytes }: RoomFilesOptions = defaults): RoomFiles {
  const contents = new Map<string, Uint8Array>();
  let bytes = 0;
  const drop = (id: string): void => {
    bytes -= contents.get(id)?.byteLength ?? 0;
    contents.delete(id);
  };
  return {
    put: (id, content) => {
      drop(id);
      for (const oldest of contents.keys()) {
        if (bytes + content.byteLength <= mostBytes) break;
        drop(oldest);
      }
      contents.set(id, content);
      bytes += content.byteLength;
    },
    get: (id) => contents.get(id),
    drop,
  };
}
