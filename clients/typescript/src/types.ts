// Made from the schemas by `make docs`. Do not edit.
//
// Fields that a newer Fathom adds are there at run time, and stay when the value is written again.

/** One of the known texts, or one that a newer Fathom knows. */
export type Open<Known extends string> = Known | (string & {});

/** An instant with its offset from UTC, as RFC 3339 writes it. */
export type Timestamp = string;

export type AccessLevel = Open<"public" | "internal" | "restricted" | "confidential">;

export type Action = Open<"respond_directly" | "search_context" | "deep_retrieval">;

export type AnswerStatus = Open<"answered" | "partial" | "abstained">;

export type AssessmentMadeClassifier = Open<"heuristic" | "heuristic_timeout" | "engine" | "llm">;

export type AuditDecisionKind = Open<
  | "late-part"
  | "tool"
  | "weights"
  | "penalty"
  | "erasure"
  | "subject-erasure"
  | "quarantine"
  | "quarantine-lifted"
>;

export type ClaimAssertedAuthor = Open<"user" | "system">;

export type ClaimItemAuthor = Open<"user" | "system">;

export type ClaimRuling = Open<"retract" | "confirm">;

export type ClaimStatus = Open<"asserted" | "contested" | "superseded" | "confirmed" | "retracted">;

export type ConflictKind = Open<"correction" | "newer_value" | "negation">;

export type ConflictType = Open<"polarity" | "number" | "date" | "outcome" | "rank" | "temporal">;

export type ContextPackEvidence = Open<"found" | "none">;

export type ContextPackSettledBy = Open<"complete" | "deadline">;

export type ContradictionStatus = Open<"pending_reconciliation" | "resolved">;

export type ConversationSummaryOrigin = Open<"current" | "previous">;

export type CorrectionIssuedKind = Open<"claim" | "consulta">;

export type CorrectionKind = Open<"factual" | "juridico" | "formatacao">;

export type DepthClassifiedClassifier = Open<"heuristic" | "llm" | "heuristic_timeout">;

/** The depth of an answer. By context kept: D0 < D1 < D2 < D3; D4 is outside that order, it drops context. */
export type DepthLevel = Open<"D0" | "D1" | "D2" | "D3" | "D4">;

export type DocumentSubmittedTipo = Open<"text" | "markdown" | "html" | "pdf" | "profile">;

export type EntityType = Open<
  | "provision"
  | "ruling"
  | "case"
  | "act"
  | "person"
  | "organisation"
  | "date"
  | "place"
  | "any"
>;

export type ErrorCode = Open<
  | "contexto_ausente"
  | "contexto_expirado"
  | "valor_ambiguo"
  | "argumento_ausente"
  | "argumento_desconhecido"
  | "tipo_invalido"
  | "ferramenta_desconhecida"
  | "confirmacao_negada"
  | "confirmacao_expirada"
  | "indisponivel"
>;

export type EvidenceConflictResolution = Open<"open" | "a" | "b">;

export type InjectionSource = Open<
  | "mention"
  | "session"
  | "default"
  | "proposal"
  | "result"
  | "call"
  | "reference"
>;

export type JoinOpenedClassifier = Open<"heuristic" | "llm" | "heuristic_timeout">;

export type KnowledgeMemoryClass = Open<"semantic" | "episodic" | "procedural">;

export type LegalEntryTipo = Open<"processo" | "jurisprudencia" | "dispositivo">;

export type LookUp = Open<"auto" | "always" | "never">;

export type MemoryClass = Open<"working_set" | "persona" | "episodic" | "semantic" | "procedural" | "claims">;

export type MessageItemRole = Open<"user" | "assistant" | "system">;

export type NearMissReason = Open<"similarity" | "status" | "scope" | "corrected" | "penalised" | "evidence">;

/** The ten nodes of cognition, and its end. */
export type Node = Open<
  | "planner"
  | "theme_activator"
  | "dual_retriever"
  | "evidence_refiner"
  | "memory_check"
  | "reasoner"
  | "verifier"
  | "query_rewriter"
  | "integrator"
  | "memory_store"
  | "END"
>;

/** Whether a sub-question is divided further. */
export type NodeState = Open<"Continue" | "End">;

export type OptionName = Open<
  | "min_depth"
  | "max_depth"
  | "look_up"
  | "max_tokens"
  | "have"
  | "template"
  | "deep"
  | "wait_ms"
>;

export type PackDecisionEvidence = Open<"found" | "none">;

export type ParameterSource = Open<"message" | "history">;

export type PartReportStatus = Open<"ok" | "empty" | "timeout" | "error" | "skipped" | "missing">;

export type PartStatus = Open<"ok" | "empty" | "timeout" | "error" | "skipped">;

export type PassageKind = Open<"chunk" | "definition" | "concept" | "message" | "summary" | "event">;

export type PathLabel = Open<"Processo" | "Dispositivo" | "Jurisprudencia" | "Chunk" | "SubPergunta">;

export type QuarantineChangedState = Open<"quarantined" | "lifted">;

/** The purpose of a query. */
export type QueryType = Open<
  | "greeting"
  | "clarification"
  | "direct_question"
  | "architectural"
  | "implementation"
  | "review_request"
  | "debugging"
  | "other"
>;

export type QuestionKind = Open<"single" | "list" | "comparison" | "both" | "bridge" | "facets">;

export type Role = Open<"user" | "assistant" | "system">;

export type SearchKind = Open<"document" | "turn" | "summary" | "claim" | "event" | "process">;

export type SearchMadeEvidence = Open<"found" | "none">;

export type SearchResultRole = Open<"user" | "assistant">;

export type SignalName = Open<
  | "greeting"
  | "direct_question"
  | "anaphora"
  | "follow_up"
  | "explanation"
  | "how_to"
  | "disagreement"
  | "topic_shift"
  | "comparison"
  | "temporal"
  | "list_summary"
  | "command"
  | "doubt"
  | "feedback"
>;

export type SourceAnswerStatus = Open<"ok" | "empty" | "timeout" | "error">;

export type SourceKind = Open<"document" | "feed" | "conversation" | "user" | "message" | "claim">;

export type SourceName = Open<"local" | "global" | "lexical" | "vector" | "theme" | "conversations">;

export type ThemeLevel = Open<"macro" | "sub">;

export type TierName = Open<"minimal" | "standard" | "deep">;

export type TurnOriginRole = Open<"user" | "assistant">;

export type Verdict = Open<"resolved" | "error" | "confirmation_required">;

export type VerificationStatus = Open<"approved" | "rejected" | "abstain">;

export type Entry =
  | ChunkEntry
  | ConceptEntry
  | DefinitionEntry
  | ProcessEntry
  | ProfileEntry
  | LegalEntry;

export type Item =
  | MessageItem
  | SessionSummaryItem
  | ConversationSummary
  | TimePoint
  | Concept
  | Chunk
  | Knowledge
  | Process
  | Step
  | ClaimItem
  | Contradiction
  | Objective
  | PersonaItem;

/**
 * The answer to one question: exactly these four fields. Empty for an unroutable question.
 *
 * `chat.answer-given.v1`
 */
export interface AnswerGiven {
  status: string;
  results?: unknown;
  meta: AnswerMeta;
  answer: string;
}

/**
 * A user's question with exactly the four fields of the public contract.
 *
 * `chat.question-asked.v1`
 */
export interface AskPayload {
  /** a text; of a list of parts, that of its text parts */
  question: string;
  conversation_id: string;
  nickname?: string | null;
  client_id: string;
}

/**
 * A caller's request whether a query needs retrieval.
 *
 * `assessment.asked.v1`
 */
export interface AssessmentAsked {
  request_id: string;
  query: string;
  conversation_summary?: string;
  available_context?: string[];
}

/**
 * The answer to one request; `latency_ms` is the duration of the assessment itself, in milliseconds.
 *
 * `assessment.made.v1`
 */
export interface AssessmentMade {
  needs_deep_context: boolean;
  confidence: number;
  reason: string;
  recommended_action: Action;
  estimated_savings: number;
  query_type: QueryType;
  recommended_tier: TierName;
  recommended_tools?: RecommendedTool[];
  skip_tools?: SkippedTool[];
  depth_level: DepthLevel;
  request_id: string;
  classifier: AssessmentMadeClassifier;
  latency_ms: number;
}

/**
 * Any other decision worth keeping: a late part, a tool call, new weights, a penalty, an erasure, a quarantine.
 *
 * `conversation_id` and `client_id` name the conversation whose words `detail` quotes; what quotes none has neither.
 *
 * `memory.audit-recorded.v1`
 */
export interface AuditDecision {
  kind: AuditDecisionKind;
  id: string;
  actor: string;
  subject_id: string;
  detail: Record<string, unknown>;
  created_at: Timestamp;
  conversation_id?: string;
  client_id?: string;
}

/**
 * The chain as it stood: `previous` is the SHA-256 of the head before, absent in the first one.
 *
 * `previous_at` is when that one was sealed: while it is younger than its retention it must still be in the log.
 *
 * `audit.head-sealed.v1`
 */
export interface AuditHead {
  number: number;
  previous?: string;
  previous_at?: Timestamp;
  segments: SealedSegment[];
  sealed_at: Timestamp;
}

/**
 * A turn with its own ids: user, assistant or system; options count for a user's.
 *
 * `pack` false: it is remembered as said at `created_at`, and no pack is made and no answer given to a client for it.
 *
 * `chat.message-received.v1`
 */
export interface ChatMessage {
  min_depth?: DepthLevel;
  max_depth?: DepthLevel;
  look_up?: LookUp;
  max_tokens?: number;
  have?: string[];
  template?: string;
  deep?: boolean;
  wait_ms?: number;
  message_id?: string;
  role: Role;
  /** a text; of a list of parts, that of its text parts */
  content: string;
  conversation_id: string;
  client_id: string;
  created_at?: Timestamp;
  answers?: string;
  pack_id?: string;
  status?: string;
  intent?: string;
  entity?: string;
  results?: unknown;
  legacy_answer?: string;
  narrator_failed?: boolean;
  unroutable?: boolean;
  pack?: boolean;
}

/**
 * Somebody asserted subject-attribute-value; `source` orders assertions: the newest wins.
 *
 * Known to its user and the `audience`, who were there; `tenant_wide`: stated for no user; `shared`: by a policy.
 *
 * `memory.claim-asserted.v1`
 */
export interface ClaimAsserted {
  claim_id: string;
  author: ClaimAssertedAuthor;
  text: string;
  subject: string;
  attribute: string;
  value: string;
  functional: boolean;
  lang: string;
  message_id: string;
  conversation_id: string;
  client_id: string;
  user_id: string;
  frame_id: string;
  seq: number;
  confidence: number;
  status: ClaimStatus;
  asserted_at: Timestamp;
  source: Source;
  contradicts?: Conflict[];
  supersedes?: string[];
  audience?: string[];
  tenant_wide?: boolean;
  shared?: boolean;
}

/**
 * The state of a job after one of its nodes, or before one that `failed` and ended it; then the next node.
 *
 * `cognition.step-made.v1`
 */
export interface CognitionStep {
  job_id: string;
  step: number;
  node: Node;
  next: Node;
  state: CognitiveState;
  failed?: string;
}

/**
 * A question that was decomposed and answered, kept to be found again and corrected.
 *
 * `access_level` is the highest of what the answer was made from: nobody below it may find the answer again.
 * Only a question of the same `signature`, `scope` and case may reuse it.
 *
 * `memory.consultation-recorded.v1`
 */
export interface ConsultationRecorded {
  consulta_id: string;
  job_id?: string;
  pergunta_usuario: string;
  resposta_final: string;
  sub_perguntas?: SubQuestion[];
  verification_status: VerificationStatus;
  reused?: string[];
  usuario_id?: string;
  conversation_id?: string;
  client_id?: string;
  access_level: AccessLevel;
  lang: string;
  data: Timestamp;
  signature?: string;
  scope?: string;
  case_id?: string;
}

/**
 * The context for the answer to one message, within its token budget.
 *
 * `evidence`: whether memory, where searched, holds anything that helps to answer; `none` is a result, too. `text` is
 * the pack as Markdown for a prompt, by the template it names; `total_tokens_estimated` are its tokens in `tokenizer`.
 * `options` are the caller's, as in force.
 *
 * `context.pack-assembled.v1`
 */
export interface ContextPack {
  pack_id: string;
  /** Absent means 1. */
  revision?: number;
  plan_id: string;
  message_id: string;
  conversation_id: string;
  client_id: string;
  user_id: string;
  query: string;
  query_truncated?: boolean;
  lang: string;
  seq: number;
  frame_id: string;
  depth_level: DepthLevel;
  query_profile_used: string | null;
  query_profile_version?: number;
  strategy: string;
  special_instructions: string[];
  max_tokens: number;
  total_tokens_estimated: number;
  text?: string;
  template?: string;
  tokenizer?: string;
  sources?: PackSource[];
  working_set: WorkingSetSection;
  persona_context: PersonaContext;
  episodic?: EpisodicSection;
  semantic?: SemanticSection;
  claims?: ClaimsSection;
  procedural?: ProceduralSection;
  llm_instructions: string[];
  reconciliation?: Reconciliation;
  evidence?: ContextPackEvidence;
  degraded?: boolean;
  degraded_reasons?: string[];
  missing_sections?: string[];
  /** Absent means complete. */
  settled_by?: ContextPackSettledBy;
  parts?: PartReport[];
  dropped?: Dropped[];
  already_in_context?: RepeatedItem[];
  confidence: number;
  signals?: Signal[];
  assembled_at: Timestamp;
  latency_ms: number;
  request_id?: string;
  options?: AppliedOptions;
}

/**
 * A conversation to forget: all that was said in it before, in its order; said in again, it begins anew.
 *
 * With `user_id` also who that user is: the profile, and the votes on depth.
 *
 * `chat.conversation-forgotten.v1`
 */
export interface ConversationForgotten {
  conversation_id: string;
  client_id: string;
  forgotten: true;
  user_id?: string;
}

/**
 * A user contested something, which penalises `penalised_paths` by `peso`, or ruled on an own claim (`ruling`).
 *
 * `memory.correction-issued.v1`
 */
export interface CorrectionIssued {
  correction_id: string;
  kind: CorrectionIssuedKind;
  target_id: string;
  texto: string;
  usuario_id: string;
  tipo: CorrectionKind;
  new_value?: string;
  new_claim_id?: string;
  message_id?: string;
  conversation_id?: string;
  client_id?: string;
  penalised_paths?: string[];
  peso?: number;
  ruling?: ClaimRuling;
  issued_at: Timestamp;
  seq?: number;
}

/**
 * A user contests a claim or a consultation from outside a conversation.
 *
 * With a `ruling` the user takes the own claim back (`retract`), or says again that it holds (`confirm`).
 *
 * `memory.correction-submitted.v1`
 */
export interface CorrectionSubmitted {
  claim_id?: string;
  consulta_id?: string;
  texto: string;
  usuario_id: string;
  tipo: CorrectionKind;
  new_value?: string;
  ruling?: ClaimRuling;
  created_at?: Timestamp;
}

/**
 * The depth of one user message, with every signal and its evidence.
 *
 * `parameters` are its subjects, its own named last. `needs_nothing`: memory has nothing to add to the answer.
 * `context`: the parts of the conversation that the message depends on, searched with it. `segment` is the probability
 * that a new segment begins (0-1), `resets` whether earlier turns are to be ignored, too; both are absent in older
 * records. `options` are those in force. `overload`: more messages came than could be handled. `states`: the message
 * states something of its user's and asks nothing.
 *
 * `depth.message-classified.v1`
 */
export interface DepthClassified {
  message_id: string;
  conversation_id: string;
  client_id: string;
  user_id: string;
  query: string;
  depth_level: DepthLevel;
  confidence: number;
  signals: Signal[];
  candidates: DepthLevel[];
  classifier: DepthClassifiedClassifier;
  raised_from?: DepthLevel;
  how_to?: boolean;
  lang: string;
  seq: number;
  source: Source;
  frame_id: string;
  frame_opened?: boolean;
  anchor: Anchor;
  as_of: Timestamp;
  accepted_at: Timestamp;
  latency_ms: number;
  parameters?: Parameter[];
  needs_nothing?: boolean;
  context?: string;
  request_id?: string;
  tier?: TierName;
  resets?: boolean;
  segment?: number;
  options?: AppliedOptions;
  overload?: boolean;
  states?: boolean;
}

/**
 * One feedback as depth weighs it: for messages that show the same signs, this level was expected.
 *
 * A later vote of the same id replaces the earlier; `pattern` is what `pattern_of` makes of the signs.
 *
 * `memory.depth-voted.v1`
 */
export interface DepthVote {
  id: string;
  pattern: string;
  decided: DepthLevel;
  expected?: DepthLevel;
  rating: number;
  at: Timestamp;
  message_id: string;
  pack_id: string;
  user_id: string;
  reason?: string;
}

/**
 * A document to forget: nothing of it is offered from `created_at` on; submitted again it is there again.
 *
 * `knowledge.document-deleted.v1`
 */
export interface DocumentDeleted {
  document_id: string;
  deleted: true;
  created_at?: Timestamp;
}

/**
 * A document to remember, as text or as a file's bytes, or the profile of a user.
 *
 * `created_at` is the time of this version; what an earlier version had and this one has not is offered no more.
 *
 * `knowledge.document-submitted.v1`
 */
export interface DocumentSubmitted {
  document_id: string;
  title: string;
  text?: string;
  /** the file's bytes in base64, instead of text */
  data?: string;
  uri?: string;
  /** what it is; looked at where it is not said, or not so */
  tipo?: DocumentSubmittedTipo;
  /** Absent means public. */
  access_level?: AccessLevel;
  lang?: string;
  created_at?: Timestamp;
  profile?: Profile;
}

/**
 * A conversation to erase from every store: what stems from its messages up to `up_to_seq`, and nothing later.
 *
 * What has no place there is erased up to `issued_at`; with `user_id`, that user's profile and votes are erased, too.
 *
 * `memory.erasure-issued.v1`
 */
export interface ErasureIssued {
  erasure_id: string;
  conversation_id: string;
  client_id: string;
  asked_by: string;
  up_to_seq: number;
  issued_at: Timestamp;
  source: Source;
  user_id?: string;
}

/**
 * What a user thought of one pack: how good it was, 1 to 5, and how deep it should have gone.
 *
 * `depth.feedback-given.v1`
 */
export interface FeedbackGiven {
  message_id: string;
  pack_id: string;
  conversation_id: string;
  client_id: string;
  rating: number;
  expected_depth?: DepthLevel;
  reason?: string;
  created_at?: Timestamp;
}

/**
 * The plan's terms, on the partition where its parts arrive.
 *
 * `looks_up`: whether memory is searched for an answer to the message. It is absent in records from before 0.2, whose
 * packs are made again by the rules of that time. `profile` is stored in the graph with the decision. `selection`: the
 * version of the rules that select the pack's evidence; absent in records from before there was one. `states`: the
 * message asks nothing, so that a pack without evidence lacks nothing.
 *
 * `retrieval.join-opened.v1`
 */
export interface JoinOpened {
  plan_id: string;
  pack_id: string;
  message_id: string;
  conversation_id: string;
  client_id: string;
  user_id: string;
  query: string;
  lang: string;
  seq: number;
  source: Source;
  frame_id: string;
  as_of: Timestamp;
  accepted_at: Timestamp;
  depth_level: DepthLevel;
  strategy: string;
  query_profile: string | null;
  query_profile_version?: number;
  max_tokens: number;
  special_instructions: string[];
  deadline_at: Timestamp;
  tier?: TierName;
  request_id?: string;
  options?: AppliedOptions;
  kind: "open";
  wanted: MemoryClass[];
  confidence: number;
  classifier: JoinOpenedClassifier;
  signals: Signal[];
  profile?: QueryProfile;
  looks_up?: boolean;
  selection?: number;
  states?: boolean;
}

/**
 * A tick on a quiet partition: in the log, so that deadlines follow the log and a replay meets the same ones.
 *
 * `retrieval.join-ticked.v1`
 */
export interface JoinTicked {
  kind: "tick";
  at: Timestamp;
}

/**
 * What one document, or a batch of it, adds to memory, the same for the same content; without entries: deleted.
 *
 * `memory.knowledge-recorded.v1`
 */
export interface KnowledgeRecorded {
  document_id: string;
  title: string;
  uri?: string;
  content_hash: string;
  batch: number;
  /** how many there are; 0 when whoever wrote it did not say */
  batches?: number;
  entries?: Entry[];
  /** Absent means public. */
  access_level?: AccessLevel;
  temas?: Theme[];
  recorded_at: Timestamp;
}

/**
 * One `:CDCDecision`: what was decided for one message, and what it cost; `profile` where one was used.
 *
 * `memory.decision-recorded.v1`
 */
export interface PackDecision {
  kind: "pack";
  id: string;
  conversation_id: string;
  client_id: string;
  message_id: string;
  pack_id: string;
  plan_id: string;
  detected_signals: string[];
  depth_level: DepthLevel;
  query_profile_used: string | null;
  sources_retrieved: string[];
  tokens_used: number;
  latency_ms: number;
  created_at: Timestamp;
  confidence: number;
  classifier: string;
  strategy: string;
  degraded: boolean;
  profile?: QueryProfile;
  options?: AppliedOptions;
  seq?: number;
  evidence?: PackDecisionEvidence;
}

/**
 * All that a pack is made of, by the one task that asked for it: a pack is a pure function of this record.
 *
 * `parts` are those that came in time, each `earlier_ms` before `settled_at`; `previous` says which pack that the
 * caller still holds has an item already.
 *
 * `retrieval.pack-inputs.v1`
 */
export interface PackInputs {
  kind: "inputs";
  pack_id: string;
  message_id: string;
  terms: JoinOpened;
  parts: PartFound[];
  opened_at: Timestamp;
  settled_at: Timestamp;
  previous?: Record<string, string>;
}

/**
 * The answer of one memory class to one plan; every wanted class always answers.
 *
 * `dropped` are the best results below the relevance threshold. `earlier_ms` is how long a part that was sent with
 * others had waited for them.
 *
 * `retrieval.part-found.v1`
 */
export interface PartFound {
  kind: "part";
  plan_id: string;
  pack_id: string;
  message_id: string;
  memory_class: MemoryClass;
  status: PartStatus;
  items?: Item[];
  tokens?: number;
  error?: string;
  dropped?: Dropped[];
  earlier_ms?: number;
}

/**
 * The answers of several memory classes to one plan, by one process: what their parts would say one by one.
 *
 * `retrieval.parts-found.v1`
 */
export interface PartsFound {
  kind: "parts";
  plan_id: string;
  pack_id: string;
  message_id: string;
  parts: PartFound[];
}

/**
 * A source whose content goes into no pack from now on, or does again (`lifted`); nothing is deleted.
 *
 * `source_id` is the id of a document, a conversation (of `client_id`), a user, a message or a claim; of a feed the
 * beginning of its documents' ids. `messages` are hidden with it, and add to those of earlier events.
 *
 * `memory.quarantine-changed.v1`
 */
export interface QuarantineChanged {
  source_kind: SourceKind;
  source_id: string;
  client_id?: string;
  state: QuarantineChangedState;
  messages?: QuarantinedMessage[];
  reason?: string;
  asked_by: string;
  issued_at: Timestamp;
}

/**
 * The requests for one message, complete and exclusive.
 *
 * `context` is searched with the query, with less weight.
 *
 * `retrieval.plan-made.v1`
 */
export interface RetrievalPlan {
  plan_id: string;
  pack_id: string;
  message_id: string;
  conversation_id: string;
  client_id: string;
  user_id: string;
  query: string;
  lang: string;
  seq: number;
  source: Source;
  frame_id: string;
  as_of: Timestamp;
  accepted_at: Timestamp;
  depth_level: DepthLevel;
  strategy: string;
  query_profile: string | null;
  query_profile_version?: number;
  max_tokens: number;
  special_instructions: string[];
  deadline_at: Timestamp;
  tier?: TierName;
  request_id?: string;
  options?: AppliedOptions;
  sources: SourceRequest[];
  reset_frame?: boolean;
  anchor?: Anchor;
  parameters?: Parameter[];
  context?: string;
}

/**
 * A search of memory that leaves no trace in it: only what fits all of its filters is found.
 *
 * `limit` is the most results. `since` and `until` bound when something was recorded.
 *
 * `search.asked.v1`
 */
export interface SearchAsked {
  request_id: string;
  client_id: string;
  query: string;
  /** Absent means 10. */
  limit?: number;
  kind?: SearchKind;
  document_id?: string;
  conversation_id?: string;
  since?: Timestamp;
  until?: Timestamp;
}

/**
 * The results of one search, as the pack of the same question would choose them; `text` is for a prompt.
 *
 * `evidence` is `none` where memory answered and has nothing. `missing` are the classes of memory that did not answer.
 * `latency_ms` is the duration of the search itself.
 *
 * `search.made.v1`
 */
export interface SearchMade {
  request_id: string;
  user_id: string;
  query: string;
  lang: string;
  results: SearchResult[];
  evidence?: SearchMadeEvidence;
  degraded?: boolean;
  missing?: MemoryClass[];
  text: string;
  total_tokens: number;
  tokenizer: string;
  latency_ms: number;
}

/**
 * Extract of a stretch of one frame of a conversation, with its other users; a later one of one id replaces it.
 *
 * `memory.summary-made.v1`
 */
export interface SummaryMade {
  summary_id: string;
  conversation_id: string;
  client_id: string;
  user_id: string;
  frame_id: string;
  text: string;
  topic: string;
  terms: string[];
  lang: string;
  from_message: string;
  to_message: string;
  from_seq: number;
  to_seq: number;
  relevant_events?: EventMention[];
  made_at: Timestamp;
  quoted_users?: string[];
}

/**
 * An agent wants to call a tool.
 *
 * `tool.call-requested.v1`
 */
export interface ToolCallRequested {
  call_id: string;
  client_id: string;
  session_id: string;
  nome_tool: string;
  args?: Record<string, unknown>;
  message_id?: string;
}

/**
 * The verdict on one call; only one with `args_resolvidos` may be executed.
 *
 * `tool.call-resolved.v1`
 */
export interface ToolCallResolved {
  call_id: string;
  client_id: string;
  session_id: string;
  nome_tool: string;
  status: Verdict;
  args_resolvidos?: Record<string, unknown>;
  erro?: string;
  erro_codigo?: ErrorCode;
  sucesso?: boolean;
  resposta?: string;
  injections?: Injection[];
  preview?: Preview;
}

/**
 * A user's yes or no to a preview.
 *
 * `tool.confirmation.v1`
 */
export interface ToolConfirmation {
  call_id: string;
  client_id: string;
  session_id: string;
  approved: boolean;
  usuario_id: string;
}

/**
 * What a tool has done; `valores` names further values by their kind.
 *
 * `linhas` are rows of what it found, at most 50 of 32 single values: what may be offered to the user and meant later.
 *
 * `tool.result.v1`
 */
export interface ToolResult {
  call_id: string;
  client_id: string;
  session_id: string;
  nome_tool: string;
  args?: Record<string, unknown>;
  sucesso: boolean;
  report_id?: string;
  processo_referencia?: string;
  report_valid?: boolean;
  valores?: Record<string, string>;
  linhas?: Record<string, string | number | boolean | null>[];
}

/**
 * A turn accepted by the depth stage, validated once; ordered by `seq` in its conversation.
 *
 * An assistant's turn has the final answer as its content and the `depth_level` of the question; `references` are
 * those of the turn itself, `segment` the probability that an assistant's begins something new (0-1), absent where it
 * only answers. `user_named` is false where the record named no user: `user_id` is then the client's, or that of the
 * question. `pack` is false for a turn without a pack: no depth is decided for it.
 *
 * `chat.turn-accepted.v1`
 */
export interface Turn {
  message_id: string;
  role: Role;
  content: string;
  conversation_id: string;
  client_id: string;
  user_id: string;
  created_at: Timestamp;
  seq: number;
  frame_id: string;
  lang: string;
  source: Source;
  user_named?: boolean;
  depth_level?: DepthLevel;
  request_id?: string;
  answers?: string;
  pack_id?: string;
  status?: string;
  intent?: string;
  entity?: string;
  results?: unknown;
  legacy_answer?: string;
  narrator_failed?: boolean;
  unroutable?: boolean;
  references?: Reference[];
  link?: TurnLink;
  pack?: boolean;
  segment?: number;
}

/** Why there is no answer, and what is missing. */
export interface AbstainInfo {
  message: string;
  missing: string[];
  partial_answer?: string;
}

/** A theme of the tenant's documents that the question is about, and how much, 0-1. */
export interface ActiveTheme {
  theme_id: string;
  nome: string;
  nivel: ThemeLevel;
  peso: number;
}

/** The topic of a frame: its opening topic and the content words of it. */
export interface Anchor {
  topic: string;
  terms: string[];
}

/** The subject of an answer and its question; ids and names, never the text of a turn. */
export interface AnswerMeta {
  intent?: string | null;
  entity?: string | null;
  lang: string;
  frame_id: string;
  depth_level?: DepthLevel;
  answers?: string;
  pack_id?: string;
}

/**
 * The options in force for a message; `clamped` names those that the policy limited.
 *
 * `reason` says which level the words gave, where an option gave another one.
 */
export interface AppliedOptions {
  min_depth?: DepthLevel;
  max_depth?: DepthLevel;
  look_up?: LookUp;
  max_tokens?: number;
  have?: string[];
  template?: string;
  deep?: boolean;
  wait_ms?: number;
  clamped?: OptionName[];
  reason?: string;
}

/** One check of a claim: the verdict, what was expected and what was found (`cognition.checks`). */
export interface Check {
  number: number;
  verdict: Verdict;
  expected?: string;
  found?: string;
}

export interface Chunk {
  id: string;
  provenance: Provenance;
  recorded_at: Timestamp;
  /** Absent means public. */
  access_level?: AccessLevel;
  reason: string;
  score?: number;
  scores?: Record<string, number>;
  tokens?: number;
  truncated?: boolean;
  covers?: string[];
  type: "chunk";
  chunk_uid: string;
  document_id: string;
  title: string;
  text: string;
  position: number;
  page?: number;
}

/** A passage, of `block` where that was cut for its length; `context`, around it, is searched and never shown. */
export interface ChunkEntry {
  id: string;
  document_id: string;
  /** Absent means public. */
  access_level?: AccessLevel;
  recency: Timestamp;
  lang: string;
  kind: "chunk";
  title: string;
  text: string;
  position: number;
  context?: string;
  page?: number;
  block?: number;
  entities?: EntityMention[];
}

/** A sentence of an answer, taken from a passage: `text` is `passage[start:end]`, `cite` its `tipo:id`. */
export interface Claim {
  text: string;
  chunk_uid: string;
  start: number;
  end: number;
  cite: string;
}

/** A claim: subject, attribute and value as somebody asserted them; `user_id` where that is not who asks. */
export interface ClaimItem {
  id: string;
  provenance: Provenance;
  recorded_at: Timestamp;
  /** Absent means public. */
  access_level?: AccessLevel;
  reason: string;
  score?: number;
  scores?: Record<string, number>;
  tokens?: number;
  truncated?: boolean;
  covers?: string[];
  type: "claim";
  claim_id: string;
  author: ClaimItemAuthor;
  text: string;
  subject: string;
  attribute: string;
  value: string;
  message_id: string;
  confidence: number;
  status: ClaimStatus;
  user_id?: string;
}

/** The checks of one claim of an answer, and its support 0-1: 0 where a hard check fails. */
export interface ClaimVerdict {
  text: string;
  cite: string;
  checks: Check[];
  support: number;
}

export interface ClaimsSection {
  user_claims?: ClaimItem[];
  system_claims?: ClaimItem[];
  contradictions?: Contradiction[];
}

/** Which nodes do their work; the others pass the state on. */
export interface CognitionFlags {
  theme?: boolean;
  refinement?: boolean;
  memory?: boolean;
  /** Absent means True. */
  abstain?: boolean;
  verification?: boolean;
  hallucination_loop?: boolean;
}

/** What a run may spend; never changed within it. */
export interface CognitionLimits {
  /** Absent means 3. */
  max_depth?: number;
  /** Absent means 4. */
  max_children?: number;
  /** Absent means 1. */
  max_rethink?: number;
  /** Absent means 3. */
  max_searches_again?: number;
  /** Absent means 20. */
  max_llm_calls?: number;
  /** Absent means 0.5. */
  complexity_threshold?: number;
  /** Absent means 0.3. */
  abstain_threshold?: number;
  similarity_threshold?: number;
}

/**
 * The whole state of a run after a node; the log's copy is checkpoint, transport and replay log.
 *
 * What the user said since `talks_since` is evidence (absent: none). `penalties` multiply the scores of passages;
 * `answerable`: how likely a leaf's evidence has its answer; `refused`: rejected claims; `todo`: nodes to do again.
 */
export interface CognitiveState {
  query: string;
  lang: string;
  tenant_id: string;
  case_id?: string;
  scope: string;
  job_id: string;
  client_id: string;
  conversation_id: string;
  message_id: string;
  pack_id: string;
  frame_id: string;
  user_id: string;
  as_of: Timestamp;
  deadline_at: Timestamp;
  limits?: CognitionLimits;
  flags?: CognitionFlags;
  spent?: Spent;
  talks_since?: Timestamp;
  fallback?: boolean;
  mind_map?: CognitiveTree;
  temas?: ActiveTheme[];
  passages?: Record<string, EvidencePassage>;
  evidence_map?: Record<string, LeafEvidence[]>;
  sources?: SourceAnswer[];
  answerable?: Record<string, number>;
  bindings?: Record<string, string>;
  discarded?: string[];
  conflicts?: EvidenceConflict[];
  refined_evidence?: Record<string, LeafEvidence[]>;
  penalties?: Record<string, number>;
  similar_consultation?: string;
  near_misses?: NearMiss[];
  sub_answers?: Record<string, SubAnswer>;
  refused?: Claim[];
  verifications?: Record<string, Verification>;
  verification_status?: VerificationStatus;
  verification_issues?: string[];
  requires_new_search?: boolean;
  rethink_count?: number;
  rethinks?: Record<string, number>;
  searches_again?: Record<string, number>;
  queries?: Record<string, string>;
  queries_seen?: Record<string, string[]>;
  todo?: string[];
  sections?: Section[];
  integrated_response?: string;
  citations_used?: string[];
  abstain_info?: AbstainInfo;
}

/** A question divided into sub-questions: one root, no cycle, bounded depth and children. */
export interface CognitiveTree {
  root_question: string;
  conditions?: string[];
  nodes: Record<string, MindMapNode>;
  /** Absent means 3. */
  max_depth?: number;
  /** Absent means 4. */
  max_children?: number;
}

export interface Concept {
  id: string;
  provenance: Provenance;
  recorded_at: Timestamp;
  /** Absent means public. */
  access_level?: AccessLevel;
  reason: string;
  score?: number;
  scores?: Record<string, number>;
  tokens?: number;
  truncated?: boolean;
  covers?: string[];
  type: "concept";
  name: string;
  definition: string;
}

export interface ConceptEntry {
  id: string;
  document_id: string;
  /** Absent means public. */
  access_level?: AccessLevel;
  recency: Timestamp;
  lang: string;
  kind: "concept";
  name: string;
  definition: string;
  related?: string[];
}

/** An older claim that the new one cannot stand beside. */
export interface Conflict {
  claim_id: string;
  kind: ConflictKind;
  score: number;
}

/** Two claims that cannot both hold, with both sides and the current one; `user_id` where one is another user's. */
export interface Contradiction {
  id: string;
  provenance: Provenance;
  recorded_at: Timestamp;
  /** Absent means public. */
  access_level?: AccessLevel;
  reason: string;
  score?: number;
  scores?: Record<string, number>;
  tokens?: number;
  truncated?: boolean;
  covers?: string[];
  type: "contradiction";
  claim_id: string;
  contradicts: string;
  kind: string;
  status: ContradictionStatus;
  current?: string;
  explanation: string;
  user_id?: string;
}

/** An extractive summary of a part of a conversation; `previous` for that of another conversation. */
export interface ConversationSummary {
  id: string;
  provenance: Provenance;
  recorded_at: Timestamp;
  /** Absent means public. */
  access_level?: AccessLevel;
  reason: string;
  score?: number;
  scores?: Record<string, number>;
  tokens?: number;
  truncated?: boolean;
  covers?: string[];
  type: "conversation_summary";
  conversation_id: string;
  text: string;
  topic: string;
  from_seq: number;
  to_seq: number;
  /** Absent means current. */
  origin?: ConversationSummaryOrigin;
}

export interface DefinitionEntry {
  id: string;
  document_id: string;
  /** Absent means public. */
  access_level?: AccessLevel;
  recency: Timestamp;
  lang: string;
  kind: "definition";
  title: string;
  text: string;
  /** Absent means 1.0. */
  confidence?: number;
}

/** An item that was found but left out, and why. */
export interface Dropped {
  id: string;
  memory_class: MemoryClass;
  reason: string;
  tokens: number;
  score: number;
}

/** Who or what a passage names: a name, an acronym, a legal reference. */
export interface EntityMention {
  name: string;
  tipo: string;
}

export interface EpisodicSection {
  conversation_summaries?: ConversationSummary[];
  relevant_events?: TimePoint[];
}

/** A point in time that was talked about. */
export interface EventMention {
  id: string;
  label: string;
  at: Timestamp;
  kind: string;
  message_id: string;
}

/** Two passages that disagree about one sub-question; `spans` are the sentences, as character offsets in each. */
export interface EvidenceConflict {
  node_id: string;
  a: string;
  b: string;
  motivo: string;
  type: ConflictType;
  /** Absent means open. */
  resolution?: EvidenceConflictResolution;
  spans: number[][];
}

/** A passage, or a `turn` (`chunk_uid` is its message), kept once; `cite` is its `tipo:id` without brackets. */
export interface EvidencePassage {
  chunk_uid: string;
  text: string;
  title: string;
  document_id: string;
  cite: string;
  lang: string;
  recorded_at: Timestamp;
  /** Absent means public. */
  access_level?: AccessLevel;
  turn?: TurnOrigin;
}

/** A node that an answer came from, by label and id; `public` when it is shared with all tenants. */
export interface GraphRef {
  label: PathLabel;
  id: string;
  public?: boolean;
}

/**
 * A value that the call did not have: where it came from, and how old it was, in seconds.
 *
 * `evidence` is the message, or the call, that had it; a default has neither.
 */
export interface Injection {
  arg: string;
  value: unknown;
  source: InjectionSource;
  evidence?: string;
  age_seconds?: number;
}

/**
 * A known fact with its title; `holds`: true where it replaced an older value, which the reason names.
 *
 * `said_by`: another user of the tenant who said it, and nobody verified it.
 */
export interface Knowledge {
  id: string;
  provenance: Provenance;
  recorded_at: Timestamp;
  /** Absent means public. */
  access_level?: AccessLevel;
  reason: string;
  score?: number;
  scores?: Record<string, number>;
  tokens?: number;
  truncated?: boolean;
  covers?: string[];
  type: "knowledge";
  title: string;
  text: string;
  /** Absent means semantic. */
  memory_class?: KnowledgeMemoryClass;
  /** Absent means 1.0. */
  confidence?: number;
  holds?: boolean;
  said_by?: string;
}

/** A passage as evidence for one sub-question: score 0-1, sources, and the cosines of its sentences (`similar`). */
export interface LeafEvidence {
  chunk_uid: string;
  score: number;
  sources?: SourceName[];
  similar?: number[];
}

/** A case, a ruling or a provision that a document refers to; `texto` is the sentence that does. */
export interface LegalEntry {
  id: string;
  document_id: string;
  /** Absent means public. */
  access_level?: AccessLevel;
  recency: Timestamp;
  lang: string;
  kind: "legal";
  tipo: LegalEntryTipo;
  referencia: string;
  tribunal?: string;
  lei?: string;
  artigo?: string;
  texto: string;
  temas?: ThemeShare[];
}

/** One earlier message of the conversation, or the summary that replaces dropped ones. */
export interface MessageItem {
  id: string;
  provenance: Provenance;
  recorded_at: Timestamp;
  /** Absent means public. */
  access_level?: AccessLevel;
  reason: string;
  score?: number;
  scores?: Record<string, number>;
  tokens?: number;
  truncated?: boolean;
  covers?: string[];
  type: "message";
  message_id: string;
  role: MessageItemRole;
  content: string;
  created_at: Timestamp;
  seq: number;
  frame_id: string;
  meta?: Record<string, unknown>;
}

/**
 * One sub-question of the tree; `answer`, `evidence` (ids of passages) and `verified` are set late.
 *
 * `kind`: how its children's answers compose its own; `uses`: nodes that its question names by `#n` (`expects`: type).
 */
export interface MindMapNode {
  node_id: string;
  question: string;
  level: number;
  /** Absent means End. */
  state?: NodeState;
  parent_id?: string;
  children?: string[];
  /** Absent means single. */
  kind?: QuestionKind;
  uses?: string[];
  /** Absent means any. */
  expects?: EntityType;
  answer?: string;
  evidence?: string[];
  verified?: boolean;
}

/** An earlier consultation whose question has the same signature and which was yet not reused, and why. */
export interface NearMiss {
  consultation_id: string;
  similarity: number;
  reason: NearMissReason;
}

export interface Objective {
  id: string;
  provenance: Provenance;
  recorded_at: Timestamp;
  /** Absent means public. */
  access_level?: AccessLevel;
  reason: string;
  score?: number;
  scores?: Record<string, number>;
  tokens?: number;
  truncated?: boolean;
  covers?: string[];
  type: "objective";
  title: string;
  status: string;
}

export interface ObjectiveEntry {
  id: string;
  title: string;
  /** Absent means active. */
  status?: string;
}

/** A source that the text of a pack cites as `[number]`, and the items that stand under it. */
export interface PackSource {
  number: number;
  name: string;
  items: string[];
}

/** A subject of a message: named in it, or carried over from the earlier one that `message_id` names. */
export interface Parameter {
  kind: string;
  value: string;
  message_id: string;
  at: Timestamp;
  source: ParameterSource;
}

/** The answer of one wanted class: its status. */
export interface PartReport {
  memory_class: MemoryClass;
  status: PartReportStatus;
  items: number;
  latency_ms?: number;
  error?: string;
}

export interface PersonaContext {
  /** Absent means unknown. */
  user_role?: string;
  /** Absent means unknown. */
  department?: string;
  /** Absent means public. */
  access_level?: string;
  current_objectives?: Objective[];
  provenance?: Provenance;
  recorded_at?: Timestamp;
  /** Absent means persona is in every pack. */
  reason?: string;
  tokens?: number;
}

/** The user who asks: role, department, access level; unknown ones are `unknown` and `public`. */
export interface PersonaItem {
  id: string;
  provenance: Provenance;
  recorded_at: Timestamp;
  /** Absent means public. */
  access_level?: AccessLevel;
  reason: string;
  score?: number;
  scores?: Record<string, number>;
  tokens?: number;
  truncated?: boolean;
  covers?: string[];
  type: "persona";
  user_id: string;
  user_role: string;
  department: string;
  persona_access: AccessLevel;
}

/** What would be executed, for whoever has to say yes, by his id; `lang` is the language of the text. */
export interface Preview {
  texto: string;
  lang?: string;
  usuario_id?: string;
  args: Record<string, unknown>;
  expires_at: Timestamp;
}

export interface ProceduralSection {
  relevant_processes?: Process[];
  playbook_steps?: Step[];
}

export interface Process {
  id: string;
  provenance: Provenance;
  recorded_at: Timestamp;
  /** Absent means public. */
  access_level?: AccessLevel;
  reason: string;
  score?: number;
  scores?: Record<string, number>;
  tokens?: number;
  truncated?: boolean;
  covers?: string[];
  type: "process";
  name: string;
  how_to_terms?: string[];
}

export interface ProcessEntry {
  id: string;
  document_id: string;
  /** Absent means public. */
  access_level?: AccessLevel;
  recency: Timestamp;
  lang: string;
  kind: "process";
  name: string;
  how_to_terms: string[];
  steps: StepEntry[];
}

/** Who a user is: role, department, what they may see, what they are after. */
export interface Profile {
  user_id: string;
  /** Absent means unknown. */
  user_role?: string;
  /** Absent means unknown. */
  department?: string;
  /** Absent means public. */
  access_level?: AccessLevel;
  objectives?: ObjectiveEntry[];
}

export interface ProfileEntry {
  id: string;
  document_id: string;
  /** Absent means public. */
  access_level?: AccessLevel;
  recency: Timestamp;
  lang: string;
  kind: "profile";
  profile: Profile;
}

/** A query profile's limits for one source; `share` is of the level's budget. Absent: all kinds, of any age. */
export interface ProfileSource {
  memory_class: MemoryClass;
  selector: string;
  limit?: number;
  share: number;
  kinds?: PassageKind[];
  max_age_days?: number;
}

/** A place in the log (topic, partition, offset) or a record of a store (store, id); at least one of them. */
export interface Provenance {
  topic?: string;
  partition?: number;
  offset?: number;
  store?: string;
  id?: string;
}

/** A message of a conversation, by its id and its position there. */
export interface QuarantinedMessage {
  message_id: string;
  client_id: string;
  conversation_id: string;
  seq: number;
}

/** The request parameters of a level's sources: a name, a version and the parameters. */
export interface QueryProfile {
  name: string;
  version: number;
  sources: ProfileSource[];
}

/** A tool to call, and why; priority 1 is first. */
export interface RecommendedTool {
  name: string;
  reason: string;
  priority: number;
}

/** The claims that a D3 answer has to reconcile. */
export interface Reconciliation {
  claim_ids: string[];
  original_claim_id?: string;
}

/** Something named in a message, of a kind of the reference policy; `at` is the message's event time. */
export interface Reference {
  kind: string;
  value: string;
  message_id: string;
  at: Timestamp;
}

/** An item of a pack that the caller still holds: referred to, not injected again. */
export interface RepeatedItem {
  id: string;
  memory_class: MemoryClass;
  pack_id: string;
}

/**
 * Records of one partition, from `begin` up to before `end`; `before` and `after` are the chain's hashes there.
 *
 * `marks` holds the first four bytes of the hash after each record, in base64, so that the first changed record can be
 * named. `last_at` is the greatest time of a record: what is younger than its retention must still be in the log.
 */
export interface SealedSegment {
  topic: string;
  partition: number;
  begin: number;
  end: number;
  records: number;
  before: string;
  after: string;
  marks: string;
  last_at: Timestamp;
}

/**
 * Something found: its text, where it comes from, and why it was chosen; best first.
 *
 * `number` is that of its source in the text of all results. `user_id` is another user's who said it.
 */
export interface SearchResult {
  id: string;
  kind: SearchKind;
  memory_class: MemoryClass;
  title: string;
  text: string;
  score: number;
  tokens: number;
  reason: string;
  recorded_at: Timestamp;
  truncated?: boolean;
  number?: number;
  document_id?: string;
  page?: number;
  client_id?: string;
  conversation_id?: string;
  message_id?: string;
  role?: SearchResultRole;
  claim_id?: string;
  user_id?: string;
}

/** A section of the final answer. */
export interface Section {
  title: string;
  text: string;
}

export interface SemanticSection {
  concepts?: Concept[];
  knowledge_chunks?: Chunk[];
  definitions?: Knowledge[];
}

/** An extract of the turns that are no longer in the working set. */
export interface SessionSummaryItem {
  id: string;
  provenance: Provenance;
  recorded_at: Timestamp;
  /** Absent means public. */
  access_level?: AccessLevel;
  reason: string;
  score?: number;
  scores?: Record<string, number>;
  tokens?: number;
  truncated?: boolean;
  covers?: string[];
  type: "session_summary";
  text: string;
  to_seq: number;
}

/** One linguistic signal: the words that show it, the level it supports, its weight (0-1). */
export interface Signal {
  name: SignalName;
  evidence: string;
  level: DepthLevel;
  weight: number;
}

/** A tool not to call, and why. */
export interface SkippedTool {
  name: string;
  reason: string;
}

/** A position in the log. */
export interface Source {
  topic: string;
  partition: number;
  offset: number;
}

/** What one source answered to one sub-question. */
export interface SourceAnswer {
  node_id: string;
  source: SourceName;
  query: string;
  status: SourceAnswerStatus;
  found?: number;
  attempt?: number;
}

/**
 * One source of a plan: the class of memory, the selector of the level's plan, and the limits.
 *
 * `skip` is the reason for not asking it (the stage answers so); with `narrow` only direct results are wanted, none
 * related to them. Only results of these `kinds`, and recorded since `since`, count.
 */
export interface SourceRequest {
  memory_class: MemoryClass;
  selector: string;
  limit?: number | null;
  max_tokens: number;
  added_by?: string;
  skip?: string;
  narrow?: boolean;
  kinds?: PassageKind[];
  since?: Timestamp;
}

/** What a run has spent; it only grows. Of the calls, `llm_failed` gave nothing that could be used. */
export interface Spent {
  llm_calls?: number;
  llm_failed?: number;
  searches?: number;
  steps?: number;
}

export interface Step {
  id: string;
  provenance: Provenance;
  recorded_at: Timestamp;
  /** Absent means public. */
  access_level?: AccessLevel;
  reason: string;
  score?: number;
  scores?: Record<string, number>;
  tokens?: number;
  truncated?: boolean;
  covers?: string[];
  type: "step";
  process_id: string;
  process_name: string;
  order: number;
  text: string;
}

export interface StepEntry {
  id: string;
  order: number;
  text: string;
}

/** The answer to one node of the tree; `missing` says what it lacks, `confidence` is that of its weakest claim. */
export interface SubAnswer {
  node_id: string;
  status: AnswerStatus;
  text: string;
  claims?: Claim[];
  confidence?: number;
  missing?: string[];
  reused_from?: string;
}

/**
 * One node of the decomposition that was answered, with what the answer stands on.
 *
 * `signature` is that of its question (`core.cognition.signatures`); `evidence` are the passages read for it, cited or
 * not.
 */
export interface SubQuestion {
  node_id: string;
  texto: string;
  resposta: string;
  citacoes?: string[];
  parent_id?: string;
  uses?: GraphRef[];
  confidence: number;
  verified?: boolean;
  signature?: string;
  evidence?: string[];
}

/** What a document is about, and how much of it: a macro theme, or a sub-theme of the macro theme `pai`. */
export interface Theme {
  nome: string;
  nivel: ThemeLevel;
  descricao: string;
  pai?: string;
  relevancia: number;
}

/** A theme of the document, and how much of what is said belongs to it. */
export interface ThemeShare {
  nome: string;
  nivel: ThemeLevel;
  relevancia: number;
}

/**
 * A point in time that was mentioned, or one past message.
 *
 * `kind` is `message`, or the precision of the time: `minute`, `day`, `week`, `month`, `year`, `message_id` the
 * message that mentions it. `holds`: true where its value replaced an older one, false where a later message replaced
 * its value; `contests` are the messages that it corrects, which come and go with it.
 */
export interface TimePoint {
  id: string;
  provenance: Provenance;
  recorded_at: Timestamp;
  /** Absent means public. */
  access_level?: AccessLevel;
  reason: string;
  score?: number;
  scores?: Record<string, number>;
  tokens?: number;
  truncated?: boolean;
  covers?: string[];
  type: "time_point";
  label: string;
  at: Timestamp;
  kind: string;
  holds?: boolean;
  message_id?: string;
  contests?: string[];
}

/** What a user's turn does to earlier ones, `to`, which stated `old`: those words hold no more, but `new`. */
export interface TurnLink {
  kind: "corrects";
  to: string[];
  old?: string;
  new?: string;
}

/** Who said a turn, and in which conversation. */
export interface TurnOrigin {
  role: TurnOriginRole;
  client_id: string;
  conversation_id: string;
}

/** The verifier's word on one node; `query` is what to search for where evidence lacks. */
export interface Verification {
  node_id: string;
  status: VerificationStatus;
  needs_search?: boolean;
  query?: string;
  claims?: ClaimVerdict[];
}

export interface WorkingSetSection {
  recent_messages?: MessageItem[];
  session_summary?: string;
  session_summary_item?: SessionSummaryItem;
}

/** Every event, by its `ce_type`. */
export interface Events {
  "chat.answer-given.v1": AnswerGiven;
  "chat.question-asked.v1": AskPayload;
  "assessment.asked.v1": AssessmentAsked;
  "assessment.made.v1": AssessmentMade;
  "memory.audit-recorded.v1": AuditDecision;
  "audit.head-sealed.v1": AuditHead;
  "chat.message-received.v1": ChatMessage;
  "memory.claim-asserted.v1": ClaimAsserted;
  "cognition.step-made.v1": CognitionStep;
  "memory.consultation-recorded.v1": ConsultationRecorded;
  "context.pack-assembled.v1": ContextPack;
  "chat.conversation-forgotten.v1": ConversationForgotten;
  "memory.correction-issued.v1": CorrectionIssued;
  "memory.correction-submitted.v1": CorrectionSubmitted;
  "depth.message-classified.v1": DepthClassified;
  "memory.depth-voted.v1": DepthVote;
  "knowledge.document-deleted.v1": DocumentDeleted;
  "knowledge.document-submitted.v1": DocumentSubmitted;
  "memory.erasure-issued.v1": ErasureIssued;
  "depth.feedback-given.v1": FeedbackGiven;
  "retrieval.join-opened.v1": JoinOpened;
  "retrieval.join-ticked.v1": JoinTicked;
  "memory.knowledge-recorded.v1": KnowledgeRecorded;
  "memory.decision-recorded.v1": PackDecision;
  "retrieval.pack-inputs.v1": PackInputs;
  "retrieval.part-found.v1": PartFound;
  "retrieval.parts-found.v1": PartsFound;
  "memory.quarantine-changed.v1": QuarantineChanged;
  "retrieval.plan-made.v1": RetrievalPlan;
  "search.asked.v1": SearchAsked;
  "search.made.v1": SearchMade;
  "memory.summary-made.v1": SummaryMade;
  "tool.call-requested.v1": ToolCallRequested;
  "tool.call-resolved.v1": ToolCallResolved;
  "tool.confirmation.v1": ToolConfirmation;
  "tool.result.v1": ToolResult;
  "chat.turn-accepted.v1": Turn;
}
