/** What the checks of a claim come to. */

import type { Claim } from "./types.ts";

export type ClaimVerdict = "accepted" | "rejected" | "unverified" | "unchecked";

/** Rejected by one failed check; not verified while one could not decide. */
export function verdictOf(claim: Claim): ClaimVerdict {
  const checks = claim.checks ?? [];
  if (checks.length === 0) return "unchecked";
  if (checks.some((check) => check.verdict === "fail")) return "rejected";
  return checks.some((check) => check.verdict === "unverified") ? "unverified" : "accepted";
}

export function titleOfClaim(claim: Claim): string {
  return claim.cite && !claim.text.includes(claim.cite) ? `${claim.text} ${bracketed(claim.cite)}` : claim.text;
}

/** A citation as it stands in answers. */
export function bracketed(cite: string): string {
  return cite === "" || cite.startsWith("[") ? cite : `[${cite}]`;
}
