// The layer rule of ARCHITECTURE.md: a folder imports only rows above its own in its list, and
// itself; folders of one row do not import each other. `import type` counts.

/** The folders of lib/. */
const rows = [
  ['base'],
  ['config', 'telemetry'],
  ['api'],
  ['codec', 'cel', 'client', 'http2'],
  ['kinds'],
  ['storage-etcd'],
  ['cacher'],
  ['authn', 'authz', 'audit', 'flowcontrol'],
  ['apply'],
  ['admission'],
  ['registry'],
  ['crd', 'aggregator', 'discovery', 'controllers'],
  ['server'],
];
const testFiles = '(\\.(test|e2e|suite)\\.ts$|/testing/)';

/** The folders of lib/cel/; its own files stand above them all and join them. */
const celRows = [
  ['model'],
  ['syntax'],
  ['eval'],
  ['library'],
  ['check', 'schema'],
  ['cost'],
  ['use'],
];

/**
 * @param {string} parent
 * @param {readonly (readonly string[])[]} folderRows
 */
const layersOf = (parent, folderRows) =>
  folderRows.flatMap((row, index) =>
    row.map((folder) => {
      const notAllowed = folderRows
        .slice(index)
        .flat()
        .filter((other) => other !== folder);
      return {
        name: `layer-${folder}`,
        severity: 'error',
        from: { path: `^${parent}/${folder}/` },
        to: { path: ['^cmd/', ...notAllowed.map((other) => `^${parent}/${other}/`)] },
      };
    }),
  );

/**
 * A folder that no row names would escape the rule.
 * @param {string} parent
 * @param {readonly (readonly string[])[]} folderRows
 */
const everyFolderHasARow = (parent, folderRows) => ({
  name: 'folder-without-layer',
  severity: 'error',
  from: {
    path: `^${parent}/[^/]+/`,
    pathNot: `^${parent}/(${[...folderRows.flat(), 'testing'].join('|')})/`,
  },
  to: {},
});

/**
 * @param {string} folder
 * @param {string} modules
 */
const onlyIn = (folder, modules) => ({
  name: `${modules.replace(/\W+/g, '')}-only-in-${folder}`,
  severity: 'error',
  from: { path: '^(lib|cmd)/', pathNot: [`^lib/${folder}/`, testFiles] },
  to: { path: `node_modules/(@types/)?(${modules})` },
});

module.exports = {
  forbidden: [
    ...layersOf('lib', rows),
    ...layersOf('lib/cel', celRows),
    everyFolderHasARow('lib', rows),
    everyFolderHasARow('lib/cel', celRows),
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    onlyIn('server', 'express/'),
    onlyIn('storage-etcd', '@grpc/'),
    onlyIn('base', 're2js/'),
    onlyIn('client', 'undici/'),
    onlyIn('telemetry', '@opentelemetry/'),
    {
      name: 'no-test-code-in-production',
      severity: 'error',
      from: { path: '^(lib|cmd)/', pathNot: testFiles },
      to: { path: [testFiles, '^(e2e|bench|scripts)/'], pathNot: '^scripts/(etcd|lock)\\.mjs$' },
    },
    {
      name: 'no-dev-dependency-in-production',
      severity: 'error',
      from: { path: '^(lib|cmd)/', pathNot: testFiles },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: '@types/' },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
