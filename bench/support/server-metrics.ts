// The server's own metrics after a run, for explaining a figure: `BENCH_METRICS=pattern npm run
// bench -- NAME`.
import { Connection, requestBytes } from './http1-client.ts';
import type { Target } from './server.ts';

export async function printMetrics(server: Target): Promise<void> {
  const pattern = new RegExp(process.env['BENCH_METRICS'] ?? '');
  const connection = await Connection.open(server.port, { keepBodies: true });
  const answer = await connection.request(requestBytes('GET', '/metrics'));
  connection.close();
  for (const line of String(answer.body).split('\n')) if (pattern.test(line)) console.log(line);
}
