// A process between a container and what it connects to: every byte comes so much later, in both
// directions. Started within the container's network: `delay-link.ts MS PORT=ADDRESS:PORT…`.
import { connect, createServer, type Socket } from 'node:net';

const [delayText = '', ...links] = process.argv.slice(2);
const delayMs = Number(delayText);

/** Timers of one length fire in their order, so bytes keep theirs. */
function pass(from: Socket, to: Socket): void {
  from.on('data', (chunk) => setTimeout(() => to.write(chunk), delayMs));
  from.on('end', () => setTimeout(() => to.end(), delayMs));
  from.on('error', () => to.destroy()).on('close', () => setTimeout(() => to.destroy(), delayMs));
}

for (const link of links) {
  const [, port, host, targetPort] = /^(\d+)=([\d.]+):(\d+)$/.exec(link) ?? [];
  if (port === undefined || host === undefined) throw new Error(`${link} is no link`);
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const target = connect({ host, port: Number(targetPort), allowHalfOpen: true, noDelay: true });
    pass(client, target);
    pass(target, client);
  });
  await new Promise<void>((resolve) => server.listen(Number(port), '127.0.0.1', resolve));
}
process.stdout.write('ready\n');
