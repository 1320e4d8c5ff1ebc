/** Puts a page into what is known. A page holds all there is between its newest and its
 *  oldest checkpoint; newest says that it is the first, above which there is nothing. */
export function merge<T extends { number: number }>(known: readonly T[], page: readonly T[], newest: boolean): T[] {
  if (page.length === 0) return newest ? [] : [...known];
  const from = page[0]!.number;
  const to = page[page.length - 1]!.number;
  const above = newest ? [] : known.filter((c) => c.number > from);
  return [...above, ...page, ...known.filter((c) => c.number < to)];
}
