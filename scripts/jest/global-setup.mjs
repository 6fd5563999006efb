// Before the first test: brings the etcd that the tests run against, so that no test has to wait.
// Tests that need none still run where there is none; the others fail and say why.
import { findEtcd } from '../etcd.mjs';

export default async function bringEtcd() {
  try {
    await findEtcd();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  }
}
