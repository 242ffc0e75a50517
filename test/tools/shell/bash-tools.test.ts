/** Bash, BashOutput and KillBash over an executor that the test moves. */

import { describe, expect, it } from 'vitest';
import { BotError } from '../../../src/base/errors.ts';
import { createBashTools } from '../../../src/tools/builtin/bash-tools.ts';
import type { ToolContext, ToolOutcome } from '../../../src/tools/contract.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { plainScene, safe } from '../../support/tools.ts';
import { createFakeExecutor } from './fake-executor.ts';

function setUp({ streams = true } = {}) {
  const clock = createFakeClock();
  const executor = createFakeExecutor(streams);
  const assessed: string[] = [];
  let ids = 0;
  const bash = createBashTools({
    clock,
    executor,
    newId: (prefix) => {
      ids += 1;
      return `${prefix}_${ids}`;
    },
    assess: async (command, _scene, { cwd, carried }) => {
      assessed.push([cwd, ...carried, command].join(' '));
      return safe;
    },
    timeoutMs: 120_000,
  });
  const progress: string[] = [];
  const run = new AbortController();
  const call = new AbortController();
  const context: ToolContext = {
    ...plainScene,
    signal: call.signal,
    runSignal: run.signal,
    progress: (line) => progress.push(line),
    checklist: () => {},
    sources: () => {},
  };
  const toolOf = (name: string) => {
    const tool = bash.tools.find((one) => one.name === name);
    if (!tool) throw new Error(`no tool ${name}`);
    return tool;
  };
  const invoke = (name: string, input: unknown, more: Partial<ToolContext> = {}) =>
    toolOf(name).invoke(input, { ...context, ...more });
  /** Runs a command that ends so. */
  const ending = async (input: unknown, result: Parameters<typeof executor.finish>[0]) => {
    const outcome = invoke('Bash', input);
    await clock.settle();
    executor.finish(result);
    return outcome;
  };
  return { clock, executor, bash, toolOf, invoke, ending, progress, run, call, assessed };
}

function said(outcome: ToolOutcome): string {
  if (outcome.kind === 'error') return outcome.text;
  if (outcome.kind !== 'done') throw new Error(outcome.kind);
  return outcome.parts.map((part) => (part.kind === 'text' ? part.text : part.kind)).join('');
}

describe('Bash', () => {
  it.each([
    [{ output: 'a\nb\n' }, 'a\nb'],
    [{ output: '' }, '(no output)'],
    [{ output: 'x\n', exitCode: 2 }, 'x\n(exit code 2)'],
    [{ output: '', exitCode: 1 }, '(no output)\n(exit code 1)'],
  ])('tells of %j', async (result, text) => {
    const { ending } = setUp();
    const outcome = await ending({ command: 'x' }, result);
    expect(outcome.kind).toBe('done');
    expect(said(outcome)).toBe(text);
  });

  it.each([
    ['timed_out', /^partly\n\(It did not end within 120 s .+background: true/u],
    ['out_of_memory', /^partly\n\(It needed too much memory/u],
    ['too_much_output', /^partly\n\(It wrote too much/u],
    ['too_many_processes', /^partly\n\(It started too many/u],
  ] as const)('is an error that says what to do when the command %s', async (how, text) => {
    const { ending } = setUp();
    const outcome = await ending({ command: 'x' }, { how, output: 'partly\n', exitCode: 143 });
    expect(outcome.kind).toBe('error');
    expect(said(outcome)).toMatch(text);
  });

  it('is not run where the shell’s folder is gone', async () => {
    const { ending } = setUp();
    const outcome = await ending({ command: 'rm -rf *' }, { lostFolder: '/workspace/old' });
    expect(outcome.kind).toBe('error');
    expect(said(outcome)).toMatch(/\/workspace\/old .+not run\. The shell is in \/workspace now/u);
  });

  it('throws the reason when it is stopped', async () => {
    const { invoke, call, executor, clock } = setUp();
    const outcome = invoke('Bash', { command: 'sleep 9' });
    await clock.settle();
    call.abort(new BotError('stopped', 'Ann stopped it.'));
    await expect(outcome).rejects.toThrow('Ann stopped it.');
    expect(executor.running).toBe(0);
  });

  it('keeps a session for each conversation', async () => {
    const { invoke, ending, executor, clock, toolOf, assessed } = setUp();
    const session = { cwd: '/workspace/src', env: { A: '1' } };
    await ending({ command: 'cd src; export A=1' }, { session });
    void invoke('Bash', { command: 'pwd' });
    void invoke('Bash', { command: 'pwd' }, { conversationKey: 'web:local:general:2' });
    await clock.settle();
    expect(executor.requests.map((request) => request.session)).toEqual([
      undefined,
      session,
      undefined,
    ]);
    await toolOf('Bash').assess({ command: 'ls' }, plainScene);
    const elsewhere = { ...plainScene, conversationKey: 'web:local:general:2' };
    await toolOf('Bash').assess({ command: 'ls' }, elsewhere);
    expect(assessed).toEqual(['/workspace/src A ls', '/workspace ls']);
  });

  it('shows the last line with something on it', async () => {
    const { invoke, executor, clock, progress } = setUp();
    void invoke('Bash', { command: 'make' });
    await clock.settle();
    const [request] = executor.requests;
    for (const text of ['one\ntw', 'o\n', '\n \n', '10%\r20%', `\n${'x'.repeat(500)}`])
      request?.onOutput?.(text);
    expect(progress.slice(0, 3)).toEqual(['tw', 'two', '20%']);
    expect(progress.at(-1)).toHaveLength(200);
  });

  it('tells the time where output comes at the end', async () => {
    const { invoke, executor, clock, progress } = setUp({ streams: false });
    const outcome = invoke('Bash', { command: 'sort big' });
    await clock.advance(4999);
    expect(progress).toEqual([]);
    await clock.advance(6000);
    expect(progress).toEqual(['running for 5 s', 'running for 10 s']);
    executor.finish();
    await outcome;
    expect(clock.pending).toBe(0);
  });

  it('gives the shell its time and the scheduler a little more', async () => {
    const { toolOf, invoke, executor, clock } = setUp();
    const timeoutMsOf = (input: object) => toolOf('Bash').timeoutMsOf(input);
    expect(timeoutMsOf({ command: 'x' })).toBe(125_000);
    expect(timeoutMsOf({ command: 'x', timeoutMs: 600_000 })).toBe(605_000);
    expect(timeoutMsOf({ command: 'x', background: true })).toBe(15_000);
    void invoke('Bash', { command: 'x' });
    void invoke('Bash', { command: 'x', timeoutMs: 1000 });
    await clock.settle();
    expect(executor.requests.map(({ timeoutMs }) => timeoutMs)).toEqual([120_000, 1000]);
    expect(toolOf('Bash').faultOf({ command: 'x', timeoutMs: 600_001 })).toMatch(/timeoutMs/u);
    expect(toolOf('Bash').faultOf({ command: '' })).toMatch(/command/u);
  });

  it('describes and previews the command', async () => {
    const { toolOf } = setUp();
    const tool = toolOf('Bash');
    expect(tool.describe({ command: 'ls  -la\n| wc `x`' })).toBe("Running `ls -la | wc 'x'`");
    expect(tool.describe({})).toBe('Running a command');
    const command = 'a\n\nb';
    expect(await tool.preview({ command }, plainScene)).toEqual({ language: 'sh', text: command });
    expect(tool.description).toContain('It is not real.');
  });

  it('says where a command runs that does not run where shells begin, and is bound to it', async () => {
    const { toolOf, ending } = setUp();
    const tool = toolOf('Bash');
    const look = async () => ({
      state: (await tool.assess({ command: 'x' }, plainScene)).state,
      text: (await tool.preview({ command: 'x' }, plainScene)).text,
    });
    const fresh = await look();
    expect(fresh).toEqual({ state: undefined, text: 'x' });
    await ending({ command: 'cd' }, { session: { cwd: '/workspace/a\nb', env: { A: '1' } } });
    const moved = await look();
    expect(moved.text).toBe('# in "/workspace/a\\nb", with A exported before\nx');
    await ending({ command: 'export' }, { session: { cwd: '/workspace/a\nb', env: { A: '2' } } });
    expect((await look()).state).not.toBe(moved.state);
    expect(moved.state).not.toBe(undefined);
  });
});

describe('background commands', () => {
  const background = { command: 'serve', background: true };

  it('are read piece by piece, and told of once when they have ended', async () => {
    const { invoke, executor, clock } = setUp();
    expect(said(await invoke('Bash', background))).toMatch(/as job_1\./u);
    await clock.settle();
    expect(executor.requests[0]?.timeoutMs).toBe(30 * 60_000);
    const look = async () => said(await invoke('BashOutput', { jobId: 'job_1' }));
    expect(await look()).toBe('(no new output)\n(job_1 is running)');
    executor.requests[0]?.onOutput?.('one\n');
    executor.requests[0]?.onOutput?.('two\n');
    expect(await look()).toBe('one\ntwo\n(job_1 is running)');
    executor.requests[0]?.onOutput?.('three\n');
    executor.finish({ exitCode: 4 });
    await clock.settle();
    expect(await look()).toBe('three\n(job_1 ended with exit code 4)');
    expect(await look()).toMatch(/There is no job job_1 .+There are no jobs\./u);
  });

  it('are waited for: until they write, end, or the time is over', async () => {
    const { invoke, executor, clock, call } = setUp();
    await invoke('Bash', background);
    const wait = (waitMs: number) => invoke('BashOutput', { jobId: 'job_1', waitMs });
    const first = wait(30_000);
    await clock.advance(29_999);
    executor.requests[0]?.onOutput?.('late');
    expect(said(await first)).toBe('late\n(job_1 is running)');
    const second = wait(1000);
    await clock.advance(1000);
    expect(said(await second)).toBe('(no new output)\n(job_1 is running)');
    const third = wait(1000);
    await clock.settle();
    call.abort(new BotError('stopped', 'Ann stopped it.'));
    await expect(third).rejects.toThrow('Ann stopped it.');
    expect(clock.pending).toBe(0);
  });

  it('do not belong to other conversations', async () => {
    const { invoke, executor, clock } = setUp();
    await invoke('Bash', background);
    await clock.settle();
    const other = { conversationKey: 'web:local:general:2' };
    expect((await invoke('BashOutput', { jobId: 'job_1' }, other)).kind).toBe('error');
    expect((await invoke('KillBash', { jobId: 'job_1' }, other)).kind).toBe('error');
    expect(executor.running).toBe(1);
  });

  it('are at most five at a time', async () => {
    const { invoke, executor, clock } = setUp();
    for (let n = 1; n <= 5; n += 1) expect((await invoke('Bash', background)).kind).toBe('done');
    await expect(invoke('Bash', background)).rejects.toThrow(
      /5 jobs are running already \(job_1, .+KillBash/u,
    );
    await clock.settle();
    executor.finish();
    await clock.settle();
    expect((await invoke('Bash', background)).kind).toBe('done');
  });

  it('are ended by KillBash', async () => {
    const { invoke, executor, clock } = setUp();
    await invoke('Bash', background);
    await clock.settle();
    executor.requests[0]?.onOutput?.('so far\n');
    expect(said(await invoke('KillBash', { jobId: 'job_1' }))).toBe(
      'so far\n(job_1 was ended before it was done)',
    );
    expect(executor.running).toBe(0);
    expect((await invoke('KillBash', { jobId: 'job_1' })).kind).toBe('error');
  });

  it('end with their run’s stop, but not with the call', async () => {
    const { invoke, executor, clock, run, call } = setUp();
    await invoke('Bash', background);
    await clock.settle();
    call.abort();
    await clock.settle();
    expect(executor.running).toBe(1);
    run.abort(new BotError('stopped', 'Ann stopped it.'));
    await clock.settle();
    expect(executor.running).toBe(0);
  });

  it('end with stopJobs of their conversation, and all with close', async () => {
    const { bash, invoke, executor, clock } = setUp();
    await invoke('Bash', background);
    await invoke('Bash', background, { conversationKey: 'web:local:general:2' });
    await clock.settle();
    await bash.stopJobs(plainScene.conversationKey);
    expect(executor.running).toBe(1);
    await bash.close();
    expect(executor.running).toBe(0);
    expect(executor.isClosed).toBe(true);
  });

  it('keep a bounded output', async () => {
    const { invoke, executor, clock } = setUp();
    await invoke('Bash', background);
    await clock.settle();
    executor.requests[0]?.onOutput?.(`first ${'x'.repeat(1_000_000)} last`);
    const text = said(await invoke('BashOutput', { jobId: 'job_1' }));
    // The scheduler cuts what the model is given; here memory is bounded.
    expect(text.length).toBeLessThan(101_000);
    expect(text).toMatch(/^first x+/u);
    expect(text).toMatch(/x last\n\(job_1 is running\)$/u);
  });

  it('that cannot be started say why', async () => {
    const { invoke, executor, clock } = setUp();
    executor.run = async () => {
      throw new BotError('tool_failed', 'There is no shell.');
    };
    await invoke('Bash', background);
    await clock.settle();
    expect(said(await invoke('BashOutput', { jobId: 'job_1' }))).toContain(
      'failed: There is no shell.',
    );
  });
});
