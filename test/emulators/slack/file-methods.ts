/**
 * Files of the bot, as Slack takes them: an address that takes the bytes once, then the completion,
 * whose message comes a while later. User groups' members stand here too.
 */

import { z } from 'zod';
import { json, method } from './arguments.ts';
import { Refusal } from './blocks.ts';
import {
  type Json,
  type Model,
  type PendingUpload,
  type SlackChannel,
  type SlackFile,
  wireFile,
} from './model.ts';

/** Switches of a test. */
export interface FileRules {
  /** Larger files are refused: file_upload_size_restricted. */
  mostBytes: number;
  /** How long an address takes bytes. */
  addressMs: number;
  /** How long after the completion the message is there. */
  processingMs: number;
}

export interface FileMethodDeps {
  readonly model: Model;
  readonly fileRules: FileRules;
  readonly baseUrl: () => string;
  channelOf(id: string): SlackChannel;
  /** Posts the message that shows the files. */
  share(
    files: readonly SlackFile[],
    place: {
      readonly channel: string;
      readonly thread_ts: string | undefined;
      readonly text: string;
    },
  ): void;
}

const mediaTypes: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  html: 'text/html',
  json: 'application/json',
  md: 'text/markdown',
  png: 'image/png',
  txt: 'text/plain',
};

export function createFileMethods(deps: FileMethodDeps) {
  const { model, fileRules } = deps;

  const taken = (fileId: string): { readonly ticket: string; readonly upload: PendingUpload } => {
    for (const [ticket, upload] of model.uploads) {
      if (upload.fileId === fileId && upload.content !== null) return { ticket, upload };
    }
    throw new Refusal('file_not_found');
  };

  return {
    'files.getUploadURLExternal': method(
      z.object({ filename: z.string().min(1), length: z.coerce.number().int().min(0) }),
      ({ filename, length }) => {
        // As documented: a length of 0 is taken for none.
        if (length === 0) throw new Refusal('missing_argument');
        if (length > fileRules.mostBytes) throw new Refusal('file_upload_size_restricted');
        const fileId = model.nextId('F');
        const ticket = model.nextId('upload');
        const until = Date.now() + fileRules.addressMs;
        model.uploads.set(ticket, { fileId, name: filename, bytes: length, until, content: null });
        return { upload_url: `${deps.baseUrl()}/upload/${ticket}`, file_id: fileId };
      },
    ),
    'files.completeUploadExternal': method(
      z.object({
        files: json(z.array(z.object({ id: z.string(), title: z.string().optional() })).min(1)),
        channel_id: z.string().optional(),
        thread_ts: z.string().optional(),
        initial_comment: z.string().optional(),
      }),
      (args) => {
        const channel = args.channel_id === undefined ? null : deps.channelOf(args.channel_id);
        if (channel?.isArchived === true) throw new Refusal('is_archived');
        const named = (args.files ?? []).map(({ id, title }) => ({ ...taken(id), title }));
        const files = named.map(({ ticket, upload, title = upload.name }) => {
          model.uploads.delete(ticket);
          const { fileId: id, name, content } = upload;
          const ending = /[^.]*$/u.exec(name)?.[0] ?? '';
          const mimetype = mediaTypes[ending] ?? 'application/octet-stream';
          const file: SlackFile = {
            ...{ id, name, title, mimetype, isStub: false, redirectTo: null },
            content: content ?? new Uint8Array(),
          };
          model.files.set(id, file);
          return file;
        });
        if (channel !== null) {
          const { thread_ts, initial_comment: text = '' } = args;
          const show = (): void => deps.share(files, { channel: channel.id, thread_ts, text });
          setTimeout(show, fileRules.processingMs).unref();
        }
        return { files: files.map(({ id, title }) => ({ id, title })) };
      },
    ),
    'files.info': method(z.object({ file: z.string() }), (args) => {
      const file = model.files.get(args.file);
      if (file === undefined) throw new Refusal('file_not_found');
      return {
        file: { ...wireFile(file, deps.baseUrl(), true), shares: sharesOf(model, file.id) },
      };
    }),
    'usergroups.list': method(z.object({}), () => ({
      usergroups: [...model.groups].map(([id, { handle }]) => ({ id, handle, name: handle })),
    })),
    'usergroups.users.list': method(z.object({ usergroup: z.string() }), ({ usergroup }) => {
      const group = model.groups.get(usergroup);
      if (group === undefined) throw new Refusal('no_such_subteam');
      return { users: group.members };
    }),
  };
}

/** Where a file is shown: by kind of channel, then by channel. */
function sharesOf(model: Model, fileId: string): Json {
  const shares: Record<'public' | 'private', Record<string, Json[]>> = { public: {}, private: {} };
  for (const message of model.messages) {
    if (message.isDeleted || !message.files.some(({ id }) => id === fileId)) continue;
    const channel = model.channels.get(message.channel);
    const kind = channel?.kind === 'channel' ? 'public' : 'private';
    const share = {
      ts: message.ts,
      ...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
    };
    shares[kind][message.channel] = [...(shares[kind][message.channel] ?? []), share];
  }
  return shares;
}
