// A straight line through samples, and whether what they measure stays where it is.

export interface Sample {
  /** Seconds since any fixed moment. */
  readonly atSeconds: number;
  readonly value: number;
}

export interface Line {
  readonly mean: number;
  readonly perHour: number;
  /** Standard error of `perHour`. */
  readonly errorPerHour: number;
  readonly spanSeconds: number;
}

const hourSeconds = 3_600;

/**
 * Least squares.
 * @throws Error for less than three samples, or samples of one moment.
 */
export function lineThrough(samples: readonly Sample[]): Line {
  const count = samples.length;
  if (count < 3) throw new Error('a line needs three samples');
  const at = samples.map(({ atSeconds }) => atSeconds);
  const spanSeconds = Math.max(...at) - Math.min(...at);
  if (spanSeconds === 0) throw new Error('all samples are of one moment');
  const sum = (of: (sample: Sample) => number): number =>
    samples.reduce((total, sample) => total + of(sample), 0);
  const [meanAt, mean] = [sum(({ atSeconds }) => atSeconds), sum(({ value }) => value)].map(
    (total) => total / count,
  ) as [number, number];
  const spread = sum(({ atSeconds }) => (atSeconds - meanAt) ** 2);
  const slope = sum(({ atSeconds, value }) => (atSeconds - meanAt) * (value - mean)) / spread;
  const rest = sum(({ atSeconds, value }) => (value - mean - slope * (atSeconds - meanAt)) ** 2);
  const error = Math.sqrt(rest / (count - 2) / spread);
  return {
    mean,
    perHour: slope * hourSeconds,
    errorPerHour: error * hourSeconds,
    spanSeconds,
  };
}

/** Of the mean, over the time of the samples. */
const growthShareMax = 0.05;

/** Not flat is what has certainly (two standard errors) grown by more than a twentieth. */
export function isFlat({ mean, perHour, errorPerHour, spanSeconds }: Line): boolean {
  const growth = ((perHour - 2 * errorPerHour) * spanSeconds) / hourSeconds;
  return growth <= mean * growthShareMax;
}
