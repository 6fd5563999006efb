// New objects for data: members with any name, `__proto__` and `constructor` among them.
import { newNameless } from '../base/nameless.ts';
import type { JsonObject } from './type-info.ts';

export const newRecord = (): JsonObject => newNameless() as JsonObject;
