// Which requests may come without credentials: all, none, or those for a few paths (specification
// 3, Anonymous requests).

/** Whether a path may be asked for without credentials; it is decoded, as it is routed. */
export type AllowsAnonymous = (path: string) => boolean;

/** Conditions: none means all paths; else the path is just one of them. */
export function anonymousRule(options: {
  readonly enabled: boolean;
  readonly conditions: readonly { readonly path: string }[];
}): AllowsAnonymous {
  const { enabled, conditions } = options;
  if (!enabled || conditions.length === 0) return () => enabled;
  const paths = new Set(conditions.map(({ path }) => path));
  return (path) => paths.has(path);
}
