// Why a target cannot be set up as configured.

/** The message names the field, and shows no secret. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}
