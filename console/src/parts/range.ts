// Which rows of a long list are in the page.

/** What is in sight of a list, and how many rows around it are there too. */
export interface Range {
  startIndex: number;
  endIndex: number;
  overscan: number;
  count: number;
}

/** withFocus gives the rows that are in the page: those in sight, and the one with the focus wherever
 *  it is, so that scrolling takes the focus from nobody. In the order of the list, for Tab. */
export function withFocus(r: Range, focused?: number): number[] {
  const from = Math.max(r.startIndex - r.overscan, 0);
  const to = Math.min(r.endIndex + r.overscan, r.count - 1);
  const rows = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
  if (focused === undefined || focused < 0 || focused >= r.count) return rows;
  if (focused < from) rows.unshift(focused);
  else if (focused > to) rows.push(focused);
  return rows;
}

/** focusedIn gives the row of a list in which the focus is. */
export function focusedIn(box: HTMLElement | null): number | undefined {
  const at = document.activeElement;
  if (!box || !at || !box.contains(at)) return undefined;
  const row = at.closest<HTMLElement>("li[data-index]");
  return row && box.contains(row) ? Number(row.dataset.index) : undefined;
}
