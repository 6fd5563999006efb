// Unpacks etcd from a Debian suite: no root, nothing is installed on the system.
// Guarantees a whole, running etcd in the destination or nothing.
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { firstLine, NoDebianPackage, openSuite, run } from './debian-packages.mjs';

const serverPackage = 'etcd-server';

/**
 * One suite's package index, in a folder of its own. `dispose` it.
 * @param {string} suite
 * @param {string} workFolder is created
 */
export async function openEtcdSuite(suite, workFolder) {
  const opened = await openSuite(suite, workFolder);
  return {
    suite,
    /** What the suite has; undefined when it has no etcd. */
    version: await opened.version(serverPackage),
    /** @param {string} destination gets usr/bin/etcd and usr/bin/etcdctl; it must not exist */
    async unpack(destination) {
      const tree = join(workFolder, 'root');
      await opened.unpack([serverPackage, 'etcd-client'], tree);
      const tried = await run(join(tree, 'usr/bin/etcd'), ['--version']);
      if (tried.code !== 0) {
        throw new NoDebianPackage(`it does not run on this system: ${firstLine(tried.stderr)}`);
      }
      rmSync(destination, { recursive: true, force: true });
      renameSync(tree, destination);
    },
    dispose: opened.dispose,
  };
}
