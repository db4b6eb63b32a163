/** Changes of a JSON document as RFC 6902 writes them; of its operations those that set or remove one place. */

import type { Operation } from "./types.ts";

type Container = Record<string, unknown> | unknown[];

/** Apply operations in place; a map on the way that is missing is made. Throws `TypeError` for what is no patch. */
export function patch(document: Record<string, unknown>, operations: readonly Operation[]): void {
  for (const operation of operations) {
    const keys = pointer(operation.path);
    const last = keys.pop();
    if (last === undefined) throw new TypeError("a patch of the whole document is not made");
    const place = keys.reduce<Container>(inside, document);
    if (operation.op === "remove") remove(place, last);
    else if (operation.op === "add" || operation.op === "replace") put(place, last, operation);
    else throw new TypeError(`there is no operation ${operation.op}`);
  }
}

/** The keys of a JSON pointer. */
export function pointer(path: string): string[] {
  if (path === "") return [];
  if (!path.startsWith("/")) throw new TypeError(`${path} is no JSON pointer`);
  return path.slice(1).split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function inside(place: Container, key: string): Container {
  const held = Array.isArray(place) ? place[Number(key)] : Object.hasOwn(place, key) ? place[key] : undefined;
  if (typeof held === "object" && held !== null) return held as Container;
  const made = {};
  set(place, key, made);
  return made;
}

function put(place: Container, key: string, operation: Operation): void {
  if (Array.isArray(place) && operation.op === "add") {
    place.splice(key === "-" ? place.length : Number(key), 0, operation.value);
  } else {
    set(place, key, operation.value);
  }
}

function set(place: Container, key: string, value: unknown): void {
  if (Array.isArray(place)) place[Number(key)] = value;
  // A key is any text: `__proto__` is one, too, and no prototype.
  else Object.defineProperty(place, key, { value, writable: true, enumerable: true, configurable: true });
}

function remove(place: Container, key: string): void {
  if (Array.isArray(place)) place.splice(Number(key), 1);
  else delete place[key];
}
