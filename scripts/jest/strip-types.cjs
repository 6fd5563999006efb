// Jest transform: strips types with Node's own stripper, so tests and production run the same text.
const { createHash } = require('node:crypto');
const { stripTypeScriptTypes } = require('node:module');

// Hides "stripTypeScriptTypes is an experimental feature", once per worker.
process.removeAllListeners('warning');

/** @type {import('@jest/transform').SyncTransformer} */
module.exports = {
  process: (code) => ({ code: stripTypeScriptTypes(code) }),
  getCacheKey: (code, _file, options) =>
    createHash('sha1').update(`${process.version}\0${options.instrument}\0${code}`).digest('hex'),
};
