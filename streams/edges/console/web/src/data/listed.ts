/** What the server says of conversations, memories, results of a search, documents and users. */

export interface Talk {
  conversation_id: string;
  client_id?: string;
  title?: string;
  questions: number;
  first_at: string;
  last_at: string;
  /** Absent where no pack was made for any of its messages, as for one that was imported. */
  last_level?: string;
  tokens: number[];
  degraded: number;
}

export interface ConversationsShown {
  conversations: Talk[];
  total: number;
  complete: boolean;
}

export type MemoryStatus = "holds" | "confirmed" | "contested" | "replaced" | "taken_back";

export interface Fact {
  memory_id: string;
  text: string;
  subject: string;
  attribute: string;
  value: string;
  author: "user" | "assistant";
  status: MemoryStatus;
  /** The facts that replaced or contest it. */
  by?: string[];
  said_at: string;
  user_id: string;
  client_id: string;
  conversation_id: string;
  message_id: string;
}

export interface MemoriesShown {
  memories: Fact[];
  next?: string;
}

export interface MemoryShown extends Fact {
  history: Fact[];
  edits: { kind: string; text: string; new_value?: string; user_id: string; at: string }[];
}

export interface SearchResult {
  id: string;
  kind: string;
  memory_class: string;
  title: string;
  text: string;
  score: number;
  tokens: number;
  reason: string;
  recorded_at: string;
  document_id?: string;
  page?: number;
  client_id?: string;
  conversation_id?: string;
  message_id?: string;
  role?: string;
}

export interface SearchMade {
  user_id: string;
  results: SearchResult[];
  evidence?: string;
  missing?: string[];
  total_tokens: number;
  latency_ms: number;
}

export interface DocumentShown {
  document_id: string;
  title: string;
  uri?: string;
  passages: number;
  recorded_at: string;
  quarantined?: true;
}

export interface DocumentsShown {
  documents: DocumentShown[];
  total: number;
  complete: boolean;
}

export interface DocumentUse {
  message_id: string;
  conversation_id: string;
  client_id: string;
  at: string;
  passages: number;
  tokens: number;
}

export interface UserShown {
  user_id: string;
  conversations: number;
  questions: number;
  last_at: string;
}

export interface UsersShown {
  users: UserShown[];
  total: number;
  complete: boolean;
}

/** A replay; `state` is told of the one that the server started last. */
export interface ReplayShown {
  replay_id: string;
  topics: Record<string, number>;
  /** Those that differed from the process's own. */
  settings: Record<string, string>;
  state?: "running" | "failed" | "done";
  why?: string;
}
