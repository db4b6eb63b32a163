/** What a row of a message's tree shows, and says to who does not see it. */

import { titleOfClaim, verdictOf } from "../data/claims.ts";
import { said } from "../data/text.ts";
import type { CognitionNode } from "../data/types.ts";
import type { Speaker } from "../language/say.ts";
import { Memory } from "../parts/marks.tsx";
import { Badge, State } from "../parts/small.tsx";
import type { Row } from "./rows.ts";

const CALL_STATES = { resolved: "ok", error: "failed", confirmation_required: "warn" } as const;

/** How often a node was tried: the first time, and each search and reasoning after it. */
export function attempts(node: CognitionNode): number {
  return 1 + (node.rethinks ?? 0) + Math.max((node.searches ?? 1) - 1, 0);
}

export function evidence(node: CognitionNode, speech: Speaker): string {
  return speech.say("node.evidence", { n: node.evidence ?? 0 });
}

/** A row as one line. */
export function describe(row: Row, speech: Speaker): string {
  const { say, word } = speech;
  const { held } = row;
  switch (held.kind) {
    case "pack":
      return [say("pack"), word("pack.status.", held.pack.status), held.pack.level ?? ""].filter(Boolean).join(", ");
    case "class": {
      const { node } = held;
      const counts = [say("pack.items", { n: node.items ?? 0 }), say("pack.tokens", { n: node.tokens ?? 0 })];
      const parts = [word("class.", node.node_id), word("state.", node.state), said(node.why), ...counts];
      return parts.filter(Boolean).join(", ");
    }
    case "empties":
      return [say("class.empty"), held.nodes.map((node) => word("class.", node.node_id)).join(", ")].join(": ");
    case "kept":
      return [held.item.title ?? held.item.item_id, say("kept"), said(held.item.reason)].filter(Boolean).join(", ");
    case "dropped":
      return [held.item.title ?? "", say("dropped"), word("dropped.", held.item.reason)].join(", ");
    case "more":
      return [say("dropped.unnamed", { n: held.items.length }), say("dropped"), word("dropped.", held.items[0]?.reason)].join(", ");
    case "cognition":
      return [say("answer"), statusOf(held.cognition, speech)].join(", ");
    case "node": {
      const { node } = held;
      return [
        `${node.node_id} ${node.question ?? ""}`,
        word("state.", node.state),
        evidence(node, speech),
        node.conflict ? say("node.conflict") : "",
        node.reused ? say("node.reused") : "",
        attempts(node) > 1 ? say("node.attempts", { n: attempts(node) }) : "",
      ].filter(Boolean).join(", ");
    }
    case "claim":
      return [say("claim"), held.claim.text, say(`claim.${verdictOf(held.claim)}`)].join(", ");
    case "calls":
      return say("calls.title");
    case "call":
      return [held.verdict.tool_name, word("call.", held.verdict.status), said(held.verdict.error)].filter(Boolean).join(", ");
  }
}

export function statusOf(cognition: { status?: string; failed?: string | null }, speech: Speaker): string {
  return speech.word("status.", cognition.failed ? "failed" : cognition.status);
}

export function line(row: Row, speech: Speaker) {
  const { say, word } = speech;
  const { held } = row;
  switch (held.kind) {
    case "pack":
      return <><b class="name">{say("pack")}</b><State of={held.pack.status} says={word("pack.status.", held.pack.status)} /></>;
    case "cognition": {
      const status = held.cognition.failed ? "failed" : held.cognition.status;
      return <><b class="name">{say("answer")}</b><State of={status} says={statusOf(held.cognition, speech)} /></>;
    }
    case "class": {
      const { node } = held;
      return (
        <>
          <State of={node.state} says={word("state.", node.state)} />
          <span class="name"><Memory of={node.node_id} /></span>
          {node.why ? <span class="quiet">{said(node.why)}</span> : null}
          {node.items ? <Badge>{say("pack.items", { n: node.items })}</Badge> : null}
        </>
      );
    }
    case "empties":
      return <><span class="name quiet">{say("class.empty")}</span><span class="quiet">{held.nodes.map((node) => word("class.", node.node_id)).join(", ")}</span></>;
    case "kept":
      return <><span class="mark ok" aria-hidden="true" /><span class="name">{held.item.title ?? held.item.item_id}</span></>;
    case "dropped":
      return (
        <>
          <span class="mark skipped" aria-hidden="true" />
          <span class="name left">{held.item.title}</span>
          <span class="quiet">{word("dropped.", held.item.reason)}</span>
        </>
      );
    case "more":
      return (
        <>
          <span class="mark skipped" aria-hidden="true" />
          <span class="name left">{say("dropped.unnamed", { n: held.items.length })}</span>
          <span class="quiet">{word("dropped.", held.items[0]?.reason)}</span>
        </>
      );
    case "node": {
      const { node } = held;
      return (
        <>
          <State of={node.state} says={word("state.", node.state)} />
          <span class="number">{node.node_id}</span>
          <span class="name">{node.question}</span>
          {node.conflict ? <Badge kind="clash">{say("node.conflict")}</Badge> : null}
          {node.reused ? <Badge>{say("node.reused")}</Badge> : null}
          {attempts(node) > 1 ? <Badge>{say("node.attempts", { n: attempts(node) })}</Badge> : null}
          <Badge kind={node.evidence ? "proof" : ""} title={evidence(node, speech)}>{node.evidence ?? 0}</Badge>
        </>
      );
    }
    case "claim": {
      const verdict = verdictOf(held.claim);
      return (
        <>
          <State of={verdict} says={say(`claim.${verdict}`)} />
          <span class="name said">{titleOfClaim(held.claim)}</span>
        </>
      );
    }
    case "calls":
      return <><b class="name">{say("calls.title")}</b><Badge>{held.count}</Badge></>;
    case "call":
      return (
        <>
          <State of={CALL_STATES[held.verdict.status]} says={word("call.", held.verdict.status)} />
          <span class="name">{held.verdict.tool_name}</span>
        </>
      );
  }
}
