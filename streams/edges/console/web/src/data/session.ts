/** What the page keeps: the token for as long as its tab lives, and how the page looks for longer. */

const TOKEN = "fathom.token";
const ASKED = "fathom.asked";
const DRAFT = "fathom.draft";
const MOST_ASKED = 30;

export interface Asked {
  id: string;
  question: string;
  at: string;
}

/** Take a token from the address (`#token=…`), and take it out of the address. */
export function tokenFromAddress(): void {
  const found = /^#token=([^&]+)(?:&(.*))?$/.exec(location.hash);
  if (!found?.[1]) return;
  keepToken(decodeURIComponent(found[1]));
  history.replaceState(null, "", `${location.pathname}${location.search}#${found[2] ?? "/"}`);
}

export function token(): string | null {
  return sessionStorage.getItem(TOKEN);
}

export function keepToken(text: string): void {
  sessionStorage.setItem(TOKEN, text.trim());
}

export function forgetToken(): void {
  sessionStorage.removeItem(TOKEN);
}

/** The questions that this tab has asked, the newest first. */
export function asked(): Asked[] {
  try {
    return JSON.parse(sessionStorage.getItem(ASKED) ?? "[]") as Asked[];
  } catch {
    return [];
  }
}

export function keepAsked(one: Asked): void {
  sessionStorage.setItem(ASKED, JSON.stringify([one, ...asked()].slice(0, MOST_ASKED)));
}

/** Whether this tab has sent a message: its events are on their way then. */
export function isOurs(message: string): boolean {
  return asked().some((each) => each.id === message);
}

/** The question that was typed and not sent yet: what takes its view away must not lose it. */
export function draft(): string {
  return sessionStorage.getItem(DRAFT) ?? "";
}

export function keepDraft(question: string): void {
  sessionStorage.setItem(DRAFT, question);
}

export function preference(name: string): string | null {
  return localStorage.getItem(`fathom.${name}`);
}

export function prefer(name: string, value: string): void {
  localStorage.setItem(`fathom.${name}`, value);
}
