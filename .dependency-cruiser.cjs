// The layer rule of ARCHITECTURE.md: a folder of lib/ imports only rows above its own in this list,
// and itself; folders of one row do not import each other. `import type` counts.
const rows = [
  ['base'],
  ['config', 'telemetry'],
  ['api'],
  ['codec', 'cel', 'client'],
  ['storage-etcd'],
  ['cacher'],
  ['authn', 'authz', 'audit', 'flowcontrol'],
  ['admission', 'apply'],
  ['registry'],
  ['crd', 'aggregator', 'discovery', 'controllers'],
  ['server'],
];
const testFiles = '(\\.(test|e2e|suite)\\.ts$|/testing/)';

const layers = rows.flatMap((row, index) =>
  row.map((folder) => {
    const notAllowed = rows
      .slice(index)
      .flat()
      .filter((other) => other !== folder);
    return {
      name: `layer-${folder}`,
      severity: 'error',
      from: { path: `^lib/${folder}/` },
      to: { path: ['^cmd/', ...notAllowed.map((other) => `^lib/${other}/`)] },
    };
  }),
);

/** A folder of lib/ that no row names would escape the rule. */
const everyFolderHasARow = {
  name: 'folder-without-layer',
  severity: 'error',
  from: { path: '^lib/', pathNot: `^lib/(${rows.flat().join('|')})/` },
  to: {},
};

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
    ...layers,
    everyFolderHasARow,
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    onlyIn('server', 'express/'),
    onlyIn('storage-etcd', '@grpc/'),
    onlyIn('cel', 're2js/'),
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
