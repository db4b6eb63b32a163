/** The details of a deep answer and of its sub-questions. */

import { bracketed } from "../data/claims.ts";
import { number, said, split } from "../data/text.ts";
import type { CognitionNode, CognitionState, Conflict } from "../data/types.ts";
import { useSpeech } from "../language/say.ts";
import { attempts, evidence, statusOf } from "../tree/line.tsx";
import { ClaimShown } from "./claim.tsx";
import { Badge, Block, Fields, Lines, Meter, State } from "./small.tsx";

const BUDGETS = [
  ["budget.steps", "steps", "max_steps"],
  ["budget.searches", "searches", "max_searches"],
  ["budget.llm_calls", "llm_calls", "max_llm_calls"],
  ["budget.rethinks", "rethinks", "max_rethink"],
] as const;

export function AnswerShown({ cognition }: { cognition: CognitionState }) {
  const speech = useSpeech();
  const { say, word } = speech;
  const status = cognition.failed ? "failed" : cognition.status;
  const conflicts = Object.entries(cognition.conflicts ?? {});
  return (
    <>
      <p class="lead">
        <State of={status} says={statusOf(cognition, speech)} />
        {cognition.answer_status ? <Badge>{word("", cognition.answer_status)}</Badge> : null}
        {cognition.reuse ? <Badge title={cognition.reuse}>{say("reuse")}</Badge> : null}
      </p>
      {cognition.failed ? <p class="problem">{cognition.failed}</p> : null}
      {(cognition.sections ?? []).map((section, at) => (
        <Block key={at} title={section.title}><p class="prose">{section.text}</p></Block>
      ))}
      {(cognition.missing ?? []).length > 0 ? <Block title={say("missing")}><Lines of={cognition.missing} /></Block> : null}
      <Corrections of={cognition.corrections} />
      {conflicts.length > 0 ? (
        <Block title={say("conflicts")}>{conflicts.map(([key, each]) => <ConflictShown key={key} conflict={each} cognition={cognition} />)}</Block>
      ) : null}
      <Budget of={cognition.budget ?? {}} />
      <Fields
        of={[
          [say("conditions"), said(cognition.conditions ?? [])],
          [say("themes"), said(cognition.themes ?? [])],
          [say("citations"), said(cognition.citations ?? [])],
        ]}
      />
    </>
  );
}

function Corrections({ of }: { of: CognitionState["corrections"] }) {
  const { say, locale } = useSpeech();
  const refused = (of?.consultations ?? []).map((id) => say("corrections.refused", { id }));
  const lowered = Object.entries(of?.passages ?? {}).map(([uid, { cite = uid, factor }]) =>
    say("corrections.lowered", { cite: bracketed(cite), factor: number(factor, locale, 2) }));
  if (refused.length + lowered.length === 0) return null;
  return <Block title={say("corrections")}><Lines of={[...refused, ...lowered]} /></Block>;
}

function Budget({ of }: { of: Record<string, number> }) {
  const { say } = useSpeech();
  const known = BUDGETS.filter(([, used]) => of[used] !== undefined);
  if (known.length === 0) return null;
  return (
    <Block title={say("budget")}>
      {known.map(([label, used, most]) => {
        const [spent = 0, limit] = [of[used], of[most]];
        const says = limit === undefined ? `${spent}` : `${spent} / ${limit}`;
        return limit === undefined
          ? <p key={used}>{say(label)} <b>{says}</b></p>
          : <Meter key={used} label={say(label)} used={spent} most={limit} says={says} />;
      })}
    </Block>
  );
}

export function ConflictShown({ conflict, cognition }: { conflict: Conflict; cognition: CognitionState }) {
  const { say } = useSpeech();
  const [first, second] = conflict.spans ?? [];
  return (
    <article class="conflict">
      <Fields
        of={[
          [say("conflict.type"), conflict.type],
          [say("conflict.a"), sideOf(conflict.a, first, cognition)],
          [say("conflict.b"), sideOf(conflict.b, second, cognition)],
          [say("conflict.resolution"), [conflict.resolution, conflict.motivo].filter(Boolean).join(": ")],
        ]}
      />
    </article>
  );
}

/** What one side says: its sentence and citation where its passage is known, else its name. */
function sideOf(side: unknown, span: readonly number[] | undefined, cognition: CognitionState): string {
  const passages = cognition.passages ?? {};
  const name = said(side);
  const passage = Object.hasOwn(passages, name) ? passages[name] : undefined;
  if (passage === undefined) return name;
  const [start = 0, end = Infinity] = span ?? [];
  return `${split(passage.text ?? "", start, end)[1]} ${bracketed(passage.cite ?? "")}`;
}

export function NodeShown({ node, cognition }: { node: CognitionNode; cognition: CognitionState }) {
  const speech = useSpeech();
  const { say, word } = speech;
  const sources = Object.entries(node.sources ?? {});
  const conflicts = Object.entries(cognition.conflicts ?? {}).filter(([, each]) => each.node_id === node.node_id);
  return (
    <>
      <h3 class="question">{node.question}</h3>
      <p class="lead">
        <State of={node.state} says={word("state.", node.state)} />
        <Badge kind={node.evidence ? "proof" : ""}>{evidence(node, speech)}</Badge>
        {node.conflict ? <Badge kind="clash">{say("node.conflict")}</Badge> : null}
        {node.reused ? <Badge>{say("node.reused")}</Badge> : null}
        {attempts(node) > 1 ? <Badge>{say("node.attempts", { n: attempts(node) })}</Badge> : null}
      </p>
      {node.answer ? <Block title={say("node.answer")}><p class="prose">{node.answer}</p></Block> : null}
      {(node.missing ?? []).length > 0 ? <Block title={say("node.missing")}><Lines of={node.missing} /></Block> : null}
      {(node.claims ?? []).length > 0 ? (
        <Block title={say("node.claims")}>
          {(node.claims ?? []).map((claim, at) => <ClaimShown key={at} claim={claim} cognition={cognition} />)}
        </Block>
      ) : null}
      {conflicts.length > 0 ? (
        <Block title={say("conflicts")}>{conflicts.map(([key, each]) => <ConflictShown key={key} conflict={each} cognition={cognition} />)}</Block>
      ) : null}
      {sources.length > 0 ? (
        <Block title={say("node.sources")}>
          <ul class="chips">
            {sources.map(([name, source]) => (
              <li key={name}><State of={source.status} says={`${name} ${source.found ?? 0}`} /> <span class="quiet">{source.status}</span></li>
            ))}
          </ul>
        </Block>
      ) : null}
      <Fields
        of={[
          [say("node.kind"), node.kind],
          [say("node.searches"), node.searches],
          [say("node.rethinks"), node.rethinks],
        ]}
      />
    </>
  );
}
