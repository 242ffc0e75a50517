/** Drawing of question cards. Full texts stand in the card; labels are numbered and cut. */

import { cutToUnits } from '../base/text.ts';
import type { Answer, Question } from '../messages/questions.ts';
import type { Block, OutboundMessage } from '../surface/outbound.ts';
import {
  type Answers,
  choiceControlId,
  currentQuestion,
  optionControlId,
  otherControlId,
  type QuestionRecord,
} from './record.ts';

/** Button labels are cut here (Slack: 75). */
const mostLabelUnits = 75;
/** Free text can be long; the card shows its beginning. */
const mostAnswerUnits = 150;

export function drawCard(record: QuestionRecord, answers: Answers): OutboundMessage {
  return { blocks: blocksOf(record, answers), mentionable: [] };
}

function blocksOf(record: QuestionRecord, answers: Answers): readonly Block[] {
  const answered = record.questions.flatMap((question, index) => {
    const answer = answers[index];
    return answer ? [answeredLine(question, answer)] : [];
  });
  const shown: Block[] =
    answered.length > 0 ? [{ kind: 'markdown', text: answered.join('\n\n') }] : [];
  if (record.state === 'expired')
    return [...shown, notice('This question expired without an answer.')];
  if (record.state === 'withdrawn') return [...shown, notice('This question is no longer needed.')];
  const current = currentQuestion(answers);
  const question = current === undefined ? undefined : record.questions[current];
  if (current === undefined || !question) return shown;
  return [...shown, ...openBlocks(record, current, question)];
}

function notice(text: string): Block {
  return { kind: 'notice', text };
}

/** What was asked and who chose what. */
function answeredLine(question: Question, answer: Answer): string {
  const said = cutToUnits(answerText(answer), mostAnswerUnits);
  return `${plain(question.question)}\n\n**${plain(said)}** (${plain(answer.by.name)})`;
}

export function answerText(answer: Answer): string {
  return [...answer.labels, ...(answer.text === undefined ? [] : [answer.text])].join(', ');
}

function openBlocks(record: QuestionRecord, index: number, question: Question): readonly Block[] {
  const count = record.questions.length > 1 ? ` (${index + 1} of ${record.questions.length})` : '';
  const options = question.options.map(({ label, description }, option) => {
    const more = description.trim() === '' ? '' : `: ${plain(description)}`;
    return `${option + 1}. **${plain(label)}**${more}`;
  });
  const text = `**${plain(question.header)}**${count}\n\n${plain(question.question)}\n\n${options.join('\n')}`;
  return [{ kind: 'markdown', text }, ...controls(record, index, question)];
}

function controls(record: QuestionRecord, index: number, question: Question): readonly Block[] {
  const other = {
    controlId: otherControlId(record.id, index),
    label: 'Other…',
    style: 'plain',
  } as const;
  if (question.multiSelect) {
    return [
      {
        kind: 'choice',
        controlId: choiceControlId(record.id, index),
        options: question.options.map(({ label }, option) => ({
          value: String(option),
          label: numbered(option, label),
        })),
        submitLabel: 'Send',
      },
      { kind: 'buttons', buttons: [other] },
    ];
  }
  const buttons = question.options.map(({ label }, option) => ({
    controlId: optionControlId(record.id, index, option),
    label: numbered(option, label),
    style: 'plain' as const,
  }));
  return [{ kind: 'buttons', buttons: [...buttons, other] }];
}

/** `2. Deploy to staging`, cut; equal beginnings stay apart by their number. */
function numbered(option: number, label: string): string {
  return cutToUnits(`${option + 1}. ${label.replace(/\s+/gu, ' ')}`, mostLabelUnits);
}

/** Text of a model or a person inside the card's own Markdown: on one line, marks escaped. */
function plain(text: string): string {
  return text.replace(/\s*\n\s*/gu, ' ').replace(/([\\`*_[\]<>~|])/gu, '\\$1');
}
