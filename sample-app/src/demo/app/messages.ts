/** What an application process tells its parent. */
export type AppMessage =
  | { readonly kind: 'listening'; readonly url: string }
  /** A query reached the database; `at` is in milliseconds since the epoch. */
  | { readonly kind: 'query'; readonly at: number };

export function tellParent(message: AppMessage): void {
  process.send?.(message);
}
