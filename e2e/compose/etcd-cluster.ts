// What tests ask of etcd's members and change of them, by etcdctl in the containers, as
// docs/operate/etcd.md says.
import { compose, docker, members, until, volumeOf, type Member, type SetUp } from './set-up.ts';

export class EtcdCluster {
  readonly #setUp: SetUp;

  constructor(setUp: SetUp) {
    this.#setUp = setUp;
  }

  async leader(): Promise<Member> {
    for (const member of members) {
      const status = await this.#status(member);
      if (status?.includes(`"leader":${idIn(status)}`) === true) return member;
    }
    throw new Error('no member of etcd leads');
  }

  async followers(): Promise<readonly Member[]> {
    const leader = await this.leader();
    return members.filter((member) => member !== leader);
  }

  /** In hexadecimal digits, as commands take it. */
  async idOf(member: Member): Promise<string> {
    const status = await this.#status(member);
    if (status === undefined) throw new Error(`${member} does not answer`);
    return BigInt(idIn(status)).toString(16);
  }

  /** Its disk is lost: what ran is gone, and one of its name joins with an empty volume. */
  async replace(member: Member): Promise<void> {
    const id = await this.idOf(member);
    await this.#setUp.kill(member);
    const other = members.find((each) => each !== member) ?? member;
    await this.etcdctl(other, ['member', 'remove', id]);
    // The step that makes secrets gives folders their owners, so it holds the volume, too.
    await compose(['rm', '--force', '--stop', member, 'secrets']);
    await docker(['volume', 'rm', volumeOf(`${member}-data`)]);
    const peerUrl = `https://${member}.peers:2380`;
    await this.etcdctl(other, ['member', 'add', member, '--learner', `--peer-urls=${peerUrl}`]);
    await compose(['up', '--detach', member], { ETCD_INITIAL_CLUSTER_STATE: 'existing' });
    await until(`${member} runs`, async () => (await this.#status(member)) !== undefined);
    const learner = await this.idOf(member);
    await until(`${member} has caught up`, async () => {
      const { code } = await this.#run(other, ['member', 'promote', learner]);
      return code === 0;
    });
    await this.#setUp.healthy(member);
  }

  /** @throws Error with what it says. */
  async etcdctl(at: Member, args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.#run(at, args);
    if (code !== 0) throw new Error(`etcdctl ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  #run(at: Member, args: readonly string[]): ReturnType<SetUp['exec']> {
    return this.#setUp.exec(at, ['etcdctl', ...args]);
  }

  /** JSON; undefined where it does not answer. */
  async #status(member: Member): Promise<string | undefined> {
    const args = ['endpoint', 'status', '--write-out=json'];
    const done = await this.#run(member, args).catch(() => undefined);
    return done?.code === 0 ? done.stdout : undefined;
  }
}

/** As digits: it is beyond what a number of JSON holds. */
const idIn = (status: string): string => /"member_id":(\d+)/.exec(status)?.[1] ?? '';
