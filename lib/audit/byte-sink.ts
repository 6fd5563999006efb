// Where the lines of the audit log go: a file that is rotated (log-file.ts), or standard output.
import type { Writable } from 'node:stream';

export interface ByteSink {
  /** One write at a time. Resolves when the bytes are the system's. @throws Error */
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** It stays open: others write to it, too. */
export const streamSink = (stream: Writable): ByteSink => ({
  write: (bytes) =>
    new Promise((resolve, reject) => {
      stream.write(bytes, (error) => {
        if (error instanceof Error) reject(error);
        else resolve();
      });
    }),
  close: () => Promise.resolve(),
});
