/**
 * Parts: the pieces a message is made of. Vendor data that must be sent back (signatures, encrypted
 * reasoning, item ids) rides along as `raw`, stamped with the origin it is good for; it is replayed
 * only to the same origin.
 */

import { z } from 'zod';

export const originSchema = z.object({
  provider: z.string(),
  /** Base address of the server, without secrets; distinguishes servers of one wire format. */
  endpoint: z.string(),
  model: z.string(),
});
export type Origin = Readonly<z.infer<typeof originSchema>>;

export const rawSchema = z.object({ origin: originSchema, data: z.json() });
export type Raw = Readonly<z.infer<typeof rawSchema>>;

export const textPartSchema = z.object({
  kind: z.literal('text'),
  text: z.string(),
  raw: rawSchema.exactOptional(),
});
export const reasoningPartSchema = z.object({
  kind: z.literal('reasoning'),
  text: z.string(),
  raw: rawSchema.exactOptional(),
});
export const toolCallPartSchema = z.object({
  kind: z.literal('tool_call'),
  callId: z.string().min(1),
  name: z.string(),
  /** Parsed arguments; whatever JSON the model wrote, not yet validated. */
  input: z.json(),
  raw: rawSchema.exactOptional(),
});
/** Vendor data without a shape of ours (redacted thinking, a server tool's item); order matters. */
export const rawPartSchema = z.object({ kind: z.literal('raw'), raw: rawSchema });
export const imagePartSchema = z.object({
  kind: z.literal('image'),
  /** image/png, image/jpeg, image/gif or image/webp, taken from the bytes. */
  mediaType: z.string(),
  base64: z.string(),
});
/** An image that the model made: people are sent it. `raw` as on other parts of its message. */
export const madeImagePartSchema = imagePartSchema.extend({ raw: rawSchema.exactOptional() });
/** A PDF; models that cannot read one are told its name and text. */
export const documentPartSchema = z.object({
  kind: z.literal('document'),
  mediaType: z.literal('application/pdf'),
  name: z.string(),
  base64: z.string(),
  /** The beginning of its text, told to models that cannot read it as it is. */
  text: z.string().exactOptional(),
});
/** A file that came with a message, as the model is told of it. */
export const filePartSchema = z.object({
  kind: z.literal('file'),
  name: z.string(),
  mediaType: z.string(),
  bytes: z.number(),
  /** For the model, where its content is or why it is not here: "shown next", "too large (12 MB)". */
  note: z.string(),
  /** Where it is kept in the conversation's workspace. */
  path: z.string().exactOptional(),
  /** Of a text file, or its beginning. No person wrote it here: it is not the message's text. */
  text: z.string().exactOptional(),
});

export const userPartSchema = z.discriminatedUnion('kind', [
  textPartSchema,
  imagePartSchema,
  documentPartSchema,
  filePartSchema,
]);
export const assistantPartSchema = z.discriminatedUnion('kind', [
  textPartSchema,
  reasoningPartSchema,
  toolCallPartSchema,
  madeImagePartSchema,
  rawPartSchema,
]);
export const resultPartSchema = z.discriminatedUnion('kind', [
  textPartSchema,
  imagePartSchema,
  documentPartSchema,
]);

export type ToolCallPart = Readonly<z.infer<typeof toolCallPartSchema>>;
export type DocumentPart = Readonly<z.infer<typeof documentPartSchema>>;
export type MadeImagePart = Readonly<z.infer<typeof madeImagePartSchema>>;
export type FilePart = Readonly<z.infer<typeof filePartSchema>>;
export type ImagePart = Readonly<z.infer<typeof imagePartSchema>>;
export type UserPart = Readonly<z.infer<typeof userPartSchema>>;
export type AssistantPart = Readonly<z.infer<typeof assistantPartSchema>>;
export type ResultPart = Readonly<z.infer<typeof resultPartSchema>>;

export const toolResultSchema = z.object({
  callId: z.string().min(1),
  name: z.string(),
  /** ok · error (the tool failed) · refused (not allowed) · cancelled (stopped) · interrupted
   * (outcome unknown). */
  outcome: z.enum(['ok', 'error', 'refused', 'cancelled', 'interrupted']),
  parts: z.array(resultPartSchema).readonly(),
});
export type ToolResult = Readonly<z.infer<typeof toolResultSchema>>;

/** The plain text of parts, joined without separators. */
export function textOf(
  parts: readonly { readonly kind: string; readonly text?: string }[],
): string {
  return parts.map((part) => (part.kind === 'text' ? (part.text ?? '') : '')).join('');
}

/**
 * Vendors tie reasoning to all that came before it; after an edit there it would be refused. What
 * texts and calls carry of it (item ids, signatures) is refused without it, and goes too.
 */
export function withoutBoundReasoning(parts: readonly AssistantPart[]): readonly AssistantPart[] {
  return parts.flatMap((part): AssistantPart[] => {
    if (part.kind === 'reasoning' || part.kind === 'raw') return [];
    const { raw: _raw, ...bare } = part;
    return [bare];
  });
}
