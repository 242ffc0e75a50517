/**
 * What Discord refuses, as it says so: resources/message, components/reference and
 * topics/opcodes-and-status-codes.
 */

import { z } from 'zod';
import type { Json } from './model.ts';

export class Refusal extends Error {
  readonly status: number;
  readonly code: number;
  readonly errors: Json | undefined;

  constructor(status: number, code: number, errors?: Json) {
    super(`Refused: ${code}`);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }
}

/** 50035 with the path of the bad field. */
export function invalid(path: string, code: string): Refusal {
  const leaf: Json = { _errors: [{ code, message: `${path} is wrong (${code}).` }] };
  const errors = path.split('.').reduceRight<Json>((inner, name) => ({ [name]: inner }), leaf);
  return new Refusal(400, 50035, errors);
}

const buttonSchema = z.object({
  type: z.literal(2),
  custom_id: z.string(),
  label: z.string(),
  style: z.number(),
});
const selectSchema = z.object({
  type: z.literal(3),
  custom_id: z.string(),
  placeholder: z.string().optional(),
  min_values: z.number().default(1),
  max_values: z.number().default(1),
  options: z.array(z.object({ value: z.string(), label: z.string() })),
});
const rowSchema = z.object({
  type: z.literal(1),
  components: z.array(z.discriminatedUnion('type', [buttonSchema, selectSchema])),
});
export type Row = z.infer<typeof rowSchema>;
export type Control = Row['components'][number];

export function rowsOf(components: readonly Json[]): Row[] {
  return components.map((component) => rowSchema.parse(component));
}

export const messageBodySchema = z.object({
  content: z.string().nullish(),
  components: z.array(z.record(z.string(), z.unknown())).optional(),
  nonce: z.union([z.string(), z.number()]).optional(),
  enforce_nonce: z.boolean().optional(),
  flags: z.number().optional(),
  allowed_mentions: z
    .object({
      parse: z.array(z.enum(['users', 'roles', 'everyone'])).optional(),
      users: z.array(z.string()).optional(),
      roles: z.array(z.string()).optional(),
      replied_user: z.boolean().optional(),
    })
    .optional(),
  /** Names of the files that a form brings, by their number in it. */
  attachments: z.array(z.object({ id: z.coerce.number(), filename: z.string() })).optional(),
  message_reference: z
    .object({ message_id: z.string(), fail_if_not_exists: z.boolean().optional() })
    .optional(),
});
export type MessageBody = z.infer<typeof messageBodySchema>;

const mostContent = 2_000;
const suppressEmbeds = 4;
const ephemeral = 64;
const suppressNotifications = 4_096;

/** The body of a message, checked as Discord does; throws a Refusal. */
export function checkedMessage(raw: unknown, hasFiles = false): MessageBody {
  const parsed = messageBodySchema.safeParse(raw);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.join('.') || 'content';
    throw invalid(path, 'BASE_TYPE_BAD_TYPE');
  }
  const body = parsed.data;
  if ((body.content ?? '').length > mostContent) throw invalid('content', 'BASE_TYPE_MAX_LENGTH');
  if (String(body.nonce ?? '').length > 25) throw invalid('nonce', 'BASE_TYPE_MAX_LENGTH');
  const flags = body.flags ?? 0;
  if ((flags & ~(suppressEmbeds | ephemeral | suppressNotifications)) !== 0) {
    throw invalid('flags', 'MESSAGE_FLAGS_INVALID');
  }
  const mentions = body.allowed_mentions;
  if (mentions?.parse?.includes('users') === true && (mentions.users ?? []).length > 0) {
    throw invalid('allowed_mentions', 'MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE');
  }
  if ((mentions?.users ?? []).length > 100) {
    throw invalid('allowed_mentions.users', 'BASE_TYPE_MAX_LENGTH');
  }
  checkComponents(body.components ?? []);
  const isEmpty = (body.content ?? '').trim() === '' && (body.components ?? []).length === 0;
  if (isEmpty && !hasFiles) throw new Refusal(400, 50006);
  return body;
}

function checkComponents(components: readonly Json[]): void {
  if (components.length > 5) throw invalid('components', 'BASE_TYPE_BAD_LENGTH');
  const ids = new Set<string>();
  for (const [index, component] of components.entries()) {
    const row = rowSchema.safeParse(component);
    if (!row.success) throw invalid(`components.${index}`, 'COMPONENT_TYPE_INVALID');
    checkRow(row.data, `components.${index}.components`, ids);
  }
}

function checkRow(row: Row, path: string, ids: Set<string>): void {
  const hasSelect = row.components.some((control) => control.type === 3);
  const most = hasSelect ? 1 : 5;
  if (row.components.length === 0 || row.components.length > most) {
    throw invalid(path, 'COMPONENT_LAYOUT_WIDTH_EXCEEDED');
  }
  for (const [index, control] of row.components.entries()) {
    const here = `${path}.${index}`;
    if (control.custom_id.length < 1 || control.custom_id.length > 100) {
      throw invalid(`${here}.custom_id`, 'BASE_TYPE_BAD_LENGTH');
    }
    if (ids.has(control.custom_id)) {
      throw invalid(`${here}.custom_id`, 'COMPONENT_CUSTOM_ID_DUPLICATED');
    }
    ids.add(control.custom_id);
    if (control.type === 2) checkButton(control, here);
    else checkSelect(control, here);
  }
}

function checkButton(button: z.infer<typeof buttonSchema>, path: string): void {
  if (button.label.length < 1 || button.label.length > 80) {
    throw invalid(`${path}.label`, 'BASE_TYPE_BAD_LENGTH');
  }
  if (button.style < 1 || button.style > 4) throw invalid(`${path}.style`, 'BASE_TYPE_CHOICES');
}

function checkSelect(select: z.infer<typeof selectSchema>, path: string): void {
  const { options, min_values, max_values } = select;
  if (options.length < 1 || options.length > 25) {
    throw invalid(`${path}.options`, 'BASE_TYPE_BAD_LENGTH');
  }
  if (new Set(options.map((option) => option.value)).size < options.length) {
    throw invalid(`${path}.options`, 'SELECT_COMPONENT_OPTION_VALUE_DUPLICATED');
  }
  for (const [index, option] of options.entries()) {
    const isWrong = [option.label, option.value].some(
      (text) => text.length < 1 || text.length > 100,
    );
    if (isWrong) throw invalid(`${path}.options.${index}`, 'BASE_TYPE_BAD_LENGTH');
  }
  if (min_values > max_values || max_values > options.length) {
    throw invalid(`${path}.max_values`, 'BASE_TYPE_MAX_LENGTH');
  }
}

const inputSchema = z.object({
  type: z.literal(4),
  custom_id: z.string().min(1).max(100),
  style: z.number().min(1).max(2),
  max_length: z.number().max(4_000).optional(),
});
const formSchema = z.object({
  custom_id: z.string().min(1).max(100),
  title: z.string().min(1).max(45),
  components: z
    .array(
      z.object({
        type: z.literal(18),
        label: z.string().min(1).max(45),
        component: inputSchema,
      }),
    )
    .min(1)
    .max(5),
});
export type Form = z.infer<typeof formSchema>;

export function checkedForm(raw: unknown): Form {
  const parsed = formSchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw invalid(parsed.error.issues[0]?.path.join('.') ?? 'components', 'BASE_TYPE_BAD_LENGTH');
}

const optionSchema = z.looseObject({
  type: z.number(),
  name: z.string().regex(/^[-_\p{L}\p{N}]{1,32}$/u),
  description: z.string().min(1).max(100),
});
const commandsSchema = z.array(
  z.looseObject({
    name: z.string().regex(/^[-_\p{L}\p{N}]{1,32}$/u),
    description: z.string().min(1).max(100),
    options: z
      .array(optionSchema.extend({ options: z.array(optionSchema).max(25).optional() }))
      .max(25)
      .optional(),
  }),
);

export function checkedCommands(raw: unknown): readonly Json[] {
  const parsed = commandsSchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw invalid(parsed.error.issues[0]?.path.join('.') ?? 'name', 'APPLICATION_COMMAND_INVALID');
}
