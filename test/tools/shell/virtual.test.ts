/** What is particular to the virtual shell: its list of commands, and its network. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Executor } from '../../../src/tools/shell/executor.ts';
import { virtualCommands } from '../../../src/tools/shell/virtual-commands.ts';
import { setUpStage } from '../../contract/executor.ts';
import { virtualOf } from './set-up.ts';

const open: Executor[] = [];
afterEach(async () => {
  for (const executor of open.splice(0)) await executor.close();
});

async function setUp(hosts: readonly string[] = []) {
  const executor = virtualOf(hosts);
  open.push(executor);
  return setUpStage(executor);
}

describe('the virtual shell', () => {
  it('has the commands it names, and no others', async () => {
    const { run } = await setUp();
    const { output } = await run(
      `for name in ${virtualCommands.join(' ')}; do command -v $name >/dev/null || echo "no $name"; done`,
    );
    expect(output).toBe('');
    const others = ['git', 'node', 'npm', 'python3', 'js-exec', 'sqlite3', 'curl', 'ssh', 'kill'];
    const missing = await run(
      others.map((name) => `${name} --version >/dev/null 2>&1; echo ${name} $?`).join('\n'),
    );
    expect(missing.output).toBe(others.map((name) => `${name} 127\n`).join(''));
  });

  it('reports of itself only, not of shells within the command', async () => {
    const { run } = await setUp();
    const { session, exitCode } = await run(
      'bash -c "cd /tmp; export A=1"; eval "export B=2"; false',
    );
    expect({ session, exitCode }).toEqual({
      session: { cwd: '/workspace', env: { B: '2' } },
      exitCode: 1,
    });
  });

  it('says why when a redirection ends the command', async () => {
    const { run } = await setUp();
    const { output, exitCode } = await run('echo x > /mnt/docs/new; echo next');
    expect(output).toMatch(/^bash: EROFS: read-only file system.+\n\(The command ended there/u);
    expect(exitCode).toBe(1);
  });

  it('never reaches private addresses, even where they are allowed', async () => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.end('inside');
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    // A server on 127.0.0.1 has a port.
    const { port } = server.address() as AddressInfo;
    const { run } = await setUp([`127.0.0.1:${port}`, `localhost:${port}`]);
    const { output } = await run(
      [
        `curl -sS http://127.0.0.1:${port}/`,
        `curl -sS http://localhost:${port}/`,
        `curl -sS http://[::ffff:127.0.0.1]:${port}/`,
        `curl -sS http://2130706433:${port}/`,
        'curl -sS http://169.254.169.254/latest/meta-data/',
        'curl -sS http://elsewhere.example/',
      ].join('\n'),
    );
    server.close();
    expect(asked).toBe(0);
    expect(output.match(/Network access denied/gu)).toHaveLength(6);
  });
});
