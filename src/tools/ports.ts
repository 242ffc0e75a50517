/** What tools need from above, declared here; the composition root passes it in. */

/** Which content of a file a conversation has seen last. */
export interface ReadMarks {
  /** The hash of the content that was read or written last; undefined: never, or long ago. */
  get(conversationKey: string, path: string): Promise<string | undefined>;
  set(conversationKey: string, path: string, contentHash: string): Promise<void>;
}

/** A message as tools show it to the model. */
export interface ThreadLine {
  readonly messageId: string;
  readonly author: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface FileToSend {
  readonly name: string;
  readonly content: Uint8Array;
  readonly comment?: string;
}

/** The thread that a conversation is shown in. Members throw a BotError with a sentence for people. */
export interface Thread {
  /** The newest messages of the thread, oldest first. */
  read(conversationKey: string, most: number): Promise<readonly ThreadLine[]>;
  /** Of the channel around it; undefined where the settings do not allow that. */
  readChannel(conversationKey: string, most: number): Promise<readonly ThreadLine[] | undefined>;
  /** `key` names the file for ever: the same key is sent once. */
  sendFile(conversationKey: string, file: FileToSend, key: string): Promise<void>;
  /** To a message of the thread, or to the newest of a person. False: the platform refused. */
  react(conversationKey: string, emoji: string, messageId?: string): Promise<boolean>;
  /** From now on only mentions are answered here. */
  leave(conversationKey: string): Promise<void>;
  /** Addresses that people wrote in the conversation, and that searches of the run found. */
  knownAddresses(conversationKey: string, runId: string): Promise<readonly string[]>;
}
