// What can go wrong with a call: one small hierarchy, the server's problem details (RFC 9457) in it.

/** Problem details (RFC 9457), as the server sent them. */
export interface Problem {
  type?: string;
  title: string;
  status: number;
  detail: string;
  instance?: string;
}

export interface ErrorFields {
  problem?: Problem | undefined;
  status?: number | undefined;
  messageId?: string | undefined;
  cause?: unknown;
}

/** A call that failed; its message is one sentence that says what to do. */
export class FathomError extends Error {
  /** The server's own words; absent where no Fathom answered. */
  readonly problem: Problem | undefined;
  /** The HTTP status; absent where nothing answered. */
  readonly status: number | undefined;
  /** Of the message that the call sent: its pack can be read later, and sent again under this id it is the same one. */
  readonly messageId: string | undefined;

  constructor(sentence: string, fields: ErrorFields = {}) {
    super(sentence, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.name = new.target.name;
    this.problem = fields.problem;
    this.status = fields.status ?? fields.problem?.status;
    this.messageId = fields.messageId;
  }
}

/** No Fathom is named, none answers there, or none in time. */
export class Unreachable extends FathomError {}

/** The server cannot answer now (429, 5xx): the same call may succeed later. */
export class Unavailable extends FathomError {}

/** The call is wrong: sent again as it is, it is refused again. */
export class Refused extends FathomError {}

/** The token is unknown, or is not for this (401, 403). */
export class Unauthorized extends Refused {}

/** There is nothing of this id (404). */
export class NotFound extends Refused {}

const KINDS: Record<number, typeof FathomError> = { 401: Unauthorized, 403: Unauthorized, 404: NotFound };

/** The error of a response that is no success. */
export function refusal(response: Response, body: unknown, messageId?: string): FathomError {
  const { status } = response;
  const later = status >= 500 || status === 429;
  if (!isProblem(body)) {
    const where = response.url.split("?")[0];
    const what = later ? "try again later, and look at what is before it" : "check that this is its address";
    const kind = later ? Unavailable : Unreachable;
    return new kind(`${where} answered ${status} without Fathom's reason; ${what}`, { status, messageId });
  }
  const kind = KINDS[status] ?? (later ? Unavailable : Refused);
  return new kind(body.detail, { problem: body, status, messageId });
}

function isProblem(body: unknown): body is Problem {
  return typeof body === "object" && body !== null && typeof (body as Problem).detail === "string";
}
