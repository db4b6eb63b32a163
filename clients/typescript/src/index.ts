// The context of a chat assistant's next answer, from a running Fathom.

export { cited, textOf } from "./answers.js";
export type * from "./answers.js";
export { Fathom } from "./client.js";
export type * from "./options.js";
export { FathomError, NotFound, Refused, Unauthorized, Unavailable, Unreachable } from "./errors.js";
export type { Problem } from "./errors.js";
export type * from "./types.js";
