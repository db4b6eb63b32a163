/** A claim: the verdict, each check with what it expected and found, and the evidence with the cited span lit. */

import { bracketed, titleOfClaim, verdictOf } from "../data/claims.ts";
import { number, said, split } from "../data/text.ts";
import type { Claim, CognitionState } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import { State } from "./small.tsx";

export function ClaimShown({ claim, cognition }: { claim: Claim; cognition: CognitionState }) {
  const speech = useSpeech();
  const verdict = verdictOf(claim);
  const support = claim.support === undefined ? "" : number(claim.support, speech.locale, 2);
  return (
    <article class={`claim ${verdict}`}>
      <p class="claim-text">{titleOfClaim(claim)}</p>
      <p>
        <State of={verdict} says={speech.say(`claim.${verdict}`)} />
        {support ? <span class="quiet"> {speech.say("claim.support", { n: support })}</span> : null}
      </p>
      <Checks claim={claim} />
      <Evidence claim={claim} cognition={cognition} />
    </article>
  );
}

function Checks({ claim }: { claim: Claim }) {
  const { say, word } = useSpeech();
  const checks = claim.checks ?? [];
  if (checks.length === 0) return null;
  return (
    <table class="checks">
      <thead>
        <tr><th scope="col">{say("claim.check")}</th><th scope="col">{say("claim.verdict")}</th>
          <th scope="col">{say("claim.expected")}</th><th scope="col">{say("claim.found")}</th></tr>
      </thead>
      <tbody>
        {checks.map((check, at) => (
          <tr key={at}>
            <th scope="row">{`${check.number ?? ""} ${word("check.", check.name).replaceAll("_", " ")}`.trim()}</th>
            <td><State of={check.verdict} says={say(`verdict.${check.verdict}`)} /></td>
            <td>{said(check.expected)}</td>
            <td>{said(check.found)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Evidence({ claim, cognition }: { claim: Claim; cognition: CognitionState }) {
  const { say } = useSpeech();
  const passages = cognition.passages ?? {};
  const uid = claim.chunk_uid ?? "";
  const passage = Object.hasOwn(passages, uid) ? passages[uid] : undefined;
  if (!passage) return null;
  const [before, cited, behind] = split(passage.text ?? "", claim.start ?? 0, claim.end ?? 0);
  return (
    <figure class="evidence">
      <figcaption>
        {say("claim.evidence")}: {passage.title ?? passage.document_id} <code>{bracketed(passage.cite ?? "")}</code>
      </figcaption>
      <blockquote>{before}<mark>{cited}</mark>{behind}</blockquote>
    </figure>
  );
}
