// Jest runtime that loads test files with Node's own loader: native ES modules, types stripped by
// Node, as production runs them. A worker loads each module once for all its test files, not once
// for each file. `@jest/globals` is answered by native-globals.mjs.
const { registerHooks } = require('node:module');
const { pathToFileURL } = require('node:url');
const { ModuleMocker } = require('jest-mock');

// Where X509Certificate.toLegacyObject is called before anything has loaded node:tls, Node leaves
// tls without createSecureContext for good. The server loads it first, too.
require('node:tls');

const globalsUrl = pathToFileURL(require.resolve('./native-globals.mjs')).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals'
      ? { url: globalsUrl, format: 'module', shortCircuit: true }
      : next(specifier, context),
});

/** Where jest-circus keeps those who hear of its events; it makes the list anew when it is gone. */
const eventHandlers = Symbol.for('EVENT_HANDLERS');

class NativeRuntime {
  #console = globalThis.console;
  #mocker = new ModuleMocker(globalThis);
  /** @type {Record<string, unknown>} */
  #globals = {};

  /**
   * @param {unknown} _config
   * @param {{ global: { console?: Console } }} environment
   */
  constructor(_config, environment) {
    if (environment.global.console !== undefined) globalThis.console = environment.global.console;
  }

  /**
   * Loads jest's own module anew: it holds the state of one test file.
   * @param {string} path
   */
  requireInternalModule(path) {
    Reflect.deleteProperty(globalThis, eventHandlers);
    delete require.cache[path];
    return require(path);
  }

  /** @param {string} path */
  requireModule(path) {
    return require(path);
  }

  /** @param {Record<string, unknown>} globals */
  setGlobalsForRuntime(globals) {
    const { fn, spyOn } = this.#mocker;
    const jest = { fn: fn.bind(this.#mocker), spyOn: spyOn.bind(this.#mocker) };
    this.#globals = { ...globals, jest };
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  /** @param {string} path */
  async unstable_importModule(path) {
    const { useGlobals } = await import(globalsUrl);
    useGlobals(this.#globals);
    await import(pathToFileURL(path).href);
  }

  enterTestCode() {}

  leaveTestCode() {}

  teardown() {
    this.#mocker.restoreAllMocks();
    globalThis.console = this.#console;
  }

  getSourceMaps() {
    return new Map();
  }

  getAllCoverageInfoCopy() {
    return undefined;
  }
}

module.exports = NativeRuntime;
