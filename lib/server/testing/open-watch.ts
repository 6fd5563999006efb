// A watch over HTTP as a client holds it open: its events as they come. For suites.
import { once } from 'node:events';
import https from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { Sent } from '../../registry/testing/verb-driver.ts';
import { eventually } from './test-server.ts';
import type { TestServer } from './test-server.ts';

export interface SentEvent {
  readonly type: string;
  readonly object: Sent;
}

export class OpenWatch {
  readonly events: SentEvent[] = [];
  readonly status: number;
  isEnded = false;
  readonly #response: IncomingMessage;

  private constructor(response: IncomingMessage) {
    this.#response = response;
    this.status = response.statusCode ?? 0;
    let text = '';
    response.setEncoding('utf8').on('data', (part: string) => {
      const lines = `${text}${part}`.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) this.events.push(JSON.parse(line) as SentEvent);
    });
    response.on('error', () => undefined);
    response.once('close', () => (this.isEnded = true));
  }

  /** `path` without `watch`. */
  static async open(
    server: Pick<TestServer, 'port' | 'ca'>,
    path: string,
    accept = 'application/json',
  ): Promise<OpenWatch> {
    const request = https.request({
      ...{ host: '127.0.0.1', port: server.port, ca: server.ca, agent: false, headers: { accept } },
      path: `${path}${path.includes('?') ? '&' : '?'}watch=1`,
    });
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return new OpenWatch(response);
  }

  /** `TYPE name` of each event. */
  get told(): string[] {
    return this.events.map(({ type, object }) => `${type} ${object.metadata.name}`);
  }

  /** Waits for so many events. */
  async count(wanted: number): Promise<void> {
    await eventually(() => this.events.length >= wanted || this.isEnded);
  }

  async ended(): Promise<void> {
    await eventually(() => this.isEnded);
  }

  close(): void {
    this.#response.destroy();
  }
}
