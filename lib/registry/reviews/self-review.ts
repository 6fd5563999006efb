// Who am I? The sender as everything after authentication and impersonation sees them.
import { formatTime } from '../../base/clock.ts';
import type { Review } from './review.ts';
import { userInfo } from './user-info.ts';

/** @throws StatusError of admission plugins. */
export const reviewSelf: Review = async (review, { clock }) => {
  await review.confirm();
  const metadata = { creationTimestamp: formatTime(clock.nowMs()) };
  return { metadata, status: { userInfo: userInfo(review.user) } };
};
