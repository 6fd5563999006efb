// What is said of a path that nothing is behind: plain text, as Go's servers say it. Below a group
// of the server's own it is a Status, from the router of that group.
import { pathNotFound } from '../base/status.ts';
import type { HttpRequest, HttpResponse } from './request-context.ts';
import { plainHead, sendNow } from './respond.ts';

/** Whether a group is one of the server's own; the core group is ''. */
export type ServesGroup = (group: string) => boolean;

const text = Buffer.from('404 page not found\n');

/** @throws StatusError 404 below a group that is served. */
export function answerNotServed(
  request: HttpRequest,
  response: HttpResponse,
  servesGroup: ServesGroup,
): void {
  const [, root, group] = request.context.info.path.split('/');
  if (root === 'api' || (root === 'apis' && group !== undefined && servesGroup(group))) {
    throw pathNotFound();
  }
  sendNow(request, response, plainHead(404), text);
}
