// The error of a conversion that is not possible.
import { StatusError } from '../../base/status.ts';

/** 500 without a reason, as the reference answers what it cannot convert. */
export const conversionError = (message: string): StatusError => new StatusError(500, '', message);
