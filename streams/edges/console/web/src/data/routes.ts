/** Addresses of the views, which are permalinks: what comes after `#`. */

export interface Route {
  view: string;
  ids: string[];
  query: URLSearchParams;
}

/** The route of a hash; that of the conversations for an empty one. */
export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [view = "", ...ids] = path.split("/");
  return { view: view || "conversations", ids: ids.map(decoded), query: new URLSearchParams(query) };
}

/** The address of a view. */
export function address(view: string, ids: readonly string[] = [], query: Record<string, string> = {}): string {
  const stated = Object.entries(query).filter(([, value]) => value !== "");
  const behind = stated.length > 0 ? `?${new URLSearchParams(stated)}` : "";
  return `#/${[view, ...ids.map(encodeURIComponent)].join("/")}${behind}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
