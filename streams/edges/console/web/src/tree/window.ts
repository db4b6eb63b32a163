/** Which rows of a long list are drawn. */

export interface Window {
  first: number;
  /** Behind the last one. */
  end: number;
}

/** The rows in sight, with a margin above and below, of `count` rows of one height. */
export function windowOf(top: number, height: number, rowHeight: number, count: number, margin = 8): Window {
  const first = Math.floor(top / rowHeight) - margin;
  const end = Math.ceil((top + height) / rowHeight) + margin;
  return { first: Math.min(Math.max(first, 0), count), end: Math.min(Math.max(end, 0), count) };
}

/** The scroll position that brings a row into sight; the present one where it is. */
export function scrolledTo(row: number, top: number, height: number, rowHeight: number): number {
  const above = row * rowHeight;
  if (above < top) return above;
  return above + rowHeight > top + height ? above + rowHeight - height : top;
}
