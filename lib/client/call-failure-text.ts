// What a failed call of a webhook is in the message of an answer: as clients of the reference know
// it, and without a byte of what the webhook answered, which need not be for the client's eyes.
import type { CallError } from './call-error.ts';

const textByStatus: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  403: 'unknown',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  406: 'the server was unable to respond with a content type that the client supports',
  409: 'the server reported a conflict',
  415: 'unknown',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504:
    'the server was unable to return a response in the time allotted, ' +
    'but may still be processing the request',
};

export function callFailureText({ failure, method, url, reason }: CallError): string {
  if (failure.kind !== 'status') {
    return `${method.charAt(0)}${method.slice(1).toLowerCase()} "${url}": ${reason}`;
  }
  const { status } = failure;
  const known = textByStatus[status];
  if (known !== undefined) return known;
  return status >= 500
    ? 'an error on the server ("unknown") has prevented the request from succeeding'
    : `the server responded with the status code ${String(status)} ` +
        'but did not return more information';
}
