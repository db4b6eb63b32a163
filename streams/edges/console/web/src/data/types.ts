/** What the server says of a message: records of progress, the states they reduce to, packs, turns and decisions. */

export type Stage = "pack" | "cognition" | "tools";

export interface Operation {
  op: string;
  path: string;
  value?: unknown;
}

/** One event of `GET /events`, as its frame holds it. */
export interface ProgressRecord {
  job_id: string;
  message_id: string;
  stage: Stage;
  seq: number;
  prev_seq: number;
  type: string;
  node_id?: string | null;
  ts?: string;
  cograg_status?: string | null;
  data?: Record<string, unknown>;
  patch?: Operation[];
}

export type ClassState = "planned" | "asked" | "ok" | "empty" | "late" | "failed" | "skipped";
export type NodeState = "decomposing" | "pending" | "verified" | "failed" | "abstain";
export type Verdict = "pass" | "fail" | "warn" | "unverified";

export interface PackBudget {
  max_tokens?: number;
  used_tokens?: number;
  deadline_ms?: number;
  latency_ms?: number;
}

export interface PackNode {
  node_id: string;
  label?: string;
  state: ClassState;
  why?: string | null;
  latency_ms?: number | null;
  items?: number;
  tokens?: number;
}

export interface Provenance {
  topic?: string;
  partition?: number;
  offset?: number;
  store?: string;
  id?: string;
}

export interface KeptItem {
  item_id: string;
  section: string;
  title?: string;
  tokens?: number;
  score?: number;
  reason?: string;
  source?: Provenance | null;
}

export interface DroppedItem {
  item_id: string;
  section: string;
  reason: string;
  tokens?: number;
  score?: number;
  title?: string;
}

export interface PackState {
  job_id?: string;
  message_id?: string;
  status?: string;
  level?: string;
  question?: string;
  budget?: PackBudget;
  nodes?: Record<string, PackNode>;
  kept?: Record<string, KeptItem>;
  dropped?: Record<string, DroppedItem>;
  conflicts?: Record<string, Record<string, unknown>>;
}

export interface Check {
  number?: number;
  name: string;
  verdict: Verdict;
  expected?: unknown;
  found?: unknown;
}

export interface Claim {
  text: string;
  cite?: string;
  chunk_uid?: string;
  start?: number;
  end?: number;
  support?: number;
  checks?: Check[];
}

export interface CognitionNode {
  node_id: string;
  question?: string;
  parent_id?: string | null;
  children?: string[];
  level?: number;
  kind?: string;
  state: NodeState;
  evidence?: number;
  sources?: Record<string, { status: string; found?: number }>;
  conflict?: boolean;
  reused?: boolean;
  rethinks?: number;
  searches?: number;
  answer?: string | null;
  missing?: string[];
  claims?: Claim[];
}

export interface Passage {
  chunk_uid: string;
  title?: string;
  cite?: string;
  text?: string;
  document_id?: string;
}

export interface Conflict {
  node_id?: string;
  a?: unknown;
  b?: unknown;
  type?: string;
  resolution?: string;
  motivo?: string;
  spans?: number[][];
}

export interface CognitionState {
  job_id?: string;
  message_id?: string;
  status?: string;
  failed?: string | null;
  question?: string;
  conditions?: string[];
  nodes?: Record<string, CognitionNode>;
  passages?: Record<string, Passage>;
  themes?: unknown[];
  conflicts?: Record<string, Conflict>;
  budget?: Record<string, number>;
  reuse?: string | null;
  /** Earlier answers that are not given again, and passages that count less, since they were corrected. */
  corrections?: { consultations?: string[]; passages?: Record<string, { cite?: string; title?: string; factor?: number }> };
  sections?: { title: string; text: string }[];
  citations?: unknown[];
  missing?: string[];
  answer_status?: "answered" | "partial" | "abstained";
}

/** All that is known of a message so far. */
export interface Picture {
  pack: PackState | null;
  cognition: CognitionState | null;
  /** Absent before the first verdict. */
  tools?: ToolsState | null;
}

/** The verdicts of the gate on the calls for a message, by call. */
export interface ToolsState {
  job_id?: string;
  calls?: Record<string, ToolVerdict>;
}

export interface ToolVerdict {
  call_id: string;
  tool_name: string;
  status: "resolved" | "error" | "confirmation_required";
  arguments: Record<string, unknown> | null;
  error: string | null;
  /** What the user is asked to say yes to. */
  preview: string | null;
  /** Values that the call did not have, and where each came from. */
  taken: { arg: string; value: unknown; source: string }[];
}

export interface Snapshot extends Partial<Picture> {
  message_id?: string;
}

/** An item of a pack: which fields it has depends on its type. */
export interface PackItem {
  id: string;
  type: string;
  provenance?: Provenance;
  recorded_at?: string;
  reason?: string;
  score?: number;
  tokens?: number;
  truncated?: boolean;
  [field: string]: unknown;
}

/** The parts of a context pack that the console shows. */
export interface ContextPack {
  pack_id: string;
  message_id: string;
  conversation_id: string;
  client_id: string;
  user_id: string;
  query: string;
  depth_level: string;
  strategy: string;
  query_profile_used?: string | null;
  max_tokens: number;
  total_tokens_estimated: number;
  text?: string;
  evidence?: string;
  degraded: boolean;
  degraded_reasons?: string[];
  missing_sections?: string[];
  settled_by?: string;
  confidence: number;
  latency_ms: number;
  assembled_at: string;
  parts?: { memory_class: string; status: string; items: number; latency_ms?: number; error?: string }[];
  dropped?: { id: string; memory_class: string; reason: string; tokens?: number; score?: number }[];
  signals?: { name: string; evidence: string; level: string; weight: number }[];
  sources?: { number: number; name: string; items: string[] }[];
  persona_context?: Record<string, unknown>;
  [section: string]: unknown;
}

export interface Turn {
  message_id: string;
  role: string;
  content: string;
  created_at: string;
  user_id: string;
  seq: number;
  depth_level?: string;
  answers?: string;
}

export interface PackDecision {
  message_id: string;
  depth_level: string;
  query_profile_used?: string | null;
  strategy: string;
  tokens_used: number;
  latency_ms: number;
  degraded: boolean;
  confidence: number;
  detected_signals: string[];
}

export interface ConversationShown {
  client_id: string;
  conversation_id: string;
  complete: boolean;
  turns: Turn[];
  decisions: PackDecision[];
}

export interface DecisionFigures {
  depths: Record<string, number>;
  messages: number;
  tokens: { p50: number; mean: number };
  latency_ms: { p50: number; p95: number };
  degraded: number;
  corrections: number;
}

export interface DecisionDay extends DecisionFigures {
  day: string;
}

export interface DecisionsShown {
  days: DecisionDay[];
  /** Where all is of less than two days. */
  hours?: (DecisionFigures & { hour: string })[];
  latest: {
    message_id: string;
    conversation_id: string;
    client_id?: string;
    at: string;
    level: string;
    question?: string;
    tokens: number;
    latency_ms: number;
    degraded: boolean;
  }[];
}

export interface LagOf {
  status: string;
  lag: number;
  why: string;
}

export interface GroupLag extends LagOf {
  group: string;
  members: number;
  partitions: (LagOf & { partition: string })[];
}

/** `over_budget`: the other pack found it, and had no room for it. */
export interface ChangedItem {
  section: string;
  title: string;
  over_budget: boolean;
}

export interface ReplayChange {
  message_id: string;
  query: string;
  depth: [string, string];
  tokens: [number, number];
  evidence: [boolean, boolean];
  sources_gained: string[];
  sources_lost: string[];
  items_gained: ChangedItem[];
  items_lost: ChangedItem[];
}

export interface ReplayDifference {
  compared: number;
  different: number;
  only_replayed: number;
  depths: { was: string; now: string; messages: number }[];
  sources: Record<string, Record<string, number>>;
  items: Record<string, Record<string, number>>;
  tokens: { was: number; now: number };
  evidence: { gained: number; lost: number };
  degraded: { was: number; now: number };
  over_budget: { was: number; now: number };
  latency_ms: Record<"was" | "now", Record<"p50" | "p95", number | null>>;
  changes: ReplayChange[];
  changes_left_out: number;
}
