/** What tools need from above, declared here; the composition root passes it in. */

/** Which content of a file a conversation has seen last. */
export interface ReadMarks {
  /** The hash of the content that was read or written last; undefined: never, or long ago. */
  get(conversationKey: string, path: string): Promise<string | undefined>;
  set(conversationKey: string, path: string, contentHash: string): Promise<void>;
}
