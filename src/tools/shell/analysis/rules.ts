/** How a table describes a command that only reads. What a rule does not list is not read-only. */

/** What the value of an option is: data, a path to read, or a text of this form only. */
export type ValueRule = 'text' | 'path' | RegExp;

/** What the operands are. */
export type OperandRule =
  | 'none'
  | 'text'
  | 'paths'
  /** Folders among them are read with all that lies in them, through links. */
  | 'trees'
  /** The first is data (a pattern, a program), unless an option of `programOptions` is given. */
  | 'text-then-paths'
  | RegExp;

export interface CommandRule {
  /** Options of one letter without a value: `alR`. */
  readonly flags?: string;
  /** Options of one letter with a value, glued or in the next word. */
  readonly values?: Readonly<Record<string, ValueRule>>;
  /** Long options without a value, or with one that only `=` gives; spelt in full. */
  readonly longFlags?: string;
  /** Long options with a value after `=` or in the next word. */
  readonly longValues?: Readonly<Record<string, ValueRule>>;
  /** `-5` is a number of lines. */
  readonly takesNumber?: boolean;
  readonly operands: OperandRule;
  readonly mostOperands?: number;
  /** An option behind an operand would be an operand to some: refused. */
  readonly optionsFirst?: boolean;
  /** `-ps` is one option of its own, not two. */
  readonly isUngrouped?: boolean;
  /** Options whose value stands for the first operand: `grep -e`. */
  readonly programOptions?: readonly string[];
  /** Its operands may be known only when it runs: it takes words, and does nothing with them. */
  readonly takesOpenWords?: boolean;
  /** The first operand chooses among these; options before it are those of this rule. */
  readonly subcommands?: Readonly<Record<string, CommandRule>>;
  /** With subcommands: fine without one. */
  readonly standsAlone?: boolean;
  /** Every word is an operand, also those that begin with a dash. */
  readonly hasNoOptions?: boolean;
  /** Files in the home folder that could make the command do something else. */
  readonly homeFiles?: readonly string[];
}

export type CommandTable = Readonly<Record<string, CommandRule>>;
