/** The catalog's file, and the catalog that it makes. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readModels } from '../../src/config/models.ts';
import { fitEffort, offeredEfforts, unknownAbilities } from '../../src/messages/model.ts';
import { createCatalog } from '../../src/providers/catalog.ts';
import { testCatalog } from '../support/providers.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function folderWith(text: string): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'deckhand-'));
  folders.push(folder);
  mkdirSync(path.join(folder, 'config'));
  writeFileSync(path.join(folder, 'config/models.yaml'), text);
  return folder;
}

const shipped = [
  ...new Set(
    readModels(path.resolve(import.meta.dirname, '../..')).map(({ provider }) => provider),
  ),
].flatMap((provider) => testCatalog.modelsOf(provider));

const one = `models:
  - id: one
    provider: acme
    aliases: [uno]
    window: 1000
    mostOutputTokens: 100
    abilities: { thinking: [effort, off], efforts: [low, high], images: true }
    prices: { input: 1, date: 2026-11-30 }
    date: 2026-11-30
`;

describe('config/models.yaml', () => {
  it('is the shipped one where the folder has none: every entry valid, names and aliases unique', () => {
    const entries = readModels(os.tmpdir());
    expect(entries.length).toBeGreaterThan(3);
    const names = entries.map(({ provider, id }) => `${provider}/${id}`);
    expect(new Set(names).size).toBe(names.length);
    const aliases = entries.flatMap((entry) => entry.aliases);
    expect(new Set(aliases).size).toBe(aliases.length);
    for (const { abilities, mostOutputTokens, window } of entries) {
      expect(mostOutputTokens).toBeLessThanOrEqual(window);
      const { defaultEffort = 'none' } = abilities;
      expect([...offeredEfforts(abilities), 'none']).toContain(defaultEffort);
    }
  });

  it('of the folder wins', () => {
    expect(readModels(folderWith(one)).map(({ id }) => id)).toEqual(['one']);
  });

  it.each([
    ['models: [', /models\.yaml/u],
    [one.replace('window: 1000', 'window: big'), /models\.0\.window/u],
    [one.replace('images: true', 'colour: true'), /models\.0\.abilities.*colour/u],
    [one.replace('date: 2026-11-30 }', '}'), /models\.0\.prices\.date/u],
  ])('that is faulty is refused with file and place', (text, told) => {
    expect(() => readModels(folderWith(text))).toThrow(told);
  });
});

describe('the catalog', () => {
  it('knows models by name and alias, and says of others that they are unknown', () => {
    const catalog = createCatalog(readModels(folderWith(one)));
    expect(catalog.nameOf('uno')).toBe('acme/one');
    expect(catalog.nameOf('acme/two')).toBe('acme/two');
    expect(catalog.factsOf('acme/one')).toMatchObject({ window: 1000, isKnown: true });
    expect(catalog.factsOf('acme/two')).toMatchObject({
      abilities: unknownAbilities,
      isKnown: false,
    });
  });

  it('is completed by what a provider lists; what the list leaves open stays', () => {
    const catalog = createCatalog(readModels(folderWith(one)));
    catalog.complete('acme', [
      { id: 'one', window: 2000, abilities: { documents: true } },
      { id: 'three', mostOutputTokens: 50 },
      { id: 'only-a-name' },
    ]);
    expect(catalog.factsOf('acme/one')).toMatchObject({
      window: 2000,
      mostOutputTokens: 100,
      prices: { input: 1 },
      abilities: { documents: true, images: true, efforts: ['low', 'high'] },
    });
    expect(catalog.modelsOf('acme').map(({ name }) => name)).toEqual(['acme/one', 'acme/three']);
  });
});

describe('efforts', () => {
  const abilities = {
    ...unknownAbilities,
    thinking: ['effort', 'off'],
    efforts: ['low', 'high'],
  } as const;

  it('are offered weakest first, none where thinking can be turned off', () => {
    expect(offeredEfforts(abilities)).toEqual(['none', 'low', 'high']);
    expect(offeredEfforts({ ...abilities, thinking: ['effort'] })).toEqual(['low', 'high']);
    expect(offeredEfforts(unknownAbilities)).toEqual([]);
  });

  it.each([
    ['max', 'high'],
    ['high', 'high'],
    ['medium', 'low'],
    ['minimal', 'low'],
    ['none', 'none'],
  ] as const)('fit the model: %s becomes %s', (wanted, fitted) => {
    expect(fitEffort(wanted, abilities)).toBe(fitted);
  });

  it('are the weakest where the wanted one is weaker than all, and none where there are none', () => {
    expect(fitEffort('none', { ...abilities, thinking: ['effort'] })).toBe('low');
    expect(fitEffort('high', unknownAbilities)).toBeUndefined();
  });

  it.each(['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const)(
    'never turn thinking off where it was wished: %s',
    (wanted) => {
      const onOrOff = { ...unknownAbilities, thinking: ['off'] } as const;
      expect(fitEffort(wanted, onOrOff)).toBeUndefined();
      expect(fitEffort(wanted, { ...onOrOff, efforts: ['high'] })).toBe('high');
      expect(fitEffort('none', onOrOff)).toBe('none');
      const fitted = shipped
        .filter(({ abilities: { thinking } }) => thinking.includes('off'))
        .map((one) => fitEffort(wanted, one.abilities));
      expect(fitted.length).toBeGreaterThan(10);
      expect(fitted).not.toContain('none');
      expect(fitted).not.toContain(undefined);
    },
  );

  it('can be turned on again by people wherever they can be turned off', () => {
    const offers = shipped.map((one) => offeredEfforts(one.abilities));
    expect(offers.filter((offered) => offered.length === 1 && offered[0] === 'none')).toEqual([]);
  });
});
