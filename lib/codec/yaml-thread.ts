// The thread that large YAML bodies are read in: its parser cannot be stopped on the way, and would
// keep everybody waiting. A body in, JSON or a failure out, one after another.
import { parentPort } from 'node:worker_threads';
import { StatusError } from '../base/status.ts';
import { yamlAsJson } from './yaml-json.ts';

/** What the thread says of a body. */
export type YamlAnswer =
  | { readonly json: Uint8Array }
  | { readonly code: number; readonly reason: string; readonly message: string };

function answerTo(body: Uint8Array): YamlAnswer {
  try {
    return { json: Uint8Array.from(yamlAsJson(body)) };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { code, reason, message } = error;
    return { code, reason, message };
  }
}

parentPort?.on('message', (body: Uint8Array) => {
  const answer = answerTo(body);
  parentPort?.postMessage(answer, 'json' in answer ? [answer.json.buffer as ArrayBuffer] : []);
});
