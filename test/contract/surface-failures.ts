/** Contract of surfaces: refusals, outages and the end. */

import { expect } from 'vitest';
import {
  contractRetryAfterSeconds,
  key,
  markdown,
  mentioned,
  type SurfaceCase,
} from './surface-harness.ts';

export const failureCases: readonly SurfaceCase[] = [
  {
    name: 'says how long to wait when a post is limited, and does not try again',
    needs: 'failures',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      harness.breakNext('post', 'rate_limited');
      await expect(surface.post(markdown('one'), key('k1'))).rejects.toMatchObject({
        code: 'rate_limited',
        retryAfterMs: contractRetryAfterSeconds * 1000,
      });
      expect(await harness.shown(conversation)).toEqual([]);
    },
  },
  {
    name: 'says how long to wait when an edit is limited, and does not try again',
    needs: 'failures',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      const { messageId } = await surface.post(markdown('one'), key('k1'));
      harness.breakNext('edit', 'rate_limited');
      await expect(surface.edit(messageId, markdown('two'))).rejects.toMatchObject({
        code: 'rate_limited',
        retryAfterMs: contractRetryAfterSeconds * 1000,
      });
      expect((await harness.shown(conversation))[0]?.text).toContain('one');
    },
  },
  {
    name: 'does not lose or double a post whose answer was lost',
    needs: 'failures',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      harness.breakNext('post', 'answer_lost');
      await expect(surface.post(markdown('once'), key('k1'))).rejects.toMatchObject({
        code: 'surface_unavailable',
      });
      const again = await surface.post(markdown('once'), { key: 'k1', maybePosted: true });
      const shown = await harness.shown(conversation);
      expect(shown.map((one) => one.messageId)).toEqual([again.messageId]);
    },
  },
  {
    name: 'says that the platform is out, and works again after it',
    needs: 'failures',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      const { messageId } = await surface.post(markdown('one'), key('k1'));
      harness.breakNext('edit', 'server_error');
      await expect(surface.edit(messageId, markdown('two'))).rejects.toMatchObject({
        code: 'surface_unavailable',
      });
      await surface.edit(messageId, markdown('two'));
      expect((await harness.shown(conversation))[0]?.text).toContain('two');
    },
  },
  {
    name: 'says that a message will never take an edit again',
    needs: 'failures',
    run: async (harness) => {
      const { conversation } = await mentioned(harness);
      const surface = harness.adapter.surfaceOf(conversation);
      const { messageId } = await surface.post(markdown('one'), key('k1'));
      harness.breakNext('edit', 'uneditable');
      await expect(surface.edit(messageId, markdown('two'))).rejects.toMatchObject({
        code: 'message_uneditable',
      });
    },
  },
  {
    name: 'stops within 5 s and takes nothing more',
    run: async (harness) => {
      await mentioned(harness);
      const before = harness.events.length;
      const started = Date.now();
      await harness.adapter.stop();
      expect(Date.now() - started).toBeLessThan(5_000);
      expect(harness.adapter.state().connected).toBe(false);
      await harness.say('too late', { mention: true });
      expect(harness.events).toHaveLength(before);
    },
  },
];
