/**
 * The contract of adapters and surfaces, as one suite for every platform: what people say is told
 * the same way, what the bot shows behaves the same way, and failures have the same names.
 */

import { describe, expect, it } from 'vitest';
import { controlCases } from './surface-controls.ts';
import { failureCases } from './surface-failures.ts';
import { fileCases } from './surface-files.ts';
import type { SurfaceCase, SurfaceGaps, SurfaceHarness } from './surface-harness.ts';
import { inboundCases } from './surface-inbound.ts';
import { outboundCases } from './surface-outbound.ts';

export function surfaceContract(
  name: string,
  open: () => Promise<SurfaceHarness>,
  gaps: SurfaceGaps = {},
): void {
  const there = (cases: readonly SurfaceCase[]): readonly SurfaceCase[] =>
    cases.filter((one) => one.needs === undefined || gaps[one.needs] !== true);
  const runCase = async (one: SurfaceCase): Promise<void> => {
    const harness = await open();
    try {
      await one.run(harness);
    } finally {
      await harness.close();
    }
  };

  describe(`the surface contract on ${name}`, () => {
    describe('what people say', () => {
      it.each(there(inboundCases))('$name', async (one) => {
        expect.hasAssertions();
        await runCase(one);
      });
    });
    describe('what the bot shows', () => {
      it.each(there(outboundCases))('$name', async (one) => {
        expect.hasAssertions();
        await runCase(one);
      });
    });
    describe('files, signs and the channel', () => {
      it.each(there(fileCases))('$name', async (one) => {
        expect.hasAssertions();
        await runCase(one);
      });
    });
    describe('controls', () => {
      it.each(there(controlCases))('$name', async (one) => {
        expect.hasAssertions();
        await runCase(one);
      });
    });
    describe('failures and the end', () => {
      it.each(there(failureCases))('$name', async (one) => {
        expect.hasAssertions();
        await runCase(one);
      });
    });
  });
}
