// End-to-end tests: whole replicas as processes beside a real etcd, some of them under harm.
// `npm run e2e`; `npm test` runs all others.
import all from '../../jest.config.mjs';

export default { ...all, rootDir: '../..', testMatch: ['**/*.e2e.ts'] };
