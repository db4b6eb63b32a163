/** A tree of any length by WAI-ARIA's pattern, of which only the rows in sight are in the document. */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { moveOf, typed } from "./keys.ts";
import type { Row } from "./rows.ts";
import { scrolledTo, windowOf } from "./window.ts";

export const ROW_HEIGHT = 30;
const INDENT = 18;

export interface TreeProps {
  label: string;
  rows: readonly Row[];
  active: string | null;
  /** A row in words, for who does not see it, and to find it by its first letter. */
  describe(row: Row): string;
  draw(row: Row): ComponentChildren;
  select(id: string): void;
  open(id: string, expanded: boolean): void;
  openBeside(parent: string | null): void;
  enter(): void;
}

export function Tree(props: TreeProps) {
  const { rows } = props;
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const focusing = useRef(false);
  const found = rows.findIndex((row) => row.id === props.active);
  const at = Math.max(found, 0);

  useEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useLayoutEffect(() => {
    if (!focusing.current) return;
    focusing.current = false;
    const element = box.current!;
    element.scrollTop = scrolledTo(at, element.scrollTop, element.clientHeight, ROW_HEIGHT);
    element.querySelector<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true });
  });

  const press = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const active = rows[at]?.id ?? "";
    const page = Math.max(Math.floor(height / ROW_HEIGHT) - 1, 1);
    const move = moveOf(event.key, rows, active, page) ?? byLetter(event.key, props, active);
    if (move === null) return;
    event.preventDefault();
    if ("to" in move) {
      focusing.current = true;
      props.select(move.to);
    } else if ("open" in move) {
      focusing.current = true;
      props.open(move.open, move.expanded);
    } else if ("openAll" in move) props.openBeside(move.openAll);
    else props.enter();
  };

  const { first, end } = windowOf(top, height, ROW_HEIGHT, rows.length);
  // The active row keeps its place in the document, and with it the focus, when it is scrolled out of sight.
  const drawn = rows.slice(first, end).map((row, index) => [row, first + index] as const);
  const outside = rows[at];
  if (outside !== undefined && (at < first || at >= end)) drawn.push([outside, at]);

  return (
    <div class="tree" ref={box} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <div role="tree" aria-label={props.label} onKeyDown={press} style={{ height: `${rows.length * ROW_HEIGHT}px` }}>
        {drawn.map(([row, index]) => (
          <Line key={row.id} row={row} index={index} active={index === at} tree={props} />
        ))}
      </div>
    </div>
  );
}

function Line({ row, index, active, tree }: { row: Row; index: number; active: boolean; tree: TreeProps }) {
  const { expanded } = row;
  return (
    <div
      role="treeitem"
      class="row"
      aria-level={row.level}
      aria-setsize={row.size}
      aria-posinset={row.position}
      aria-expanded={expanded}
      aria-selected={active}
      aria-label={tree.describe(row)}
      tabIndex={active ? 0 : -1}
      data-row={row.id}
      onClick={() => tree.select(row.id)}
      onDblClick={() => expanded !== undefined && tree.open(row.id, !expanded)}
      style={{ transform: `translateY(${index * ROW_HEIGHT}px)`, paddingLeft: `${(row.level - 1) * INDENT + 4}px` }}
    >
      <span
        class={expanded === undefined ? "twist" : expanded ? "twist open" : "twist closed"}
        aria-hidden="true"
        onClick={(event) => {
          if (expanded === undefined) return;
          event.stopPropagation();
          tree.open(row.id, !expanded);
        }}
      />
      {tree.draw(row)}
    </div>
  );
}

function byLetter(key: string, tree: TreeProps, active: string): { to: string } | null {
  if (key.length !== 1) return null;
  const to = typed(key, tree.rows, active, tree.describe);
  return to === null ? null : { to };
}
