/** What a key does in a tree: WAI-ARIA's pattern. */

import type { Row } from "./rows.ts";

export type Move = { to: string } | { open: string; expanded: boolean } | { openAll: string | null } | { enter: true };

/** The move of a key at the active row; null for a key that is not the tree's. */
export function moveOf(key: string, rows: readonly Row[], active: string, page: number): Move | null {
  const at = rows.findIndex((row) => row.id === active);
  const row = rows[at];
  if (row === undefined) return rows[0] === undefined ? null : { to: rows[0].id };
  const to = (index: number): Move => ({ to: rows[Math.min(Math.max(index, 0), rows.length - 1)]!.id });
  switch (key) {
    case "ArrowDown":
      return to(at + 1);
    case "ArrowUp":
      return to(at - 1);
    case "PageDown":
      return to(at + page);
    case "PageUp":
      return to(at - page);
    case "Home":
      return to(0);
    case "End":
      return to(rows.length - 1);
    case "ArrowRight":
      if (row.expanded === false) return { open: row.id, expanded: true };
      return row.expanded === true ? to(at + 1) : to(at);
    case "ArrowLeft":
      if (row.expanded === true) return { open: row.id, expanded: false };
      return row.parent === null ? to(at) : { to: row.parent };
    case "*":
      return { openAll: row.parent };
    case "Enter":
    case " ":
      return { enter: true };
    default:
      return null;
  }
}

/** The next row that begins with what was typed, from the active one on; null where none does. */
export function typed(letter: string, rows: readonly Row[], active: string, label: (row: Row) => string): string | null {
  const at = rows.findIndex((row) => row.id === active);
  const wanted = letter.toLocaleLowerCase();
  const turned = [...rows.slice(at + 1), ...rows.slice(0, at + 1)];
  return turned.find((row) => label(row).toLocaleLowerCase().startsWith(wanted))?.id ?? null;
}
