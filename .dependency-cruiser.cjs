// The layer rule of ARCHITECTURE.md: a folder may import only rows above it in this list, and itself. `import type` counts.
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
const forbidden = rows.flatMap((row, index) =>
  row.map((folder) => ({
    name: `layer-${folder}`,
    severity: 'error',
    from: { path: `^lib/${folder}/` },
    to: {
      path: `^(cmd|lib/(${
        rows
          .slice(index)
          .flat()
          .filter((other) => other !== folder)
          .join('|') || 'none'
      }))/`,
    },
  })),
);
const onlyIn = (name, folder, modules) => ({
  name,
  severity: 'error',
  from: { path: '^(lib|cmd)/', pathNot: `^lib/${folder}/` },
  to: { path: `node_modules/(${modules})` },
});
module.exports = {
  forbidden: [
    ...forbidden,
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    onlyIn('express-only-in-server', 'server', 'express/'),
    onlyIn('grpc-only-in-storage', 'storage-etcd', '@grpc/'),
    onlyIn('re2-only-in-cel', 'cel', 're2js/'),
  ],
  options: { tsPreCompilationDeps: true, doNotFollow: { path: 'node_modules' } },
};
