/** Who has admin rights: matched by immutable ids only. */

import { localPerson } from './access.ts';
import type { Governance } from './settings.ts';

export function isAdmin(personId: string, governance: Pick<Governance, 'admins'>): boolean {
  return personId === localPerson || governance.admins.includes(personId);
}
