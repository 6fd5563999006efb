// What the filter of impersonation costs a request that does not ask for it, beside a plain look at
// as many header names. Run: node bench/micro/impersonation.bench.ts [requests]
import { mentionsImpersonation } from '../../lib/server/impersonation/wanted-user.ts';
import { median, verdict } from '../support/compare.ts';

const requestCount = Number(process.argv[2] ?? 2_000_000);
const rounds = 7;
const rawHeaders = [
  ...['Host', '127.0.0.1:6443', 'User-Agent', 'kubectl/v1.36.0 (linux/amd64)'],
  ...['Accept', 'application/json', 'Authorization', 'Bearer abc', 'Accept-Encoding', 'gzip'],
  ...['Content-Type', 'application/json', 'Content-Length', '120'],
];
const lengths = (headers: readonly string[]): boolean => {
  let sum = 0;
  for (let at = 0; at < headers.length; at += 2) sum += (headers[at] ?? '').length;
  return sum === 0;
};

/** Nanoseconds a request. */
function measure(side: (headers: readonly string[]) => boolean): number {
  let found = 0;
  const fromNs = process.hrtime.bigint();
  for (let request = 0; request < requestCount; request++) if (side(rawHeaders)) found++;
  if (found > 0) throw new Error('nobody is impersonated here');
  return Number(process.hrtime.bigint() - fromNs) / requestCount;
}

const figures = { bare: [] as number[], own: [] as number[] };
for (let round = 0; round < rounds; round++) {
  figures.bare.push(measure(lengths));
  figures.own.push(measure(mentionsImpersonation));
}
const [bare, own] = [median(figures.bare), median(figures.own)];
console.log(`look at header lengths: ${bare.toFixed(1)} ns a request`);
console.log(`impersonation, not asked for: ${own.toFixed(1)} ns a request`);
verdict('impersonation, ns a request', own, { atMost: 200 });
