// Code generated from the schemas by `make docs`. DO NOT EDIT.

package fathom

import "encoding/json"

// AccessLevel: one of the values below, or one that a newer Fathom knows.
type AccessLevel string

const (
	AccessLevelPublic       AccessLevel = "public"
	AccessLevelInternal     AccessLevel = "internal"
	AccessLevelRestricted   AccessLevel = "restricted"
	AccessLevelConfidential AccessLevel = "confidential"
)

// Action: one of the values below, or one that a newer Fathom knows.
type Action string

const (
	ActionRespondDirectly Action = "respond_directly"
	ActionSearchContext   Action = "search_context"
	ActionDeepRetrieval   Action = "deep_retrieval"
)

// AnswerStatus: one of the values below, or one that a newer Fathom knows.
type AnswerStatus string

const (
	AnswerStatusAnswered  AnswerStatus = "answered"
	AnswerStatusPartial   AnswerStatus = "partial"
	AnswerStatusAbstained AnswerStatus = "abstained"
)

// AssessmentMadeClassifier: one of the values below, or one that a newer Fathom knows.
type AssessmentMadeClassifier string

const (
	AssessmentMadeClassifierHeuristic        AssessmentMadeClassifier = "heuristic"
	AssessmentMadeClassifierHeuristicTimeout AssessmentMadeClassifier = "heuristic_timeout"
	AssessmentMadeClassifierEngine           AssessmentMadeClassifier = "engine"
	AssessmentMadeClassifierLLM              AssessmentMadeClassifier = "llm"
)

// AuditDecisionKind: one of the values below, or one that a newer Fathom knows.
type AuditDecisionKind string

const (
	AuditDecisionKindLatePart         AuditDecisionKind = "late-part"
	AuditDecisionKindTool             AuditDecisionKind = "tool"
	AuditDecisionKindWeights          AuditDecisionKind = "weights"
	AuditDecisionKindPenalty          AuditDecisionKind = "penalty"
	AuditDecisionKindErasure          AuditDecisionKind = "erasure"
	AuditDecisionKindSubjectErasure   AuditDecisionKind = "subject-erasure"
	AuditDecisionKindQuarantine       AuditDecisionKind = "quarantine"
	AuditDecisionKindQuarantineLifted AuditDecisionKind = "quarantine-lifted"
)

// ClaimAssertedAuthor: one of the values below, or one that a newer Fathom knows.
type ClaimAssertedAuthor string

const (
	ClaimAssertedAuthorUser   ClaimAssertedAuthor = "user"
	ClaimAssertedAuthorSystem ClaimAssertedAuthor = "system"
)

// ClaimItemAuthor: one of the values below, or one that a newer Fathom knows.
type ClaimItemAuthor string

const (
	ClaimItemAuthorUser   ClaimItemAuthor = "user"
	ClaimItemAuthorSystem ClaimItemAuthor = "system"
)

// ClaimRuling: one of the values below, or one that a newer Fathom knows.
type ClaimRuling string

const (
	ClaimRulingRetract ClaimRuling = "retract"
	ClaimRulingConfirm ClaimRuling = "confirm"
)

// ClaimStatus: one of the values below, or one that a newer Fathom knows.
type ClaimStatus string

const (
	ClaimStatusAsserted   ClaimStatus = "asserted"
	ClaimStatusContested  ClaimStatus = "contested"
	ClaimStatusSuperseded ClaimStatus = "superseded"
	ClaimStatusConfirmed  ClaimStatus = "confirmed"
	ClaimStatusRetracted  ClaimStatus = "retracted"
)

// ConflictKind: one of the values below, or one that a newer Fathom knows.
type ConflictKind string

const (
	ConflictKindCorrection ConflictKind = "correction"
	ConflictKindNewerValue ConflictKind = "newer_value"
	ConflictKindNegation   ConflictKind = "negation"
)

// ConflictType: one of the values below, or one that a newer Fathom knows.
type ConflictType string

const (
	ConflictTypePolarity ConflictType = "polarity"
	ConflictTypeNumber   ConflictType = "number"
	ConflictTypeDate     ConflictType = "date"
	ConflictTypeOutcome  ConflictType = "outcome"
	ConflictTypeRank     ConflictType = "rank"
	ConflictTypeTemporal ConflictType = "temporal"
)

// ContextPackEvidence: one of the values below, or one that a newer Fathom knows.
type ContextPackEvidence string

const (
	ContextPackEvidenceFound ContextPackEvidence = "found"
	ContextPackEvidenceNone  ContextPackEvidence = "none"
)

// ContextPackSettledBy: one of the values below, or one that a newer Fathom knows.
type ContextPackSettledBy string

const (
	ContextPackSettledByComplete ContextPackSettledBy = "complete"
	ContextPackSettledByDeadline ContextPackSettledBy = "deadline"
)

// ContradictionStatus: one of the values below, or one that a newer Fathom knows.
type ContradictionStatus string

const (
	ContradictionStatusPendingReconciliation ContradictionStatus = "pending_reconciliation"
	ContradictionStatusResolved              ContradictionStatus = "resolved"
)

// ConversationSummaryOrigin: one of the values below, or one that a newer Fathom knows.
type ConversationSummaryOrigin string

const (
	ConversationSummaryOriginCurrent  ConversationSummaryOrigin = "current"
	ConversationSummaryOriginPrevious ConversationSummaryOrigin = "previous"
)

// CorrectionIssuedKind: one of the values below, or one that a newer Fathom knows.
type CorrectionIssuedKind string

const (
	CorrectionIssuedKindClaim    CorrectionIssuedKind = "claim"
	CorrectionIssuedKindConsulta CorrectionIssuedKind = "consulta"
)

// CorrectionKind: one of the values below, or one that a newer Fathom knows.
type CorrectionKind string

const (
	CorrectionKindFactual    CorrectionKind = "factual"
	CorrectionKindJuridico   CorrectionKind = "juridico"
	CorrectionKindFormatacao CorrectionKind = "formatacao"
)

// DepthClassifiedClassifier: one of the values below, or one that a newer Fathom knows.
type DepthClassifiedClassifier string

const (
	DepthClassifiedClassifierHeuristic        DepthClassifiedClassifier = "heuristic"
	DepthClassifiedClassifierLLM              DepthClassifiedClassifier = "llm"
	DepthClassifiedClassifierHeuristicTimeout DepthClassifiedClassifier = "heuristic_timeout"
)

// DepthLevel: The depth of an answer. By context kept: D0 < D1 < D2 < D3; D4 is outside that order, it drops context.
type DepthLevel string

const (
	DepthLevelD0 DepthLevel = "D0"
	DepthLevelD1 DepthLevel = "D1"
	DepthLevelD2 DepthLevel = "D2"
	DepthLevelD3 DepthLevel = "D3"
	DepthLevelD4 DepthLevel = "D4"
)

// DocumentSubmittedTipo: one of the values below, or one that a newer Fathom knows.
type DocumentSubmittedTipo string

const (
	DocumentSubmittedTipoText     DocumentSubmittedTipo = "text"
	DocumentSubmittedTipoMarkdown DocumentSubmittedTipo = "markdown"
	DocumentSubmittedTipoHtml     DocumentSubmittedTipo = "html"
	DocumentSubmittedTipoPdf      DocumentSubmittedTipo = "pdf"
	DocumentSubmittedTipoProfile  DocumentSubmittedTipo = "profile"
)

// EntityType: one of the values below, or one that a newer Fathom knows.
type EntityType string

const (
	EntityTypeProvision    EntityType = "provision"
	EntityTypeRuling       EntityType = "ruling"
	EntityTypeCase         EntityType = "case"
	EntityTypeAct          EntityType = "act"
	EntityTypePerson       EntityType = "person"
	EntityTypeOrganisation EntityType = "organisation"
	EntityTypeDate         EntityType = "date"
	EntityTypePlace        EntityType = "place"
	EntityTypeAny          EntityType = "any"
)

// ErrorCode: one of the values below, or one that a newer Fathom knows.
type ErrorCode string

const (
	ErrorCodeContextoAusente        ErrorCode = "contexto_ausente"
	ErrorCodeContextoExpirado       ErrorCode = "contexto_expirado"
	ErrorCodeValorAmbiguo           ErrorCode = "valor_ambiguo"
	ErrorCodeArgumentoAusente       ErrorCode = "argumento_ausente"
	ErrorCodeArgumentoDesconhecido  ErrorCode = "argumento_desconhecido"
	ErrorCodeTipoInvalido           ErrorCode = "tipo_invalido"
	ErrorCodeFerramentaDesconhecida ErrorCode = "ferramenta_desconhecida"
	ErrorCodeConfirmacaoNegada      ErrorCode = "confirmacao_negada"
	ErrorCodeConfirmacaoExpirada    ErrorCode = "confirmacao_expirada"
	ErrorCodeIndisponivel           ErrorCode = "indisponivel"
)

// EvidenceConflictResolution: one of the values below, or one that a newer Fathom knows.
type EvidenceConflictResolution string

const (
	EvidenceConflictResolutionOpen EvidenceConflictResolution = "open"
	EvidenceConflictResolutionA    EvidenceConflictResolution = "a"
	EvidenceConflictResolutionB    EvidenceConflictResolution = "b"
)

// InjectionSource: one of the values below, or one that a newer Fathom knows.
type InjectionSource string

const (
	InjectionSourceMention   InjectionSource = "mention"
	InjectionSourceSession   InjectionSource = "session"
	InjectionSourceDefault   InjectionSource = "default"
	InjectionSourceProposal  InjectionSource = "proposal"
	InjectionSourceResult    InjectionSource = "result"
	InjectionSourceCall      InjectionSource = "call"
	InjectionSourceReference InjectionSource = "reference"
)

// JoinOpenedClassifier: one of the values below, or one that a newer Fathom knows.
type JoinOpenedClassifier string

const (
	JoinOpenedClassifierHeuristic        JoinOpenedClassifier = "heuristic"
	JoinOpenedClassifierLLM              JoinOpenedClassifier = "llm"
	JoinOpenedClassifierHeuristicTimeout JoinOpenedClassifier = "heuristic_timeout"
)

// KnowledgeMemoryClass: one of the values below, or one that a newer Fathom knows.
type KnowledgeMemoryClass string

const (
	KnowledgeMemoryClassSemantic   KnowledgeMemoryClass = "semantic"
	KnowledgeMemoryClassEpisodic   KnowledgeMemoryClass = "episodic"
	KnowledgeMemoryClassProcedural KnowledgeMemoryClass = "procedural"
)

// LegalEntryTipo: one of the values below, or one that a newer Fathom knows.
type LegalEntryTipo string

const (
	LegalEntryTipoProcesso       LegalEntryTipo = "processo"
	LegalEntryTipoJurisprudencia LegalEntryTipo = "jurisprudencia"
	LegalEntryTipoDispositivo    LegalEntryTipo = "dispositivo"
)

// LookUp: one of the values below, or one that a newer Fathom knows.
type LookUp string

const (
	LookUpAuto   LookUp = "auto"
	LookUpAlways LookUp = "always"
	LookUpNever  LookUp = "never"
)

// MemoryClass: one of the values below, or one that a newer Fathom knows.
type MemoryClass string

const (
	MemoryClassWorkingSet MemoryClass = "working_set"
	MemoryClassPersona    MemoryClass = "persona"
	MemoryClassEpisodic   MemoryClass = "episodic"
	MemoryClassSemantic   MemoryClass = "semantic"
	MemoryClassProcedural MemoryClass = "procedural"
	MemoryClassClaims     MemoryClass = "claims"
)

// MessageItemRole: one of the values below, or one that a newer Fathom knows.
type MessageItemRole string

const (
	MessageItemRoleUser      MessageItemRole = "user"
	MessageItemRoleAssistant MessageItemRole = "assistant"
	MessageItemRoleSystem    MessageItemRole = "system"
)

// NearMissReason: one of the values below, or one that a newer Fathom knows.
type NearMissReason string

const (
	NearMissReasonSimilarity NearMissReason = "similarity"
	NearMissReasonStatus     NearMissReason = "status"
	NearMissReasonScope      NearMissReason = "scope"
	NearMissReasonCorrected  NearMissReason = "corrected"
	NearMissReasonPenalised  NearMissReason = "penalised"
	NearMissReasonEvidence   NearMissReason = "evidence"
)

// Node: The ten nodes of cognition, and its end.
type Node string

const (
	NodePlanner         Node = "planner"
	NodeThemeActivator  Node = "theme_activator"
	NodeDualRetriever   Node = "dual_retriever"
	NodeEvidenceRefiner Node = "evidence_refiner"
	NodeMemoryCheck     Node = "memory_check"
	NodeReasoner        Node = "reasoner"
	NodeVerifier        Node = "verifier"
	NodeQueryRewriter   Node = "query_rewriter"
	NodeIntegrator      Node = "integrator"
	NodeMemoryStore     Node = "memory_store"
	NodeEND             Node = "END"
)

// NodeState: Whether a sub-question is divided further.
type NodeState string

const (
	NodeStateContinue NodeState = "Continue"
	NodeStateEnd      NodeState = "End"
)

// OptionName: one of the values below, or one that a newer Fathom knows.
type OptionName string

const (
	OptionNameMinDepth  OptionName = "min_depth"
	OptionNameMaxDepth  OptionName = "max_depth"
	OptionNameLookUp    OptionName = "look_up"
	OptionNameMaxTokens OptionName = "max_tokens"
	OptionNameHave      OptionName = "have"
	OptionNameTemplate  OptionName = "template"
	OptionNameDeep      OptionName = "deep"
	OptionNameWaitMs    OptionName = "wait_ms"
)

// PackDecisionEvidence: one of the values below, or one that a newer Fathom knows.
type PackDecisionEvidence string

const (
	PackDecisionEvidenceFound PackDecisionEvidence = "found"
	PackDecisionEvidenceNone  PackDecisionEvidence = "none"
)

// ParameterSource: one of the values below, or one that a newer Fathom knows.
type ParameterSource string

const (
	ParameterSourceMessage ParameterSource = "message"
	ParameterSourceHistory ParameterSource = "history"
)

// PartReportStatus: one of the values below, or one that a newer Fathom knows.
type PartReportStatus string

const (
	PartReportStatusOk      PartReportStatus = "ok"
	PartReportStatusEmpty   PartReportStatus = "empty"
	PartReportStatusTimeout PartReportStatus = "timeout"
	PartReportStatusError   PartReportStatus = "error"
	PartReportStatusSkipped PartReportStatus = "skipped"
	PartReportStatusMissing PartReportStatus = "missing"
)

// PartStatus: one of the values below, or one that a newer Fathom knows.
type PartStatus string

const (
	PartStatusOk      PartStatus = "ok"
	PartStatusEmpty   PartStatus = "empty"
	PartStatusTimeout PartStatus = "timeout"
	PartStatusError   PartStatus = "error"
	PartStatusSkipped PartStatus = "skipped"
)

// PassageKind: one of the values below, or one that a newer Fathom knows.
type PassageKind string

const (
	PassageKindChunk      PassageKind = "chunk"
	PassageKindDefinition PassageKind = "definition"
	PassageKindConcept    PassageKind = "concept"
	PassageKindMessage    PassageKind = "message"
	PassageKindSummary    PassageKind = "summary"
	PassageKindEvent      PassageKind = "event"
)

// PathLabel: one of the values below, or one that a newer Fathom knows.
type PathLabel string

const (
	PathLabelProcesso       PathLabel = "Processo"
	PathLabelDispositivo    PathLabel = "Dispositivo"
	PathLabelJurisprudencia PathLabel = "Jurisprudencia"
	PathLabelChunk          PathLabel = "Chunk"
	PathLabelSubPergunta    PathLabel = "SubPergunta"
)

// QuarantineChangedState: one of the values below, or one that a newer Fathom knows.
type QuarantineChangedState string

const (
	QuarantineChangedStateQuarantined QuarantineChangedState = "quarantined"
	QuarantineChangedStateLifted      QuarantineChangedState = "lifted"
)

// QueryType: The purpose of a query.
type QueryType string

const (
	QueryTypeGreeting       QueryType = "greeting"
	QueryTypeClarification  QueryType = "clarification"
	QueryTypeDirectQuestion QueryType = "direct_question"
	QueryTypeArchitectural  QueryType = "architectural"
	QueryTypeImplementation QueryType = "implementation"
	QueryTypeReviewRequest  QueryType = "review_request"
	QueryTypeDebugging      QueryType = "debugging"
	QueryTypeOther          QueryType = "other"
)

// QuestionKind: one of the values below, or one that a newer Fathom knows.
type QuestionKind string

const (
	QuestionKindSingle     QuestionKind = "single"
	QuestionKindList       QuestionKind = "list"
	QuestionKindComparison QuestionKind = "comparison"
	QuestionKindBoth       QuestionKind = "both"
	QuestionKindBridge     QuestionKind = "bridge"
	QuestionKindFacets     QuestionKind = "facets"
)

// Role: one of the values below, or one that a newer Fathom knows.
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
)

// SearchKind: one of the values below, or one that a newer Fathom knows.
type SearchKind string

const (
	SearchKindDocument SearchKind = "document"
	SearchKindTurn     SearchKind = "turn"
	SearchKindSummary  SearchKind = "summary"
	SearchKindClaim    SearchKind = "claim"
	SearchKindEvent    SearchKind = "event"
	SearchKindProcess  SearchKind = "process"
)

// SearchMadeEvidence: one of the values below, or one that a newer Fathom knows.
type SearchMadeEvidence string

const (
	SearchMadeEvidenceFound SearchMadeEvidence = "found"
	SearchMadeEvidenceNone  SearchMadeEvidence = "none"
)

// SearchResultRole: one of the values below, or one that a newer Fathom knows.
type SearchResultRole string

const (
	SearchResultRoleUser      SearchResultRole = "user"
	SearchResultRoleAssistant SearchResultRole = "assistant"
)

// SignalName: one of the values below, or one that a newer Fathom knows.
type SignalName string

const (
	SignalNameGreeting       SignalName = "greeting"
	SignalNameDirectQuestion SignalName = "direct_question"
	SignalNameAnaphora       SignalName = "anaphora"
	SignalNameFollowUp       SignalName = "follow_up"
	SignalNameExplanation    SignalName = "explanation"
	SignalNameHowTo          SignalName = "how_to"
	SignalNameDisagreement   SignalName = "disagreement"
	SignalNameTopicShift     SignalName = "topic_shift"
	SignalNameComparison     SignalName = "comparison"
	SignalNameTemporal       SignalName = "temporal"
	SignalNameListSummary    SignalName = "list_summary"
	SignalNameCommand        SignalName = "command"
	SignalNameDoubt          SignalName = "doubt"
	SignalNameFeedback       SignalName = "feedback"
)

// SourceAnswerStatus: one of the values below, or one that a newer Fathom knows.
type SourceAnswerStatus string

const (
	SourceAnswerStatusOk      SourceAnswerStatus = "ok"
	SourceAnswerStatusEmpty   SourceAnswerStatus = "empty"
	SourceAnswerStatusTimeout SourceAnswerStatus = "timeout"
	SourceAnswerStatusError   SourceAnswerStatus = "error"
)

// SourceKind: one of the values below, or one that a newer Fathom knows.
type SourceKind string

const (
	SourceKindDocument     SourceKind = "document"
	SourceKindFeed         SourceKind = "feed"
	SourceKindConversation SourceKind = "conversation"
	SourceKindUser         SourceKind = "user"
	SourceKindMessage      SourceKind = "message"
	SourceKindClaim        SourceKind = "claim"
)

// SourceName: one of the values below, or one that a newer Fathom knows.
type SourceName string

const (
	SourceNameLocal         SourceName = "local"
	SourceNameGlobal        SourceName = "global"
	SourceNameLexical       SourceName = "lexical"
	SourceNameVector        SourceName = "vector"
	SourceNameTheme         SourceName = "theme"
	SourceNameConversations SourceName = "conversations"
)

// ThemeLevel: one of the values below, or one that a newer Fathom knows.
type ThemeLevel string

const (
	ThemeLevelMacro ThemeLevel = "macro"
	ThemeLevelSub   ThemeLevel = "sub"
)

// TierName: one of the values below, or one that a newer Fathom knows.
type TierName string

const (
	TierNameMinimal  TierName = "minimal"
	TierNameStandard TierName = "standard"
	TierNameDeep     TierName = "deep"
)

// TurnOriginRole: one of the values below, or one that a newer Fathom knows.
type TurnOriginRole string

const (
	TurnOriginRoleUser      TurnOriginRole = "user"
	TurnOriginRoleAssistant TurnOriginRole = "assistant"
)

// Verdict: one of the values below, or one that a newer Fathom knows.
type Verdict string

const (
	VerdictResolved             Verdict = "resolved"
	VerdictError                Verdict = "error"
	VerdictConfirmationRequired Verdict = "confirmation_required"
)

// VerificationStatus: one of the values below, or one that a newer Fathom knows.
type VerificationStatus string

const (
	VerificationStatusApproved VerificationStatus = "approved"
	VerificationStatusRejected VerificationStatus = "rejected"
	VerificationStatusAbstain  VerificationStatus = "abstain"
)

// Entry holds one of *ChunkEntry, *ConceptEntry, *DefinitionEntry, *ProcessEntry, *ProfileEntry, *LegalEntry, or, of a
// kind that a newer Fathom knows, a json.RawMessage.
type Entry struct{ Value any }

var entryKinds = map[string]func() any{
	"chunk":      func() any { return new(ChunkEntry) },
	"concept":    func() any { return new(ConceptEntry) },
	"definition": func() any { return new(DefinitionEntry) },
	"process":    func() any { return new(ProcessEntry) },
	"profile":    func() any { return new(ProfileEntry) },
	"legal":      func() any { return new(LegalEntry) },
}

func (v *Entry) UnmarshalJSON(data []byte) (err error) {
	v.Value, err = readUnion(data, "kind", entryKinds)
	return err
}

func (v Entry) MarshalJSON() ([]byte, error) { return json.Marshal(v.Value) }

// Item holds one of *MessageItem, *SessionSummaryItem, *ConversationSummary, *TimePoint, *Concept, *Chunk, *Knowledge,
// *Process, *Step, *ClaimItem, *Contradiction, *Objective, *PersonaItem, or, of a kind that a newer Fathom knows, a
// json.RawMessage.
type Item struct{ Value any }

var itemKinds = map[string]func() any{
	"message":              func() any { return new(MessageItem) },
	"session_summary":      func() any { return new(SessionSummaryItem) },
	"conversation_summary": func() any { return new(ConversationSummary) },
	"time_point":           func() any { return new(TimePoint) },
	"concept":              func() any { return new(Concept) },
	"chunk":                func() any { return new(Chunk) },
	"knowledge":            func() any { return new(Knowledge) },
	"process":              func() any { return new(Process) },
	"step":                 func() any { return new(Step) },
	"claim":                func() any { return new(ClaimItem) },
	"contradiction":        func() any { return new(Contradiction) },
	"objective":            func() any { return new(Objective) },
	"persona":              func() any { return new(PersonaItem) },
}

func (v *Item) UnmarshalJSON(data []byte) (err error) {
	v.Value, err = readUnion(data, "type", itemKinds)
	return err
}

func (v Item) MarshalJSON() ([]byte, error) { return json.Marshal(v.Value) }

// AnswerGiven: The answer to one question: exactly these four fields. Empty for an unroutable question.
//
// Its ce_type is chat.answer-given.v1.
type AnswerGiven struct {
	Status  string                     `json:"status"`
	Results json.RawMessage            `json:"results,omitzero"`
	Meta    AnswerMeta                 `json:"meta"`
	Answer  string                     `json:"answer"`
	Extra   map[string]json.RawMessage `json:"-"`
}

func (v *AnswerGiven) UnmarshalJSON(data []byte) error {
	type plain AnswerGiven
	return read(data, (*plain)(v), &v.Extra)
}

func (v AnswerGiven) MarshalJSON() ([]byte, error) {
	type plain AnswerGiven
	return write(plain(v), v.Extra)
}

// AskPayload: A user's question with exactly the four fields of the public contract.
//
// Its ce_type is chat.question-asked.v1.
type AskPayload struct {
	// a text; of a list of parts, that of its text parts
	Question       string                     `json:"question"`
	ConversationID string                     `json:"conversation_id"`
	Nickname       Nullable[string]           `json:"nickname,omitzero"`
	ClientID       string                     `json:"client_id"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *AskPayload) UnmarshalJSON(data []byte) error {
	type plain AskPayload
	return read(data, (*plain)(v), &v.Extra)
}

func (v AskPayload) MarshalJSON() ([]byte, error) {
	type plain AskPayload
	return write(plain(v), v.Extra)
}

// AssessmentAsked: A caller's request whether a query needs retrieval.
//
// Its ce_type is assessment.asked.v1.
type AssessmentAsked struct {
	RequestID           string                     `json:"request_id"`
	Query               string                     `json:"query"`
	ConversationSummary *string                    `json:"conversation_summary,omitzero"`
	AvailableContext    []string                   `json:"available_context,omitzero"`
	Extra               map[string]json.RawMessage `json:"-"`
}

func (v *AssessmentAsked) UnmarshalJSON(data []byte) error {
	type plain AssessmentAsked
	return read(data, (*plain)(v), &v.Extra)
}

func (v AssessmentAsked) MarshalJSON() ([]byte, error) {
	type plain AssessmentAsked
	return write(plain(v), v.Extra)
}

// AssessmentMade: The answer to one request; `latency_ms` is the duration of the assessment itself, in milliseconds.
//
// Its ce_type is assessment.made.v1.
type AssessmentMade struct {
	NeedsDeepContext  bool                       `json:"needs_deep_context"`
	Confidence        float64                    `json:"confidence"`
	Reason            string                     `json:"reason"`
	RecommendedAction Action                     `json:"recommended_action"`
	EstimatedSavings  int64                      `json:"estimated_savings"`
	QueryType         QueryType                  `json:"query_type"`
	RecommendedTier   TierName                   `json:"recommended_tier"`
	RecommendedTools  []RecommendedTool          `json:"recommended_tools,omitzero"`
	SkipTools         []SkippedTool              `json:"skip_tools,omitzero"`
	DepthLevel        DepthLevel                 `json:"depth_level"`
	RequestID         string                     `json:"request_id"`
	Classifier        AssessmentMadeClassifier   `json:"classifier"`
	LatencyMs         float64                    `json:"latency_ms"`
	Extra             map[string]json.RawMessage `json:"-"`
}

func (v *AssessmentMade) UnmarshalJSON(data []byte) error {
	type plain AssessmentMade
	return read(data, (*plain)(v), &v.Extra)
}

func (v AssessmentMade) MarshalJSON() ([]byte, error) {
	type plain AssessmentMade
	return write(plain(v), v.Extra)
}

// AuditDecision: Any other decision worth keeping: a late part, a tool call, new weights, a penalty, an erasure, a
// quarantine.
//
// `conversation_id` and `client_id` name the conversation whose words `detail` quotes; what quotes none has neither.
//
// Its ce_type is memory.audit-recorded.v1.
type AuditDecision struct {
	Kind           AuditDecisionKind          `json:"kind"`
	ID             string                     `json:"id"`
	Actor          string                     `json:"actor"`
	SubjectID      string                     `json:"subject_id"`
	Detail         map[string]json.RawMessage `json:"detail"`
	CreatedAt      Timestamp                  `json:"created_at"`
	ConversationID *string                    `json:"conversation_id,omitzero"`
	ClientID       *string                    `json:"client_id,omitzero"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *AuditDecision) UnmarshalJSON(data []byte) error {
	type plain AuditDecision
	return read(data, (*plain)(v), &v.Extra)
}

func (v AuditDecision) MarshalJSON() ([]byte, error) {
	type plain AuditDecision
	return write(plain(v), v.Extra)
}

// AuditHead: The chain as it stood: `previous` is the SHA-256 of the head before, absent in the first one.
//
// `previous_at` is when that one was sealed: while it is younger than its retention it must still be in the log.
//
// Its ce_type is audit.head-sealed.v1.
type AuditHead struct {
	Number     int64                      `json:"number"`
	Previous   *string                    `json:"previous,omitzero"`
	PreviousAt *Timestamp                 `json:"previous_at,omitzero"`
	Segments   []SealedSegment            `json:"segments"`
	SealedAt   Timestamp                  `json:"sealed_at"`
	Extra      map[string]json.RawMessage `json:"-"`
}

func (v *AuditHead) UnmarshalJSON(data []byte) error {
	type plain AuditHead
	return read(data, (*plain)(v), &v.Extra)
}

func (v AuditHead) MarshalJSON() ([]byte, error) {
	type plain AuditHead
	return write(plain(v), v.Extra)
}

// ChatMessage: A turn with its own ids: user, assistant or system; options count for a user's.
//
// `pack` false: it is remembered as said at `created_at`, and no pack is made and no answer given to a client for it.
//
// Its ce_type is chat.message-received.v1.
type ChatMessage struct {
	MinDepth  *DepthLevel `json:"min_depth,omitzero"`
	MaxDepth  *DepthLevel `json:"max_depth,omitzero"`
	LookUp    *LookUp     `json:"look_up,omitzero"`
	MaxTokens *int64      `json:"max_tokens,omitzero"`
	Have      []string    `json:"have,omitzero"`
	Template  *string     `json:"template,omitzero"`
	Deep      *bool       `json:"deep,omitzero"`
	WaitMs    *int64      `json:"wait_ms,omitzero"`
	MessageID *string     `json:"message_id,omitzero"`
	Role      Role        `json:"role"`
	// a text; of a list of parts, that of its text parts
	Content        string                     `json:"content"`
	ConversationID string                     `json:"conversation_id"`
	ClientID       string                     `json:"client_id"`
	CreatedAt      *Timestamp                 `json:"created_at,omitzero"`
	Answers        *string                    `json:"answers,omitzero"`
	PackID         *string                    `json:"pack_id,omitzero"`
	Status         *string                    `json:"status,omitzero"`
	Intent         *string                    `json:"intent,omitzero"`
	Entity         *string                    `json:"entity,omitzero"`
	Results        json.RawMessage            `json:"results,omitzero"`
	LegacyAnswer   *string                    `json:"legacy_answer,omitzero"`
	NarratorFailed *bool                      `json:"narrator_failed,omitzero"`
	Unroutable     *bool                      `json:"unroutable,omitzero"`
	Pack           *bool                      `json:"pack,omitzero"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *ChatMessage) UnmarshalJSON(data []byte) error {
	type plain ChatMessage
	return read(data, (*plain)(v), &v.Extra)
}

func (v ChatMessage) MarshalJSON() ([]byte, error) {
	type plain ChatMessage
	return write(plain(v), v.Extra)
}

// ClaimAsserted: Somebody asserted subject-attribute-value; `source` orders assertions: the newest wins.
//
// Known to its user and the `audience`, who were there; `tenant_wide`: stated for no user; `shared`: by a policy.
//
// Its ce_type is memory.claim-asserted.v1.
type ClaimAsserted struct {
	ClaimID        string                     `json:"claim_id"`
	Author         ClaimAssertedAuthor        `json:"author"`
	Text           string                     `json:"text"`
	Subject        string                     `json:"subject"`
	Attribute      string                     `json:"attribute"`
	Value          string                     `json:"value"`
	Functional     bool                       `json:"functional"`
	Lang           string                     `json:"lang"`
	MessageID      string                     `json:"message_id"`
	ConversationID string                     `json:"conversation_id"`
	ClientID       string                     `json:"client_id"`
	UserID         string                     `json:"user_id"`
	FrameID        string                     `json:"frame_id"`
	Seq            int64                      `json:"seq"`
	Confidence     float64                    `json:"confidence"`
	Status         ClaimStatus                `json:"status"`
	AssertedAt     Timestamp                  `json:"asserted_at"`
	Source         Source                     `json:"source"`
	Contradicts    []Conflict                 `json:"contradicts,omitzero"`
	Supersedes     []string                   `json:"supersedes,omitzero"`
	Audience       []string                   `json:"audience,omitzero"`
	TenantWide     *bool                      `json:"tenant_wide,omitzero"`
	Shared         *bool                      `json:"shared,omitzero"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *ClaimAsserted) UnmarshalJSON(data []byte) error {
	type plain ClaimAsserted
	return read(data, (*plain)(v), &v.Extra)
}

func (v ClaimAsserted) MarshalJSON() ([]byte, error) {
	type plain ClaimAsserted
	return write(plain(v), v.Extra)
}

// CognitionStep: The state of a job after one of its nodes, or before one that `failed` and ended it; then the next
// node.
//
// Its ce_type is cognition.step-made.v1.
type CognitionStep struct {
	JobID  string                     `json:"job_id"`
	Step   int64                      `json:"step"`
	Node   Node                       `json:"node"`
	Next   Node                       `json:"next"`
	State  CognitiveState             `json:"state"`
	Failed *string                    `json:"failed,omitzero"`
	Extra  map[string]json.RawMessage `json:"-"`
}

func (v *CognitionStep) UnmarshalJSON(data []byte) error {
	type plain CognitionStep
	return read(data, (*plain)(v), &v.Extra)
}

func (v CognitionStep) MarshalJSON() ([]byte, error) {
	type plain CognitionStep
	return write(plain(v), v.Extra)
}

// ConsultationRecorded: A question that was decomposed and answered, kept to be found again and corrected.
//
// `access_level` is the highest of what the answer was made from: nobody below it may find the answer again.
// Only a question of the same `signature`, `scope` and case may reuse it.
//
// Its ce_type is memory.consultation-recorded.v1.
type ConsultationRecorded struct {
	ConsultaID         string                     `json:"consulta_id"`
	JobID              *string                    `json:"job_id,omitzero"`
	PerguntaUsuario    string                     `json:"pergunta_usuario"`
	RespostaFinal      string                     `json:"resposta_final"`
	SubPerguntas       []SubQuestion              `json:"sub_perguntas,omitzero"`
	VerificationStatus VerificationStatus         `json:"verification_status"`
	Reused             []string                   `json:"reused,omitzero"`
	UsuarioID          *string                    `json:"usuario_id,omitzero"`
	ConversationID     *string                    `json:"conversation_id,omitzero"`
	ClientID           *string                    `json:"client_id,omitzero"`
	AccessLevel        AccessLevel                `json:"access_level"`
	Lang               string                     `json:"lang"`
	Data               Timestamp                  `json:"data"`
	Signature          *string                    `json:"signature,omitzero"`
	Scope              *string                    `json:"scope,omitzero"`
	CaseID             *string                    `json:"case_id,omitzero"`
	Extra              map[string]json.RawMessage `json:"-"`
}

func (v *ConsultationRecorded) UnmarshalJSON(data []byte) error {
	type plain ConsultationRecorded
	return read(data, (*plain)(v), &v.Extra)
}

func (v ConsultationRecorded) MarshalJSON() ([]byte, error) {
	type plain ConsultationRecorded
	return write(plain(v), v.Extra)
}

// ContextPack: The context for the answer to one message, within its token budget.
//
// `evidence`: whether memory, where searched, holds anything that helps to answer; `none` is a result, too. `text` is
// the pack as Markdown for a prompt, by the template it names; `total_tokens_estimated` are its tokens in `tokenizer`.
// `options` are the caller's, as in force.
//
// Its ce_type is context.pack-assembled.v1.
type ContextPack struct {
	PackID string `json:"pack_id"`
	// Absent means 1.
	Revision             *int64               `json:"revision,omitzero"`
	PlanID               string               `json:"plan_id"`
	MessageID            string               `json:"message_id"`
	ConversationID       string               `json:"conversation_id"`
	ClientID             string               `json:"client_id"`
	UserID               string               `json:"user_id"`
	Query                string               `json:"query"`
	QueryTruncated       *bool                `json:"query_truncated,omitzero"`
	Lang                 string               `json:"lang"`
	Seq                  int64                `json:"seq"`
	FrameID              string               `json:"frame_id"`
	DepthLevel           DepthLevel           `json:"depth_level"`
	QueryProfileUsed     *string              `json:"query_profile_used"`
	QueryProfileVersion  *int64               `json:"query_profile_version,omitzero"`
	Strategy             string               `json:"strategy"`
	SpecialInstructions  []string             `json:"special_instructions"`
	MaxTokens            int64                `json:"max_tokens"`
	TotalTokensEstimated int64                `json:"total_tokens_estimated"`
	Text                 *string              `json:"text,omitzero"`
	Template             *string              `json:"template,omitzero"`
	Tokenizer            *string              `json:"tokenizer,omitzero"`
	Sources              []PackSource         `json:"sources,omitzero"`
	WorkingSet           WorkingSetSection    `json:"working_set"`
	PersonaContext       PersonaContext       `json:"persona_context"`
	Episodic             *EpisodicSection     `json:"episodic,omitzero"`
	Semantic             *SemanticSection     `json:"semantic,omitzero"`
	Claims               *ClaimsSection       `json:"claims,omitzero"`
	Procedural           *ProceduralSection   `json:"procedural,omitzero"`
	LLMInstructions      []string             `json:"llm_instructions"`
	Reconciliation       *Reconciliation      `json:"reconciliation,omitzero"`
	Evidence             *ContextPackEvidence `json:"evidence,omitzero"`
	Degraded             *bool                `json:"degraded,omitzero"`
	DegradedReasons      []string             `json:"degraded_reasons,omitzero"`
	MissingSections      []string             `json:"missing_sections,omitzero"`
	// Absent means complete.
	SettledBy        *ContextPackSettledBy      `json:"settled_by,omitzero"`
	Parts            []PartReport               `json:"parts,omitzero"`
	Dropped          []Dropped                  `json:"dropped,omitzero"`
	AlreadyInContext []RepeatedItem             `json:"already_in_context,omitzero"`
	Confidence       float64                    `json:"confidence"`
	Signals          []Signal                   `json:"signals,omitzero"`
	AssembledAt      Timestamp                  `json:"assembled_at"`
	LatencyMs        float64                    `json:"latency_ms"`
	RequestID        *string                    `json:"request_id,omitzero"`
	Options          *AppliedOptions            `json:"options,omitzero"`
	Extra            map[string]json.RawMessage `json:"-"`
}

func (v *ContextPack) UnmarshalJSON(data []byte) error {
	type plain ContextPack
	return read(data, (*plain)(v), &v.Extra)
}

func (v ContextPack) MarshalJSON() ([]byte, error) {
	type plain ContextPack
	return write(plain(v), v.Extra)
}

// ConversationForgotten: A conversation to forget: all that was said in it before, in its order; said in again, it
// begins anew.
//
// With `user_id` also who that user is: the profile, and the votes on depth.
//
// Its ce_type is chat.conversation-forgotten.v1.
type ConversationForgotten struct {
	ConversationID string                     `json:"conversation_id"`
	ClientID       string                     `json:"client_id"`
	Forgotten      bool                       `json:"forgotten"`
	UserID         *string                    `json:"user_id,omitzero"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *ConversationForgotten) UnmarshalJSON(data []byte) error {
	type plain ConversationForgotten
	return read(data, (*plain)(v), &v.Extra)
}

func (v ConversationForgotten) MarshalJSON() ([]byte, error) {
	type plain ConversationForgotten
	return write(plain(v), v.Extra)
}

// CorrectionIssued: A user contested something, which penalises `penalised_paths` by `peso`, or ruled on an own claim
// (`ruling`).
//
// Its ce_type is memory.correction-issued.v1.
type CorrectionIssued struct {
	CorrectionID   string                     `json:"correction_id"`
	Kind           CorrectionIssuedKind       `json:"kind"`
	TargetID       string                     `json:"target_id"`
	Texto          string                     `json:"texto"`
	UsuarioID      string                     `json:"usuario_id"`
	Tipo           CorrectionKind             `json:"tipo"`
	NewValue       *string                    `json:"new_value,omitzero"`
	NewClaimID     *string                    `json:"new_claim_id,omitzero"`
	MessageID      *string                    `json:"message_id,omitzero"`
	ConversationID *string                    `json:"conversation_id,omitzero"`
	ClientID       *string                    `json:"client_id,omitzero"`
	PenalisedPaths []string                   `json:"penalised_paths,omitzero"`
	Peso           *float64                   `json:"peso,omitzero"`
	Ruling         *ClaimRuling               `json:"ruling,omitzero"`
	IssuedAt       Timestamp                  `json:"issued_at"`
	Seq            *int64                     `json:"seq,omitzero"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *CorrectionIssued) UnmarshalJSON(data []byte) error {
	type plain CorrectionIssued
	return read(data, (*plain)(v), &v.Extra)
}

func (v CorrectionIssued) MarshalJSON() ([]byte, error) {
	type plain CorrectionIssued
	return write(plain(v), v.Extra)
}

// CorrectionSubmitted: A user contests a claim or a consultation from outside a conversation.
//
// With a `ruling` the user takes the own claim back (`retract`), or says again that it holds (`confirm`).
//
// Its ce_type is memory.correction-submitted.v1.
type CorrectionSubmitted struct {
	ClaimID    *string                    `json:"claim_id,omitzero"`
	ConsultaID *string                    `json:"consulta_id,omitzero"`
	Texto      string                     `json:"texto"`
	UsuarioID  string                     `json:"usuario_id"`
	Tipo       CorrectionKind             `json:"tipo"`
	NewValue   *string                    `json:"new_value,omitzero"`
	Ruling     *ClaimRuling               `json:"ruling,omitzero"`
	CreatedAt  *Timestamp                 `json:"created_at,omitzero"`
	Extra      map[string]json.RawMessage `json:"-"`
}

func (v *CorrectionSubmitted) UnmarshalJSON(data []byte) error {
	type plain CorrectionSubmitted
	return read(data, (*plain)(v), &v.Extra)
}

func (v CorrectionSubmitted) MarshalJSON() ([]byte, error) {
	type plain CorrectionSubmitted
	return write(plain(v), v.Extra)
}

// DepthClassified: The depth of one user message, with every signal and its evidence.
//
// `parameters` are its subjects, its own named last. `needs_nothing`: memory has nothing to add to the answer.
// `context`: the parts of the conversation that the message depends on, searched with it. `segment` is the probability
// that a new segment begins (0-1), `resets` whether earlier turns are to be ignored, too; both are absent in older
// records. `options` are those in force. `overload`: more messages came than could be handled. `states`: the message
// states something of its user's and asks nothing.
//
// Its ce_type is depth.message-classified.v1.
type DepthClassified struct {
	MessageID      string                     `json:"message_id"`
	ConversationID string                     `json:"conversation_id"`
	ClientID       string                     `json:"client_id"`
	UserID         string                     `json:"user_id"`
	Query          string                     `json:"query"`
	DepthLevel     DepthLevel                 `json:"depth_level"`
	Confidence     float64                    `json:"confidence"`
	Signals        []Signal                   `json:"signals"`
	Candidates     []DepthLevel               `json:"candidates"`
	Classifier     DepthClassifiedClassifier  `json:"classifier"`
	RaisedFrom     *DepthLevel                `json:"raised_from,omitzero"`
	HowTo          *bool                      `json:"how_to,omitzero"`
	Lang           string                     `json:"lang"`
	Seq            int64                      `json:"seq"`
	Source         Source                     `json:"source"`
	FrameID        string                     `json:"frame_id"`
	FrameOpened    *bool                      `json:"frame_opened,omitzero"`
	Anchor         Anchor                     `json:"anchor"`
	AsOf           Timestamp                  `json:"as_of"`
	AcceptedAt     Timestamp                  `json:"accepted_at"`
	LatencyMs      float64                    `json:"latency_ms"`
	Parameters     []Parameter                `json:"parameters,omitzero"`
	NeedsNothing   *bool                      `json:"needs_nothing,omitzero"`
	Context        *string                    `json:"context,omitzero"`
	RequestID      *string                    `json:"request_id,omitzero"`
	Tier           *TierName                  `json:"tier,omitzero"`
	Resets         *bool                      `json:"resets,omitzero"`
	Segment        *float64                   `json:"segment,omitzero"`
	Options        *AppliedOptions            `json:"options,omitzero"`
	Overload       *bool                      `json:"overload,omitzero"`
	States         *bool                      `json:"states,omitzero"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *DepthClassified) UnmarshalJSON(data []byte) error {
	type plain DepthClassified
	return read(data, (*plain)(v), &v.Extra)
}

func (v DepthClassified) MarshalJSON() ([]byte, error) {
	type plain DepthClassified
	return write(plain(v), v.Extra)
}

// DepthVote: One feedback as depth weighs it: for messages that show the same signs, this level was expected.
//
// A later vote of the same id replaces the earlier; `pattern` is what `pattern_of` makes of the signs.
//
// Its ce_type is memory.depth-voted.v1.
type DepthVote struct {
	ID        string                     `json:"id"`
	Pattern   string                     `json:"pattern"`
	Decided   DepthLevel                 `json:"decided"`
	Expected  *DepthLevel                `json:"expected,omitzero"`
	Rating    int64                      `json:"rating"`
	At        Timestamp                  `json:"at"`
	MessageID string                     `json:"message_id"`
	PackID    string                     `json:"pack_id"`
	UserID    string                     `json:"user_id"`
	Reason    *string                    `json:"reason,omitzero"`
	Extra     map[string]json.RawMessage `json:"-"`
}

func (v *DepthVote) UnmarshalJSON(data []byte) error {
	type plain DepthVote
	return read(data, (*plain)(v), &v.Extra)
}

func (v DepthVote) MarshalJSON() ([]byte, error) {
	type plain DepthVote
	return write(plain(v), v.Extra)
}

// DocumentDeleted: A document to forget: nothing of it is offered from `created_at` on; submitted again it is there
// again.
//
// Its ce_type is knowledge.document-deleted.v1.
type DocumentDeleted struct {
	DocumentID string                     `json:"document_id"`
	Deleted    bool                       `json:"deleted"`
	CreatedAt  *Timestamp                 `json:"created_at,omitzero"`
	Extra      map[string]json.RawMessage `json:"-"`
}

func (v *DocumentDeleted) UnmarshalJSON(data []byte) error {
	type plain DocumentDeleted
	return read(data, (*plain)(v), &v.Extra)
}

func (v DocumentDeleted) MarshalJSON() ([]byte, error) {
	type plain DocumentDeleted
	return write(plain(v), v.Extra)
}

// DocumentSubmitted: A document to remember, as text or as a file's bytes, or the profile of a user.
//
// `created_at` is the time of this version; what an earlier version had and this one has not is offered no more.
//
// Its ce_type is knowledge.document-submitted.v1.
type DocumentSubmitted struct {
	DocumentID string  `json:"document_id"`
	Title      string  `json:"title"`
	Text       *string `json:"text,omitzero"`
	// the file's bytes in base64, instead of text
	Data *string `json:"data,omitzero"`
	URI  *string `json:"uri,omitzero"`
	// what it is; looked at where it is not said, or not so
	Tipo *DocumentSubmittedTipo `json:"tipo,omitzero"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Lang        *string                    `json:"lang,omitzero"`
	CreatedAt   *Timestamp                 `json:"created_at,omitzero"`
	Profile     *Profile                   `json:"profile,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *DocumentSubmitted) UnmarshalJSON(data []byte) error {
	type plain DocumentSubmitted
	return read(data, (*plain)(v), &v.Extra)
}

func (v DocumentSubmitted) MarshalJSON() ([]byte, error) {
	type plain DocumentSubmitted
	return write(plain(v), v.Extra)
}

// ErasureIssued: A conversation to erase from every store: what stems from its messages up to `up_to_seq`, and nothing
// later.
//
// What has no place there is erased up to `issued_at`; with `user_id`, that user's profile and votes are erased, too.
//
// Its ce_type is memory.erasure-issued.v1.
type ErasureIssued struct {
	ErasureID      string                     `json:"erasure_id"`
	ConversationID string                     `json:"conversation_id"`
	ClientID       string                     `json:"client_id"`
	AskedBy        string                     `json:"asked_by"`
	UpToSeq        int64                      `json:"up_to_seq"`
	IssuedAt       Timestamp                  `json:"issued_at"`
	Source         Source                     `json:"source"`
	UserID         *string                    `json:"user_id,omitzero"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *ErasureIssued) UnmarshalJSON(data []byte) error {
	type plain ErasureIssued
	return read(data, (*plain)(v), &v.Extra)
}

func (v ErasureIssued) MarshalJSON() ([]byte, error) {
	type plain ErasureIssued
	return write(plain(v), v.Extra)
}

// FeedbackGiven: What a user thought of one pack: how good it was, 1 to 5, and how deep it should have gone.
//
// Its ce_type is depth.feedback-given.v1.
type FeedbackGiven struct {
	MessageID      string                     `json:"message_id"`
	PackID         string                     `json:"pack_id"`
	ConversationID string                     `json:"conversation_id"`
	ClientID       string                     `json:"client_id"`
	Rating         int64                      `json:"rating"`
	ExpectedDepth  *DepthLevel                `json:"expected_depth,omitzero"`
	Reason         *string                    `json:"reason,omitzero"`
	CreatedAt      *Timestamp                 `json:"created_at,omitzero"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *FeedbackGiven) UnmarshalJSON(data []byte) error {
	type plain FeedbackGiven
	return read(data, (*plain)(v), &v.Extra)
}

func (v FeedbackGiven) MarshalJSON() ([]byte, error) {
	type plain FeedbackGiven
	return write(plain(v), v.Extra)
}

// JoinOpened: The plan's terms, on the partition where its parts arrive.
//
// `looks_up`: whether memory is searched for an answer to the message. It is absent in records from before 0.2, whose
// packs are made again by the rules of that time. `profile` is stored in the graph with the decision. `selection`: the
// version of the rules that select the pack's evidence; absent in records from before there was one. `states`: the
// message asks nothing, so that a pack without evidence lacks nothing.
//
// Its ce_type is retrieval.join-opened.v1.
type JoinOpened struct {
	PlanID              string                     `json:"plan_id"`
	PackID              string                     `json:"pack_id"`
	MessageID           string                     `json:"message_id"`
	ConversationID      string                     `json:"conversation_id"`
	ClientID            string                     `json:"client_id"`
	UserID              string                     `json:"user_id"`
	Query               string                     `json:"query"`
	Lang                string                     `json:"lang"`
	Seq                 int64                      `json:"seq"`
	Source              Source                     `json:"source"`
	FrameID             string                     `json:"frame_id"`
	AsOf                Timestamp                  `json:"as_of"`
	AcceptedAt          Timestamp                  `json:"accepted_at"`
	DepthLevel          DepthLevel                 `json:"depth_level"`
	Strategy            string                     `json:"strategy"`
	QueryProfile        *string                    `json:"query_profile"`
	QueryProfileVersion *int64                     `json:"query_profile_version,omitzero"`
	MaxTokens           int64                      `json:"max_tokens"`
	SpecialInstructions []string                   `json:"special_instructions"`
	DeadlineAt          Timestamp                  `json:"deadline_at"`
	Tier                *TierName                  `json:"tier,omitzero"`
	RequestID           *string                    `json:"request_id,omitzero"`
	Options             *AppliedOptions            `json:"options,omitzero"`
	Kind                string                     `json:"kind"`
	Wanted              []MemoryClass              `json:"wanted"`
	Confidence          float64                    `json:"confidence"`
	Classifier          JoinOpenedClassifier       `json:"classifier"`
	Signals             []Signal                   `json:"signals"`
	Profile             *QueryProfile              `json:"profile,omitzero"`
	LooksUp             *bool                      `json:"looks_up,omitzero"`
	Selection           *int64                     `json:"selection,omitzero"`
	States              *bool                      `json:"states,omitzero"`
	Extra               map[string]json.RawMessage `json:"-"`
}

func (v *JoinOpened) UnmarshalJSON(data []byte) error {
	type plain JoinOpened
	return read(data, (*plain)(v), &v.Extra)
}

func (v JoinOpened) MarshalJSON() ([]byte, error) {
	type plain JoinOpened
	return write(plain(v), v.Extra)
}

// JoinTicked: A tick on a quiet partition: in the log, so that deadlines follow the log and a replay meets the same
// ones.
//
// Its ce_type is retrieval.join-ticked.v1.
type JoinTicked struct {
	Kind  string                     `json:"kind"`
	At    Timestamp                  `json:"at"`
	Extra map[string]json.RawMessage `json:"-"`
}

func (v *JoinTicked) UnmarshalJSON(data []byte) error {
	type plain JoinTicked
	return read(data, (*plain)(v), &v.Extra)
}

func (v JoinTicked) MarshalJSON() ([]byte, error) {
	type plain JoinTicked
	return write(plain(v), v.Extra)
}

// KnowledgeRecorded: What one document, or a batch of it, adds to memory, the same for the same content; without
// entries: deleted.
//
// Its ce_type is memory.knowledge-recorded.v1.
type KnowledgeRecorded struct {
	DocumentID  string  `json:"document_id"`
	Title       string  `json:"title"`
	URI         *string `json:"uri,omitzero"`
	ContentHash string  `json:"content_hash"`
	Batch       int64   `json:"batch"`
	// how many there are; 0 when whoever wrote it did not say
	Batches *int64  `json:"batches,omitzero"`
	Entries []Entry `json:"entries,omitzero"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Temas       []Theme                    `json:"temas,omitzero"`
	RecordedAt  Timestamp                  `json:"recorded_at"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *KnowledgeRecorded) UnmarshalJSON(data []byte) error {
	type plain KnowledgeRecorded
	return read(data, (*plain)(v), &v.Extra)
}

func (v KnowledgeRecorded) MarshalJSON() ([]byte, error) {
	type plain KnowledgeRecorded
	return write(plain(v), v.Extra)
}

// PackDecision: One `:CDCDecision`: what was decided for one message, and what it cost; `profile` where one was used.
//
// Its ce_type is memory.decision-recorded.v1.
type PackDecision struct {
	Kind             string                     `json:"kind"`
	ID               string                     `json:"id"`
	ConversationID   string                     `json:"conversation_id"`
	ClientID         string                     `json:"client_id"`
	MessageID        string                     `json:"message_id"`
	PackID           string                     `json:"pack_id"`
	PlanID           string                     `json:"plan_id"`
	DetectedSignals  []string                   `json:"detected_signals"`
	DepthLevel       DepthLevel                 `json:"depth_level"`
	QueryProfileUsed *string                    `json:"query_profile_used"`
	SourcesRetrieved []string                   `json:"sources_retrieved"`
	TokensUsed       int64                      `json:"tokens_used"`
	LatencyMs        int64                      `json:"latency_ms"`
	CreatedAt        Timestamp                  `json:"created_at"`
	Confidence       float64                    `json:"confidence"`
	Classifier       string                     `json:"classifier"`
	Strategy         string                     `json:"strategy"`
	Degraded         bool                       `json:"degraded"`
	Profile          *QueryProfile              `json:"profile,omitzero"`
	Options          *AppliedOptions            `json:"options,omitzero"`
	Seq              *int64                     `json:"seq,omitzero"`
	Evidence         *PackDecisionEvidence      `json:"evidence,omitzero"`
	Extra            map[string]json.RawMessage `json:"-"`
}

func (v *PackDecision) UnmarshalJSON(data []byte) error {
	type plain PackDecision
	return read(data, (*plain)(v), &v.Extra)
}

func (v PackDecision) MarshalJSON() ([]byte, error) {
	type plain PackDecision
	return write(plain(v), v.Extra)
}

// PackInputs: All that a pack is made of, by the one task that asked for it: a pack is a pure function of this record.
//
// `parts` are those that came in time, each `earlier_ms` before `settled_at`; `previous` says which pack that the
// caller still holds has an item already.
//
// Its ce_type is retrieval.pack-inputs.v1.
type PackInputs struct {
	Kind      string                     `json:"kind"`
	PackID    string                     `json:"pack_id"`
	MessageID string                     `json:"message_id"`
	Terms     JoinOpened                 `json:"terms"`
	Parts     []PartFound                `json:"parts"`
	OpenedAt  Timestamp                  `json:"opened_at"`
	SettledAt Timestamp                  `json:"settled_at"`
	Previous  map[string]string          `json:"previous,omitzero"`
	Extra     map[string]json.RawMessage `json:"-"`
}

func (v *PackInputs) UnmarshalJSON(data []byte) error {
	type plain PackInputs
	return read(data, (*plain)(v), &v.Extra)
}

func (v PackInputs) MarshalJSON() ([]byte, error) {
	type plain PackInputs
	return write(plain(v), v.Extra)
}

// PartFound: The answer of one memory class to one plan; every wanted class always answers.
//
// `dropped` are the best results below the relevance threshold. `earlier_ms` is how long a part that was sent with
// others had waited for them.
//
// Its ce_type is retrieval.part-found.v1.
type PartFound struct {
	Kind        string                     `json:"kind"`
	PlanID      string                     `json:"plan_id"`
	PackID      string                     `json:"pack_id"`
	MessageID   string                     `json:"message_id"`
	MemoryClass MemoryClass                `json:"memory_class"`
	Status      PartStatus                 `json:"status"`
	Items       []Item                     `json:"items,omitzero"`
	Tokens      *int64                     `json:"tokens,omitzero"`
	Error       *string                    `json:"error,omitzero"`
	Dropped     []Dropped                  `json:"dropped,omitzero"`
	EarlierMs   *int64                     `json:"earlier_ms,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *PartFound) UnmarshalJSON(data []byte) error {
	type plain PartFound
	return read(data, (*plain)(v), &v.Extra)
}

func (v PartFound) MarshalJSON() ([]byte, error) {
	type plain PartFound
	return write(plain(v), v.Extra)
}

// PartsFound: The answers of several memory classes to one plan, by one process: what their parts would say one by
// one.
//
// Its ce_type is retrieval.parts-found.v1.
type PartsFound struct {
	Kind      string                     `json:"kind"`
	PlanID    string                     `json:"plan_id"`
	PackID    string                     `json:"pack_id"`
	MessageID string                     `json:"message_id"`
	Parts     []PartFound                `json:"parts"`
	Extra     map[string]json.RawMessage `json:"-"`
}

func (v *PartsFound) UnmarshalJSON(data []byte) error {
	type plain PartsFound
	return read(data, (*plain)(v), &v.Extra)
}

func (v PartsFound) MarshalJSON() ([]byte, error) {
	type plain PartsFound
	return write(plain(v), v.Extra)
}

// QuarantineChanged: A source whose content goes into no pack from now on, or does again (`lifted`); nothing is
// deleted.
//
// `source_id` is the id of a document, a conversation (of `client_id`), a user, a message or a claim; of a feed the
// beginning of its documents' ids. `messages` are hidden with it, and add to those of earlier events.
//
// Its ce_type is memory.quarantine-changed.v1.
type QuarantineChanged struct {
	SourceKind SourceKind                 `json:"source_kind"`
	SourceID   string                     `json:"source_id"`
	ClientID   *string                    `json:"client_id,omitzero"`
	State      QuarantineChangedState     `json:"state"`
	Messages   []QuarantinedMessage       `json:"messages,omitzero"`
	Reason     *string                    `json:"reason,omitzero"`
	AskedBy    string                     `json:"asked_by"`
	IssuedAt   Timestamp                  `json:"issued_at"`
	Extra      map[string]json.RawMessage `json:"-"`
}

func (v *QuarantineChanged) UnmarshalJSON(data []byte) error {
	type plain QuarantineChanged
	return read(data, (*plain)(v), &v.Extra)
}

func (v QuarantineChanged) MarshalJSON() ([]byte, error) {
	type plain QuarantineChanged
	return write(plain(v), v.Extra)
}

// RetrievalPlan: The requests for one message, complete and exclusive.
//
// `context` is searched with the query, with less weight.
//
// Its ce_type is retrieval.plan-made.v1.
type RetrievalPlan struct {
	PlanID              string                     `json:"plan_id"`
	PackID              string                     `json:"pack_id"`
	MessageID           string                     `json:"message_id"`
	ConversationID      string                     `json:"conversation_id"`
	ClientID            string                     `json:"client_id"`
	UserID              string                     `json:"user_id"`
	Query               string                     `json:"query"`
	Lang                string                     `json:"lang"`
	Seq                 int64                      `json:"seq"`
	Source              Source                     `json:"source"`
	FrameID             string                     `json:"frame_id"`
	AsOf                Timestamp                  `json:"as_of"`
	AcceptedAt          Timestamp                  `json:"accepted_at"`
	DepthLevel          DepthLevel                 `json:"depth_level"`
	Strategy            string                     `json:"strategy"`
	QueryProfile        *string                    `json:"query_profile"`
	QueryProfileVersion *int64                     `json:"query_profile_version,omitzero"`
	MaxTokens           int64                      `json:"max_tokens"`
	SpecialInstructions []string                   `json:"special_instructions"`
	DeadlineAt          Timestamp                  `json:"deadline_at"`
	Tier                *TierName                  `json:"tier,omitzero"`
	RequestID           *string                    `json:"request_id,omitzero"`
	Options             *AppliedOptions            `json:"options,omitzero"`
	Sources             []SourceRequest            `json:"sources"`
	ResetFrame          *bool                      `json:"reset_frame,omitzero"`
	Anchor              *Anchor                    `json:"anchor,omitzero"`
	Parameters          []Parameter                `json:"parameters,omitzero"`
	Context             *string                    `json:"context,omitzero"`
	Extra               map[string]json.RawMessage `json:"-"`
}

func (v *RetrievalPlan) UnmarshalJSON(data []byte) error {
	type plain RetrievalPlan
	return read(data, (*plain)(v), &v.Extra)
}

func (v RetrievalPlan) MarshalJSON() ([]byte, error) {
	type plain RetrievalPlan
	return write(plain(v), v.Extra)
}

// SearchAsked: A search of memory that leaves no trace in it: only what fits all of its filters is found.
//
// `limit` is the most results. `since` and `until` bound when something was recorded.
//
// Its ce_type is search.asked.v1.
type SearchAsked struct {
	RequestID string `json:"request_id"`
	ClientID  string `json:"client_id"`
	Query     string `json:"query"`
	// Absent means 10.
	Limit          *int64                     `json:"limit,omitzero"`
	Kind           *SearchKind                `json:"kind,omitzero"`
	DocumentID     *string                    `json:"document_id,omitzero"`
	ConversationID *string                    `json:"conversation_id,omitzero"`
	Since          *Timestamp                 `json:"since,omitzero"`
	Until          *Timestamp                 `json:"until,omitzero"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *SearchAsked) UnmarshalJSON(data []byte) error {
	type plain SearchAsked
	return read(data, (*plain)(v), &v.Extra)
}

func (v SearchAsked) MarshalJSON() ([]byte, error) {
	type plain SearchAsked
	return write(plain(v), v.Extra)
}

// SearchMade: The results of one search, as the pack of the same question would choose them; `text` is for a prompt.
//
// `evidence` is `none` where memory answered and has nothing. `missing` are the classes of memory that did not answer.
// `latency_ms` is the duration of the search itself.
//
// Its ce_type is search.made.v1.
type SearchMade struct {
	RequestID   string                     `json:"request_id"`
	UserID      string                     `json:"user_id"`
	Query       string                     `json:"query"`
	Lang        string                     `json:"lang"`
	Results     []SearchResult             `json:"results"`
	Evidence    *SearchMadeEvidence        `json:"evidence,omitzero"`
	Degraded    *bool                      `json:"degraded,omitzero"`
	Missing     []MemoryClass              `json:"missing,omitzero"`
	Text        string                     `json:"text"`
	TotalTokens int64                      `json:"total_tokens"`
	Tokenizer   string                     `json:"tokenizer"`
	LatencyMs   float64                    `json:"latency_ms"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *SearchMade) UnmarshalJSON(data []byte) error {
	type plain SearchMade
	return read(data, (*plain)(v), &v.Extra)
}

func (v SearchMade) MarshalJSON() ([]byte, error) {
	type plain SearchMade
	return write(plain(v), v.Extra)
}

// SummaryMade: Extract of a stretch of one frame of a conversation, with its other users; a later one of one id
// replaces it.
//
// Its ce_type is memory.summary-made.v1.
type SummaryMade struct {
	SummaryID      string                     `json:"summary_id"`
	ConversationID string                     `json:"conversation_id"`
	ClientID       string                     `json:"client_id"`
	UserID         string                     `json:"user_id"`
	FrameID        string                     `json:"frame_id"`
	Text           string                     `json:"text"`
	Topic          string                     `json:"topic"`
	Terms          []string                   `json:"terms"`
	Lang           string                     `json:"lang"`
	FromMessage    string                     `json:"from_message"`
	ToMessage      string                     `json:"to_message"`
	FromSeq        int64                      `json:"from_seq"`
	ToSeq          int64                      `json:"to_seq"`
	RelevantEvents []EventMention             `json:"relevant_events,omitzero"`
	MadeAt         Timestamp                  `json:"made_at"`
	QuotedUsers    []string                   `json:"quoted_users,omitzero"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *SummaryMade) UnmarshalJSON(data []byte) error {
	type plain SummaryMade
	return read(data, (*plain)(v), &v.Extra)
}

func (v SummaryMade) MarshalJSON() ([]byte, error) {
	type plain SummaryMade
	return write(plain(v), v.Extra)
}

// ToolCallRequested: An agent wants to call a tool.
//
// Its ce_type is tool.call-requested.v1.
type ToolCallRequested struct {
	CallID    string                     `json:"call_id"`
	ClientID  string                     `json:"client_id"`
	SessionID string                     `json:"session_id"`
	NomeTool  string                     `json:"nome_tool"`
	Args      map[string]json.RawMessage `json:"args,omitzero"`
	MessageID *string                    `json:"message_id,omitzero"`
	Extra     map[string]json.RawMessage `json:"-"`
}

func (v *ToolCallRequested) UnmarshalJSON(data []byte) error {
	type plain ToolCallRequested
	return read(data, (*plain)(v), &v.Extra)
}

func (v ToolCallRequested) MarshalJSON() ([]byte, error) {
	type plain ToolCallRequested
	return write(plain(v), v.Extra)
}

// ToolCallResolved: The verdict on one call; only one with `args_resolvidos` may be executed.
//
// Its ce_type is tool.call-resolved.v1.
type ToolCallResolved struct {
	CallID         string                     `json:"call_id"`
	ClientID       string                     `json:"client_id"`
	SessionID      string                     `json:"session_id"`
	NomeTool       string                     `json:"nome_tool"`
	Status         Verdict                    `json:"status"`
	ArgsResolvidos map[string]json.RawMessage `json:"args_resolvidos,omitzero"`
	Erro           *string                    `json:"erro,omitzero"`
	ErroCodigo     *ErrorCode                 `json:"erro_codigo,omitzero"`
	Sucesso        *bool                      `json:"sucesso,omitzero"`
	Resposta       *string                    `json:"resposta,omitzero"`
	Injections     []Injection                `json:"injections,omitzero"`
	Preview        *Preview                   `json:"preview,omitzero"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *ToolCallResolved) UnmarshalJSON(data []byte) error {
	type plain ToolCallResolved
	return read(data, (*plain)(v), &v.Extra)
}

func (v ToolCallResolved) MarshalJSON() ([]byte, error) {
	type plain ToolCallResolved
	return write(plain(v), v.Extra)
}

// ToolConfirmation: A user's yes or no to a preview.
//
// Its ce_type is tool.confirmation.v1.
type ToolConfirmation struct {
	CallID    string                     `json:"call_id"`
	ClientID  string                     `json:"client_id"`
	SessionID string                     `json:"session_id"`
	Approved  bool                       `json:"approved"`
	UsuarioID string                     `json:"usuario_id"`
	Extra     map[string]json.RawMessage `json:"-"`
}

func (v *ToolConfirmation) UnmarshalJSON(data []byte) error {
	type plain ToolConfirmation
	return read(data, (*plain)(v), &v.Extra)
}

func (v ToolConfirmation) MarshalJSON() ([]byte, error) {
	type plain ToolConfirmation
	return write(plain(v), v.Extra)
}

// ToolResult: What a tool has done; `valores` names further values by their kind.
//
// `linhas` are rows of what it found, at most 50 of 32 single values: what may be offered to the user and meant later.
//
// Its ce_type is tool.result.v1.
type ToolResult struct {
	CallID             string                       `json:"call_id"`
	ClientID           string                       `json:"client_id"`
	SessionID          string                       `json:"session_id"`
	NomeTool           string                       `json:"nome_tool"`
	Args               map[string]json.RawMessage   `json:"args,omitzero"`
	Sucesso            bool                         `json:"sucesso"`
	ReportID           *string                      `json:"report_id,omitzero"`
	ProcessoReferencia *string                      `json:"processo_referencia,omitzero"`
	ReportValid        *bool                        `json:"report_valid,omitzero"`
	Valores            map[string]string            `json:"valores,omitzero"`
	Linhas             []map[string]json.RawMessage `json:"linhas,omitzero"`
	Extra              map[string]json.RawMessage   `json:"-"`
}

func (v *ToolResult) UnmarshalJSON(data []byte) error {
	type plain ToolResult
	return read(data, (*plain)(v), &v.Extra)
}

func (v ToolResult) MarshalJSON() ([]byte, error) {
	type plain ToolResult
	return write(plain(v), v.Extra)
}

// Turn: A turn accepted by the depth stage, validated once; ordered by `seq` in its conversation.
//
// An assistant's turn has the final answer as its content and the `depth_level` of the question; `references` are
// those of the turn itself, `segment` the probability that an assistant's begins something new (0-1), absent where it
// only answers. `user_named` is false where the record named no user: `user_id` is then the client's, or that of the
// question. `pack` is false for a turn without a pack: no depth is decided for it.
//
// Its ce_type is chat.turn-accepted.v1.
type Turn struct {
	MessageID      string                     `json:"message_id"`
	Role           Role                       `json:"role"`
	Content        string                     `json:"content"`
	ConversationID string                     `json:"conversation_id"`
	ClientID       string                     `json:"client_id"`
	UserID         string                     `json:"user_id"`
	CreatedAt      Timestamp                  `json:"created_at"`
	Seq            int64                      `json:"seq"`
	FrameID        string                     `json:"frame_id"`
	Lang           string                     `json:"lang"`
	Source         Source                     `json:"source"`
	UserNamed      *bool                      `json:"user_named,omitzero"`
	DepthLevel     *DepthLevel                `json:"depth_level,omitzero"`
	RequestID      *string                    `json:"request_id,omitzero"`
	Answers        *string                    `json:"answers,omitzero"`
	PackID         *string                    `json:"pack_id,omitzero"`
	Status         *string                    `json:"status,omitzero"`
	Intent         *string                    `json:"intent,omitzero"`
	Entity         *string                    `json:"entity,omitzero"`
	Results        json.RawMessage            `json:"results,omitzero"`
	LegacyAnswer   *string                    `json:"legacy_answer,omitzero"`
	NarratorFailed *bool                      `json:"narrator_failed,omitzero"`
	Unroutable     *bool                      `json:"unroutable,omitzero"`
	References     []Reference                `json:"references,omitzero"`
	Link           *TurnLink                  `json:"link,omitzero"`
	Pack           *bool                      `json:"pack,omitzero"`
	Segment        *float64                   `json:"segment,omitzero"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *Turn) UnmarshalJSON(data []byte) error {
	type plain Turn
	return read(data, (*plain)(v), &v.Extra)
}

func (v Turn) MarshalJSON() ([]byte, error) {
	type plain Turn
	return write(plain(v), v.Extra)
}

// AbstainInfo: Why there is no answer, and what is missing.
type AbstainInfo struct {
	Message       string                     `json:"message"`
	Missing       []string                   `json:"missing"`
	PartialAnswer *string                    `json:"partial_answer,omitzero"`
	Extra         map[string]json.RawMessage `json:"-"`
}

func (v *AbstainInfo) UnmarshalJSON(data []byte) error {
	type plain AbstainInfo
	return read(data, (*plain)(v), &v.Extra)
}

func (v AbstainInfo) MarshalJSON() ([]byte, error) {
	type plain AbstainInfo
	return write(plain(v), v.Extra)
}

// ActiveTheme: A theme of the tenant's documents that the question is about, and how much, 0-1.
type ActiveTheme struct {
	ThemeID string                     `json:"theme_id"`
	Nome    string                     `json:"nome"`
	Nivel   ThemeLevel                 `json:"nivel"`
	Peso    float64                    `json:"peso"`
	Extra   map[string]json.RawMessage `json:"-"`
}

func (v *ActiveTheme) UnmarshalJSON(data []byte) error {
	type plain ActiveTheme
	return read(data, (*plain)(v), &v.Extra)
}

func (v ActiveTheme) MarshalJSON() ([]byte, error) {
	type plain ActiveTheme
	return write(plain(v), v.Extra)
}

// Anchor: The topic of a frame: its opening topic and the content words of it.
type Anchor struct {
	Topic string                     `json:"topic"`
	Terms []string                   `json:"terms"`
	Extra map[string]json.RawMessage `json:"-"`
}

func (v *Anchor) UnmarshalJSON(data []byte) error {
	type plain Anchor
	return read(data, (*plain)(v), &v.Extra)
}

func (v Anchor) MarshalJSON() ([]byte, error) {
	type plain Anchor
	return write(plain(v), v.Extra)
}

// AnswerMeta: The subject of an answer and its question; ids and names, never the text of a turn.
type AnswerMeta struct {
	Intent     Nullable[string]           `json:"intent,omitzero"`
	Entity     Nullable[string]           `json:"entity,omitzero"`
	Lang       string                     `json:"lang"`
	FrameID    string                     `json:"frame_id"`
	DepthLevel *DepthLevel                `json:"depth_level,omitzero"`
	Answers    *string                    `json:"answers,omitzero"`
	PackID     *string                    `json:"pack_id,omitzero"`
	Extra      map[string]json.RawMessage `json:"-"`
}

func (v *AnswerMeta) UnmarshalJSON(data []byte) error {
	type plain AnswerMeta
	return read(data, (*plain)(v), &v.Extra)
}

func (v AnswerMeta) MarshalJSON() ([]byte, error) {
	type plain AnswerMeta
	return write(plain(v), v.Extra)
}

// AppliedOptions: The options in force for a message; `clamped` names those that the policy limited.
//
// `reason` says which level the words gave, where an option gave another one.
type AppliedOptions struct {
	MinDepth  *DepthLevel                `json:"min_depth,omitzero"`
	MaxDepth  *DepthLevel                `json:"max_depth,omitzero"`
	LookUp    *LookUp                    `json:"look_up,omitzero"`
	MaxTokens *int64                     `json:"max_tokens,omitzero"`
	Have      []string                   `json:"have,omitzero"`
	Template  *string                    `json:"template,omitzero"`
	Deep      *bool                      `json:"deep,omitzero"`
	WaitMs    *int64                     `json:"wait_ms,omitzero"`
	Clamped   []OptionName               `json:"clamped,omitzero"`
	Reason    *string                    `json:"reason,omitzero"`
	Extra     map[string]json.RawMessage `json:"-"`
}

func (v *AppliedOptions) UnmarshalJSON(data []byte) error {
	type plain AppliedOptions
	return read(data, (*plain)(v), &v.Extra)
}

func (v AppliedOptions) MarshalJSON() ([]byte, error) {
	type plain AppliedOptions
	return write(plain(v), v.Extra)
}

// Check: One check of a claim: the verdict, what was expected and what was found (`cognition.checks`).
type Check struct {
	Number   int64                      `json:"number"`
	Verdict  Verdict                    `json:"verdict"`
	Expected *string                    `json:"expected,omitzero"`
	Found    *string                    `json:"found,omitzero"`
	Extra    map[string]json.RawMessage `json:"-"`
}

func (v *Check) UnmarshalJSON(data []byte) error {
	type plain Check
	return read(data, (*plain)(v), &v.Extra)
}

func (v Check) MarshalJSON() ([]byte, error) {
	type plain Check
	return write(plain(v), v.Extra)
}

type Chunk struct {
	ID         string     `json:"id"`
	Provenance Provenance `json:"provenance"`
	RecordedAt Timestamp  `json:"recorded_at"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Reason      string                     `json:"reason"`
	Score       *float64                   `json:"score,omitzero"`
	Scores      map[string]float64         `json:"scores,omitzero"`
	Tokens      *int64                     `json:"tokens,omitzero"`
	Truncated   *bool                      `json:"truncated,omitzero"`
	Covers      []string                   `json:"covers,omitzero"`
	Type        string                     `json:"type"`
	ChunkUID    string                     `json:"chunk_uid"`
	DocumentID  string                     `json:"document_id"`
	Title       string                     `json:"title"`
	Text        string                     `json:"text"`
	Position    int64                      `json:"position"`
	Page        *int64                     `json:"page,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *Chunk) UnmarshalJSON(data []byte) error {
	type plain Chunk
	return read(data, (*plain)(v), &v.Extra)
}

func (v Chunk) MarshalJSON() ([]byte, error) {
	type plain Chunk
	return write(plain(v), v.Extra)
}

// ChunkEntry: A passage, of `block` where that was cut for its length; `context`, around it, is searched and never
// shown.
type ChunkEntry struct {
	ID         string `json:"id"`
	DocumentID string `json:"document_id"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Recency     Timestamp                  `json:"recency"`
	Lang        string                     `json:"lang"`
	Kind        string                     `json:"kind"`
	Title       string                     `json:"title"`
	Text        string                     `json:"text"`
	Position    int64                      `json:"position"`
	Context     *string                    `json:"context,omitzero"`
	Page        *int64                     `json:"page,omitzero"`
	Block       *int64                     `json:"block,omitzero"`
	Entities    []EntityMention            `json:"entities,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *ChunkEntry) UnmarshalJSON(data []byte) error {
	type plain ChunkEntry
	return read(data, (*plain)(v), &v.Extra)
}

func (v ChunkEntry) MarshalJSON() ([]byte, error) {
	type plain ChunkEntry
	return write(plain(v), v.Extra)
}

// Claim: A sentence of an answer, taken from a passage: `text` is `passage[start:end]`, `cite` its `tipo:id`.
type Claim struct {
	Text     string                     `json:"text"`
	ChunkUID string                     `json:"chunk_uid"`
	Start    int64                      `json:"start"`
	End      int64                      `json:"end"`
	Cite     string                     `json:"cite"`
	Extra    map[string]json.RawMessage `json:"-"`
}

func (v *Claim) UnmarshalJSON(data []byte) error {
	type plain Claim
	return read(data, (*plain)(v), &v.Extra)
}

func (v Claim) MarshalJSON() ([]byte, error) {
	type plain Claim
	return write(plain(v), v.Extra)
}

// ClaimItem: A claim: subject, attribute and value as somebody asserted them; `user_id` where that is not who asks.
type ClaimItem struct {
	ID         string     `json:"id"`
	Provenance Provenance `json:"provenance"`
	RecordedAt Timestamp  `json:"recorded_at"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Reason      string                     `json:"reason"`
	Score       *float64                   `json:"score,omitzero"`
	Scores      map[string]float64         `json:"scores,omitzero"`
	Tokens      *int64                     `json:"tokens,omitzero"`
	Truncated   *bool                      `json:"truncated,omitzero"`
	Covers      []string                   `json:"covers,omitzero"`
	Type        string                     `json:"type"`
	ClaimID     string                     `json:"claim_id"`
	Author      ClaimItemAuthor            `json:"author"`
	Text        string                     `json:"text"`
	Subject     string                     `json:"subject"`
	Attribute   string                     `json:"attribute"`
	Value       string                     `json:"value"`
	MessageID   string                     `json:"message_id"`
	Confidence  float64                    `json:"confidence"`
	Status      ClaimStatus                `json:"status"`
	UserID      *string                    `json:"user_id,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *ClaimItem) UnmarshalJSON(data []byte) error {
	type plain ClaimItem
	return read(data, (*plain)(v), &v.Extra)
}

func (v ClaimItem) MarshalJSON() ([]byte, error) {
	type plain ClaimItem
	return write(plain(v), v.Extra)
}

// ClaimVerdict: The checks of one claim of an answer, and its support 0-1: 0 where a hard check fails.
type ClaimVerdict struct {
	Text    string                     `json:"text"`
	Cite    string                     `json:"cite"`
	Checks  []Check                    `json:"checks"`
	Support float64                    `json:"support"`
	Extra   map[string]json.RawMessage `json:"-"`
}

func (v *ClaimVerdict) UnmarshalJSON(data []byte) error {
	type plain ClaimVerdict
	return read(data, (*plain)(v), &v.Extra)
}

func (v ClaimVerdict) MarshalJSON() ([]byte, error) {
	type plain ClaimVerdict
	return write(plain(v), v.Extra)
}

type ClaimsSection struct {
	UserClaims     []ClaimItem                `json:"user_claims,omitzero"`
	SystemClaims   []ClaimItem                `json:"system_claims,omitzero"`
	Contradictions []Contradiction            `json:"contradictions,omitzero"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *ClaimsSection) UnmarshalJSON(data []byte) error {
	type plain ClaimsSection
	return read(data, (*plain)(v), &v.Extra)
}

func (v ClaimsSection) MarshalJSON() ([]byte, error) {
	type plain ClaimsSection
	return write(plain(v), v.Extra)
}

// CognitionFlags: Which nodes do their work; the others pass the state on.
type CognitionFlags struct {
	Theme      *bool `json:"theme,omitzero"`
	Refinement *bool `json:"refinement,omitzero"`
	Memory     *bool `json:"memory,omitzero"`
	// Absent means True.
	Abstain           *bool                      `json:"abstain,omitzero"`
	Verification      *bool                      `json:"verification,omitzero"`
	HallucinationLoop *bool                      `json:"hallucination_loop,omitzero"`
	Extra             map[string]json.RawMessage `json:"-"`
}

func (v *CognitionFlags) UnmarshalJSON(data []byte) error {
	type plain CognitionFlags
	return read(data, (*plain)(v), &v.Extra)
}

func (v CognitionFlags) MarshalJSON() ([]byte, error) {
	type plain CognitionFlags
	return write(plain(v), v.Extra)
}

// CognitionLimits: What a run may spend; never changed within it.
type CognitionLimits struct {
	// Absent means 3.
	MaxDepth *int64 `json:"max_depth,omitzero"`
	// Absent means 4.
	MaxChildren *int64 `json:"max_children,omitzero"`
	// Absent means 1.
	MaxRethink *int64 `json:"max_rethink,omitzero"`
	// Absent means 3.
	MaxSearchesAgain *int64 `json:"max_searches_again,omitzero"`
	// Absent means 20.
	MaxLLMCalls *int64 `json:"max_llm_calls,omitzero"`
	// Absent means 0.5.
	ComplexityThreshold *float64 `json:"complexity_threshold,omitzero"`
	// Absent means 0.3.
	AbstainThreshold    *float64                   `json:"abstain_threshold,omitzero"`
	SimilarityThreshold *float64                   `json:"similarity_threshold,omitzero"`
	Extra               map[string]json.RawMessage `json:"-"`
}

func (v *CognitionLimits) UnmarshalJSON(data []byte) error {
	type plain CognitionLimits
	return read(data, (*plain)(v), &v.Extra)
}

func (v CognitionLimits) MarshalJSON() ([]byte, error) {
	type plain CognitionLimits
	return write(plain(v), v.Extra)
}

// CognitiveState: The whole state of a run after a node; the log's copy is checkpoint, transport and replay log.
//
// What the user said since `talks_since` is evidence (absent: none). `penalties` multiply the scores of passages;
// `answerable`: how likely a leaf's evidence has its answer; `refused`: rejected claims; `todo`: nodes to do again.
type CognitiveState struct {
	Query               string                     `json:"query"`
	Lang                string                     `json:"lang"`
	TenantID            string                     `json:"tenant_id"`
	CaseID              *string                    `json:"case_id,omitzero"`
	Scope               string                     `json:"scope"`
	JobID               string                     `json:"job_id"`
	ClientID            string                     `json:"client_id"`
	ConversationID      string                     `json:"conversation_id"`
	MessageID           string                     `json:"message_id"`
	PackID              string                     `json:"pack_id"`
	FrameID             string                     `json:"frame_id"`
	UserID              string                     `json:"user_id"`
	AsOf                Timestamp                  `json:"as_of"`
	DeadlineAt          Timestamp                  `json:"deadline_at"`
	Limits              *CognitionLimits           `json:"limits,omitzero"`
	Flags               *CognitionFlags            `json:"flags,omitzero"`
	Spent               *Spent                     `json:"spent,omitzero"`
	TalksSince          *Timestamp                 `json:"talks_since,omitzero"`
	Fallback            *bool                      `json:"fallback,omitzero"`
	MindMap             *CognitiveTree             `json:"mind_map,omitzero"`
	Temas               []ActiveTheme              `json:"temas,omitzero"`
	Passages            map[string]EvidencePassage `json:"passages,omitzero"`
	EvidenceMap         map[string][]LeafEvidence  `json:"evidence_map,omitzero"`
	Sources             []SourceAnswer             `json:"sources,omitzero"`
	Answerable          map[string]float64         `json:"answerable,omitzero"`
	Bindings            map[string]string          `json:"bindings,omitzero"`
	Discarded           []string                   `json:"discarded,omitzero"`
	Conflicts           []EvidenceConflict         `json:"conflicts,omitzero"`
	RefinedEvidence     map[string][]LeafEvidence  `json:"refined_evidence,omitzero"`
	Penalties           map[string]float64         `json:"penalties,omitzero"`
	SimilarConsultation *string                    `json:"similar_consultation,omitzero"`
	NearMisses          []NearMiss                 `json:"near_misses,omitzero"`
	SubAnswers          map[string]SubAnswer       `json:"sub_answers,omitzero"`
	Refused             []Claim                    `json:"refused,omitzero"`
	Verifications       map[string]Verification    `json:"verifications,omitzero"`
	VerificationStatus  *VerificationStatus        `json:"verification_status,omitzero"`
	VerificationIssues  []string                   `json:"verification_issues,omitzero"`
	RequiresNewSearch   *bool                      `json:"requires_new_search,omitzero"`
	RethinkCount        *int64                     `json:"rethink_count,omitzero"`
	Rethinks            map[string]int64           `json:"rethinks,omitzero"`
	SearchesAgain       map[string]int64           `json:"searches_again,omitzero"`
	Queries             map[string]string          `json:"queries,omitzero"`
	QueriesSeen         map[string][]string        `json:"queries_seen,omitzero"`
	Todo                []string                   `json:"todo,omitzero"`
	Sections            []Section                  `json:"sections,omitzero"`
	IntegratedResponse  *string                    `json:"integrated_response,omitzero"`
	CitationsUsed       []string                   `json:"citations_used,omitzero"`
	AbstainInfo         *AbstainInfo               `json:"abstain_info,omitzero"`
	Extra               map[string]json.RawMessage `json:"-"`
}

func (v *CognitiveState) UnmarshalJSON(data []byte) error {
	type plain CognitiveState
	return read(data, (*plain)(v), &v.Extra)
}

func (v CognitiveState) MarshalJSON() ([]byte, error) {
	type plain CognitiveState
	return write(plain(v), v.Extra)
}

// CognitiveTree: A question divided into sub-questions: one root, no cycle, bounded depth and children.
type CognitiveTree struct {
	RootQuestion string                 `json:"root_question"`
	Conditions   []string               `json:"conditions,omitzero"`
	Nodes        map[string]MindMapNode `json:"nodes"`
	// Absent means 3.
	MaxDepth *int64 `json:"max_depth,omitzero"`
	// Absent means 4.
	MaxChildren *int64                     `json:"max_children,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *CognitiveTree) UnmarshalJSON(data []byte) error {
	type plain CognitiveTree
	return read(data, (*plain)(v), &v.Extra)
}

func (v CognitiveTree) MarshalJSON() ([]byte, error) {
	type plain CognitiveTree
	return write(plain(v), v.Extra)
}

type Concept struct {
	ID         string     `json:"id"`
	Provenance Provenance `json:"provenance"`
	RecordedAt Timestamp  `json:"recorded_at"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Reason      string                     `json:"reason"`
	Score       *float64                   `json:"score,omitzero"`
	Scores      map[string]float64         `json:"scores,omitzero"`
	Tokens      *int64                     `json:"tokens,omitzero"`
	Truncated   *bool                      `json:"truncated,omitzero"`
	Covers      []string                   `json:"covers,omitzero"`
	Type        string                     `json:"type"`
	Name        string                     `json:"name"`
	Definition  string                     `json:"definition"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *Concept) UnmarshalJSON(data []byte) error {
	type plain Concept
	return read(data, (*plain)(v), &v.Extra)
}

func (v Concept) MarshalJSON() ([]byte, error) {
	type plain Concept
	return write(plain(v), v.Extra)
}

type ConceptEntry struct {
	ID         string `json:"id"`
	DocumentID string `json:"document_id"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Recency     Timestamp                  `json:"recency"`
	Lang        string                     `json:"lang"`
	Kind        string                     `json:"kind"`
	Name        string                     `json:"name"`
	Definition  string                     `json:"definition"`
	Related     []string                   `json:"related,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *ConceptEntry) UnmarshalJSON(data []byte) error {
	type plain ConceptEntry
	return read(data, (*plain)(v), &v.Extra)
}

func (v ConceptEntry) MarshalJSON() ([]byte, error) {
	type plain ConceptEntry
	return write(plain(v), v.Extra)
}

// Conflict: An older claim that the new one cannot stand beside.
type Conflict struct {
	ClaimID string                     `json:"claim_id"`
	Kind    ConflictKind               `json:"kind"`
	Score   float64                    `json:"score"`
	Extra   map[string]json.RawMessage `json:"-"`
}

func (v *Conflict) UnmarshalJSON(data []byte) error {
	type plain Conflict
	return read(data, (*plain)(v), &v.Extra)
}

func (v Conflict) MarshalJSON() ([]byte, error) {
	type plain Conflict
	return write(plain(v), v.Extra)
}

// Contradiction: Two claims that cannot both hold, with both sides and the current one; `user_id` where one is another
// user's.
type Contradiction struct {
	ID         string     `json:"id"`
	Provenance Provenance `json:"provenance"`
	RecordedAt Timestamp  `json:"recorded_at"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Reason      string                     `json:"reason"`
	Score       *float64                   `json:"score,omitzero"`
	Scores      map[string]float64         `json:"scores,omitzero"`
	Tokens      *int64                     `json:"tokens,omitzero"`
	Truncated   *bool                      `json:"truncated,omitzero"`
	Covers      []string                   `json:"covers,omitzero"`
	Type        string                     `json:"type"`
	ClaimID     string                     `json:"claim_id"`
	Contradicts string                     `json:"contradicts"`
	Kind        string                     `json:"kind"`
	Status      ContradictionStatus        `json:"status"`
	Current     *string                    `json:"current,omitzero"`
	Explanation string                     `json:"explanation"`
	UserID      *string                    `json:"user_id,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *Contradiction) UnmarshalJSON(data []byte) error {
	type plain Contradiction
	return read(data, (*plain)(v), &v.Extra)
}

func (v Contradiction) MarshalJSON() ([]byte, error) {
	type plain Contradiction
	return write(plain(v), v.Extra)
}

// ConversationSummary: An extractive summary of a part of a conversation; `previous` for that of another conversation.
type ConversationSummary struct {
	ID         string     `json:"id"`
	Provenance Provenance `json:"provenance"`
	RecordedAt Timestamp  `json:"recorded_at"`
	// Absent means public.
	AccessLevel    *AccessLevel       `json:"access_level,omitzero"`
	Reason         string             `json:"reason"`
	Score          *float64           `json:"score,omitzero"`
	Scores         map[string]float64 `json:"scores,omitzero"`
	Tokens         *int64             `json:"tokens,omitzero"`
	Truncated      *bool              `json:"truncated,omitzero"`
	Covers         []string           `json:"covers,omitzero"`
	Type           string             `json:"type"`
	ConversationID string             `json:"conversation_id"`
	Text           string             `json:"text"`
	Topic          string             `json:"topic"`
	FromSeq        int64              `json:"from_seq"`
	ToSeq          int64              `json:"to_seq"`
	// Absent means current.
	Origin *ConversationSummaryOrigin `json:"origin,omitzero"`
	Extra  map[string]json.RawMessage `json:"-"`
}

func (v *ConversationSummary) UnmarshalJSON(data []byte) error {
	type plain ConversationSummary
	return read(data, (*plain)(v), &v.Extra)
}

func (v ConversationSummary) MarshalJSON() ([]byte, error) {
	type plain ConversationSummary
	return write(plain(v), v.Extra)
}

type DefinitionEntry struct {
	ID         string `json:"id"`
	DocumentID string `json:"document_id"`
	// Absent means public.
	AccessLevel *AccessLevel `json:"access_level,omitzero"`
	Recency     Timestamp    `json:"recency"`
	Lang        string       `json:"lang"`
	Kind        string       `json:"kind"`
	Title       string       `json:"title"`
	Text        string       `json:"text"`
	// Absent means 1.0.
	Confidence *float64                   `json:"confidence,omitzero"`
	Extra      map[string]json.RawMessage `json:"-"`
}

func (v *DefinitionEntry) UnmarshalJSON(data []byte) error {
	type plain DefinitionEntry
	return read(data, (*plain)(v), &v.Extra)
}

func (v DefinitionEntry) MarshalJSON() ([]byte, error) {
	type plain DefinitionEntry
	return write(plain(v), v.Extra)
}

// Dropped: An item that was found but left out, and why.
type Dropped struct {
	ID          string                     `json:"id"`
	MemoryClass MemoryClass                `json:"memory_class"`
	Reason      string                     `json:"reason"`
	Tokens      int64                      `json:"tokens"`
	Score       float64                    `json:"score"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *Dropped) UnmarshalJSON(data []byte) error {
	type plain Dropped
	return read(data, (*plain)(v), &v.Extra)
}

func (v Dropped) MarshalJSON() ([]byte, error) {
	type plain Dropped
	return write(plain(v), v.Extra)
}

// EntityMention: Who or what a passage names: a name, an acronym, a legal reference.
type EntityMention struct {
	Name  string                     `json:"name"`
	Tipo  string                     `json:"tipo"`
	Extra map[string]json.RawMessage `json:"-"`
}

func (v *EntityMention) UnmarshalJSON(data []byte) error {
	type plain EntityMention
	return read(data, (*plain)(v), &v.Extra)
}

func (v EntityMention) MarshalJSON() ([]byte, error) {
	type plain EntityMention
	return write(plain(v), v.Extra)
}

type EpisodicSection struct {
	ConversationSummaries []ConversationSummary      `json:"conversation_summaries,omitzero"`
	RelevantEvents        []TimePoint                `json:"relevant_events,omitzero"`
	Extra                 map[string]json.RawMessage `json:"-"`
}

func (v *EpisodicSection) UnmarshalJSON(data []byte) error {
	type plain EpisodicSection
	return read(data, (*plain)(v), &v.Extra)
}

func (v EpisodicSection) MarshalJSON() ([]byte, error) {
	type plain EpisodicSection
	return write(plain(v), v.Extra)
}

// EventMention: A point in time that was talked about.
type EventMention struct {
	ID        string                     `json:"id"`
	Label     string                     `json:"label"`
	At        Timestamp                  `json:"at"`
	Kind      string                     `json:"kind"`
	MessageID string                     `json:"message_id"`
	Extra     map[string]json.RawMessage `json:"-"`
}

func (v *EventMention) UnmarshalJSON(data []byte) error {
	type plain EventMention
	return read(data, (*plain)(v), &v.Extra)
}

func (v EventMention) MarshalJSON() ([]byte, error) {
	type plain EventMention
	return write(plain(v), v.Extra)
}

// EvidenceConflict: Two passages that disagree about one sub-question; `spans` are the sentences, as character offsets
// in each.
type EvidenceConflict struct {
	NodeID string       `json:"node_id"`
	A      string       `json:"a"`
	B      string       `json:"b"`
	Motivo string       `json:"motivo"`
	Type   ConflictType `json:"type"`
	// Absent means open.
	Resolution *EvidenceConflictResolution `json:"resolution,omitzero"`
	Spans      [][]int64                   `json:"spans"`
	Extra      map[string]json.RawMessage  `json:"-"`
}

func (v *EvidenceConflict) UnmarshalJSON(data []byte) error {
	type plain EvidenceConflict
	return read(data, (*plain)(v), &v.Extra)
}

func (v EvidenceConflict) MarshalJSON() ([]byte, error) {
	type plain EvidenceConflict
	return write(plain(v), v.Extra)
}

// EvidencePassage: A passage, or a `turn` (`chunk_uid` is its message), kept once; `cite` is its `tipo:id` without
// brackets.
type EvidencePassage struct {
	ChunkUID   string    `json:"chunk_uid"`
	Text       string    `json:"text"`
	Title      string    `json:"title"`
	DocumentID string    `json:"document_id"`
	Cite       string    `json:"cite"`
	Lang       string    `json:"lang"`
	RecordedAt Timestamp `json:"recorded_at"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Turn        *TurnOrigin                `json:"turn,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *EvidencePassage) UnmarshalJSON(data []byte) error {
	type plain EvidencePassage
	return read(data, (*plain)(v), &v.Extra)
}

func (v EvidencePassage) MarshalJSON() ([]byte, error) {
	type plain EvidencePassage
	return write(plain(v), v.Extra)
}

// GraphRef: A node that an answer came from, by label and id; `public` when it is shared with all tenants.
type GraphRef struct {
	Label  PathLabel                  `json:"label"`
	ID     string                     `json:"id"`
	Public *bool                      `json:"public,omitzero"`
	Extra  map[string]json.RawMessage `json:"-"`
}

func (v *GraphRef) UnmarshalJSON(data []byte) error {
	type plain GraphRef
	return read(data, (*plain)(v), &v.Extra)
}

func (v GraphRef) MarshalJSON() ([]byte, error) {
	type plain GraphRef
	return write(plain(v), v.Extra)
}

// Injection: A value that the call did not have: where it came from, and how old it was, in seconds.
//
// `evidence` is the message, or the call, that had it; a default has neither.
type Injection struct {
	Arg        string                     `json:"arg"`
	Value      json.RawMessage            `json:"value"`
	Source     InjectionSource            `json:"source"`
	Evidence   *string                    `json:"evidence,omitzero"`
	AgeSeconds *float64                   `json:"age_seconds,omitzero"`
	Extra      map[string]json.RawMessage `json:"-"`
}

func (v *Injection) UnmarshalJSON(data []byte) error {
	type plain Injection
	return read(data, (*plain)(v), &v.Extra)
}

func (v Injection) MarshalJSON() ([]byte, error) {
	type plain Injection
	return write(plain(v), v.Extra)
}

// Knowledge: A known fact with its title; `holds`: true where it replaced an older value, which the reason names.
//
// `said_by`: another user of the tenant who said it, and nobody verified it.
type Knowledge struct {
	ID         string     `json:"id"`
	Provenance Provenance `json:"provenance"`
	RecordedAt Timestamp  `json:"recorded_at"`
	// Absent means public.
	AccessLevel *AccessLevel       `json:"access_level,omitzero"`
	Reason      string             `json:"reason"`
	Score       *float64           `json:"score,omitzero"`
	Scores      map[string]float64 `json:"scores,omitzero"`
	Tokens      *int64             `json:"tokens,omitzero"`
	Truncated   *bool              `json:"truncated,omitzero"`
	Covers      []string           `json:"covers,omitzero"`
	Type        string             `json:"type"`
	Title       string             `json:"title"`
	Text        string             `json:"text"`
	// Absent means semantic.
	MemoryClass *KnowledgeMemoryClass `json:"memory_class,omitzero"`
	// Absent means 1.0.
	Confidence *float64                   `json:"confidence,omitzero"`
	Holds      *bool                      `json:"holds,omitzero"`
	SaidBy     *string                    `json:"said_by,omitzero"`
	Extra      map[string]json.RawMessage `json:"-"`
}

func (v *Knowledge) UnmarshalJSON(data []byte) error {
	type plain Knowledge
	return read(data, (*plain)(v), &v.Extra)
}

func (v Knowledge) MarshalJSON() ([]byte, error) {
	type plain Knowledge
	return write(plain(v), v.Extra)
}

// LeafEvidence: A passage as evidence for one sub-question: score 0-1, sources, and the cosines of its sentences
// (`similar`).
type LeafEvidence struct {
	ChunkUID string                     `json:"chunk_uid"`
	Score    float64                    `json:"score"`
	Sources  []SourceName               `json:"sources,omitzero"`
	Similar  []float64                  `json:"similar,omitzero"`
	Extra    map[string]json.RawMessage `json:"-"`
}

func (v *LeafEvidence) UnmarshalJSON(data []byte) error {
	type plain LeafEvidence
	return read(data, (*plain)(v), &v.Extra)
}

func (v LeafEvidence) MarshalJSON() ([]byte, error) {
	type plain LeafEvidence
	return write(plain(v), v.Extra)
}

// LegalEntry: A case, a ruling or a provision that a document refers to; `texto` is the sentence that does.
type LegalEntry struct {
	ID         string `json:"id"`
	DocumentID string `json:"document_id"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Recency     Timestamp                  `json:"recency"`
	Lang        string                     `json:"lang"`
	Kind        string                     `json:"kind"`
	Tipo        LegalEntryTipo             `json:"tipo"`
	Referencia  string                     `json:"referencia"`
	Tribunal    *string                    `json:"tribunal,omitzero"`
	Lei         *string                    `json:"lei,omitzero"`
	Artigo      *string                    `json:"artigo,omitzero"`
	Texto       string                     `json:"texto"`
	Temas       []ThemeShare               `json:"temas,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *LegalEntry) UnmarshalJSON(data []byte) error {
	type plain LegalEntry
	return read(data, (*plain)(v), &v.Extra)
}

func (v LegalEntry) MarshalJSON() ([]byte, error) {
	type plain LegalEntry
	return write(plain(v), v.Extra)
}

// MessageItem: One earlier message of the conversation, or the summary that replaces dropped ones.
type MessageItem struct {
	ID         string     `json:"id"`
	Provenance Provenance `json:"provenance"`
	RecordedAt Timestamp  `json:"recorded_at"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Reason      string                     `json:"reason"`
	Score       *float64                   `json:"score,omitzero"`
	Scores      map[string]float64         `json:"scores,omitzero"`
	Tokens      *int64                     `json:"tokens,omitzero"`
	Truncated   *bool                      `json:"truncated,omitzero"`
	Covers      []string                   `json:"covers,omitzero"`
	Type        string                     `json:"type"`
	MessageID   string                     `json:"message_id"`
	Role        MessageItemRole            `json:"role"`
	Content     string                     `json:"content"`
	CreatedAt   Timestamp                  `json:"created_at"`
	Seq         int64                      `json:"seq"`
	FrameID     string                     `json:"frame_id"`
	Meta        map[string]json.RawMessage `json:"meta,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *MessageItem) UnmarshalJSON(data []byte) error {
	type plain MessageItem
	return read(data, (*plain)(v), &v.Extra)
}

func (v MessageItem) MarshalJSON() ([]byte, error) {
	type plain MessageItem
	return write(plain(v), v.Extra)
}

// MindMapNode: One sub-question of the tree; `answer`, `evidence` (ids of passages) and `verified` are set late.
//
// `kind`: how its children's answers compose its own; `uses`: nodes that its question names by `#n` (`expects`: type).
type MindMapNode struct {
	NodeID   string `json:"node_id"`
	Question string `json:"question"`
	Level    int64  `json:"level"`
	// Absent means End.
	State    *NodeState `json:"state,omitzero"`
	ParentID *string    `json:"parent_id,omitzero"`
	Children []string   `json:"children,omitzero"`
	// Absent means single.
	Kind *QuestionKind `json:"kind,omitzero"`
	Uses []string      `json:"uses,omitzero"`
	// Absent means any.
	Expects  *EntityType                `json:"expects,omitzero"`
	Answer   *string                    `json:"answer,omitzero"`
	Evidence []string                   `json:"evidence,omitzero"`
	Verified *bool                      `json:"verified,omitzero"`
	Extra    map[string]json.RawMessage `json:"-"`
}

func (v *MindMapNode) UnmarshalJSON(data []byte) error {
	type plain MindMapNode
	return read(data, (*plain)(v), &v.Extra)
}

func (v MindMapNode) MarshalJSON() ([]byte, error) {
	type plain MindMapNode
	return write(plain(v), v.Extra)
}

// NearMiss: An earlier consultation whose question has the same signature and which was yet not reused, and why.
type NearMiss struct {
	ConsultationID string                     `json:"consultation_id"`
	Similarity     float64                    `json:"similarity"`
	Reason         NearMissReason             `json:"reason"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *NearMiss) UnmarshalJSON(data []byte) error {
	type plain NearMiss
	return read(data, (*plain)(v), &v.Extra)
}

func (v NearMiss) MarshalJSON() ([]byte, error) {
	type plain NearMiss
	return write(plain(v), v.Extra)
}

type Objective struct {
	ID         string     `json:"id"`
	Provenance Provenance `json:"provenance"`
	RecordedAt Timestamp  `json:"recorded_at"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Reason      string                     `json:"reason"`
	Score       *float64                   `json:"score,omitzero"`
	Scores      map[string]float64         `json:"scores,omitzero"`
	Tokens      *int64                     `json:"tokens,omitzero"`
	Truncated   *bool                      `json:"truncated,omitzero"`
	Covers      []string                   `json:"covers,omitzero"`
	Type        string                     `json:"type"`
	Title       string                     `json:"title"`
	Status      string                     `json:"status"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *Objective) UnmarshalJSON(data []byte) error {
	type plain Objective
	return read(data, (*plain)(v), &v.Extra)
}

func (v Objective) MarshalJSON() ([]byte, error) {
	type plain Objective
	return write(plain(v), v.Extra)
}

type ObjectiveEntry struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Absent means active.
	Status *string                    `json:"status,omitzero"`
	Extra  map[string]json.RawMessage `json:"-"`
}

func (v *ObjectiveEntry) UnmarshalJSON(data []byte) error {
	type plain ObjectiveEntry
	return read(data, (*plain)(v), &v.Extra)
}

func (v ObjectiveEntry) MarshalJSON() ([]byte, error) {
	type plain ObjectiveEntry
	return write(plain(v), v.Extra)
}

// PackSource: A source that the text of a pack cites as `[number]`, and the items that stand under it.
type PackSource struct {
	Number int64                      `json:"number"`
	Name   string                     `json:"name"`
	Items  []string                   `json:"items"`
	Extra  map[string]json.RawMessage `json:"-"`
}

func (v *PackSource) UnmarshalJSON(data []byte) error {
	type plain PackSource
	return read(data, (*plain)(v), &v.Extra)
}

func (v PackSource) MarshalJSON() ([]byte, error) {
	type plain PackSource
	return write(plain(v), v.Extra)
}

// Parameter: A subject of a message: named in it, or carried over from the earlier one that `message_id` names.
type Parameter struct {
	Kind      string                     `json:"kind"`
	Value     string                     `json:"value"`
	MessageID string                     `json:"message_id"`
	At        Timestamp                  `json:"at"`
	Source    ParameterSource            `json:"source"`
	Extra     map[string]json.RawMessage `json:"-"`
}

func (v *Parameter) UnmarshalJSON(data []byte) error {
	type plain Parameter
	return read(data, (*plain)(v), &v.Extra)
}

func (v Parameter) MarshalJSON() ([]byte, error) {
	type plain Parameter
	return write(plain(v), v.Extra)
}

// PartReport: The answer of one wanted class: its status.
type PartReport struct {
	MemoryClass MemoryClass                `json:"memory_class"`
	Status      PartReportStatus           `json:"status"`
	Items       int64                      `json:"items"`
	LatencyMs   *float64                   `json:"latency_ms,omitzero"`
	Error       *string                    `json:"error,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *PartReport) UnmarshalJSON(data []byte) error {
	type plain PartReport
	return read(data, (*plain)(v), &v.Extra)
}

func (v PartReport) MarshalJSON() ([]byte, error) {
	type plain PartReport
	return write(plain(v), v.Extra)
}

type PersonaContext struct {
	// Absent means unknown.
	UserRole *string `json:"user_role,omitzero"`
	// Absent means unknown.
	Department *string `json:"department,omitzero"`
	// Absent means public.
	AccessLevel       *string     `json:"access_level,omitzero"`
	CurrentObjectives []Objective `json:"current_objectives,omitzero"`
	Provenance        *Provenance `json:"provenance,omitzero"`
	RecordedAt        *Timestamp  `json:"recorded_at,omitzero"`
	// Absent means persona is in every pack.
	Reason *string                    `json:"reason,omitzero"`
	Tokens *int64                     `json:"tokens,omitzero"`
	Extra  map[string]json.RawMessage `json:"-"`
}

func (v *PersonaContext) UnmarshalJSON(data []byte) error {
	type plain PersonaContext
	return read(data, (*plain)(v), &v.Extra)
}

func (v PersonaContext) MarshalJSON() ([]byte, error) {
	type plain PersonaContext
	return write(plain(v), v.Extra)
}

// PersonaItem: The user who asks: role, department, access level; unknown ones are `unknown` and `public`.
type PersonaItem struct {
	ID         string     `json:"id"`
	Provenance Provenance `json:"provenance"`
	RecordedAt Timestamp  `json:"recorded_at"`
	// Absent means public.
	AccessLevel   *AccessLevel               `json:"access_level,omitzero"`
	Reason        string                     `json:"reason"`
	Score         *float64                   `json:"score,omitzero"`
	Scores        map[string]float64         `json:"scores,omitzero"`
	Tokens        *int64                     `json:"tokens,omitzero"`
	Truncated     *bool                      `json:"truncated,omitzero"`
	Covers        []string                   `json:"covers,omitzero"`
	Type          string                     `json:"type"`
	UserID        string                     `json:"user_id"`
	UserRole      string                     `json:"user_role"`
	Department    string                     `json:"department"`
	PersonaAccess AccessLevel                `json:"persona_access"`
	Extra         map[string]json.RawMessage `json:"-"`
}

func (v *PersonaItem) UnmarshalJSON(data []byte) error {
	type plain PersonaItem
	return read(data, (*plain)(v), &v.Extra)
}

func (v PersonaItem) MarshalJSON() ([]byte, error) {
	type plain PersonaItem
	return write(plain(v), v.Extra)
}

// Preview: What would be executed, for whoever has to say yes, by his id; `lang` is the language of the text.
type Preview struct {
	Texto     string                     `json:"texto"`
	Lang      *string                    `json:"lang,omitzero"`
	UsuarioID *string                    `json:"usuario_id,omitzero"`
	Args      map[string]json.RawMessage `json:"args"`
	ExpiresAt Timestamp                  `json:"expires_at"`
	Extra     map[string]json.RawMessage `json:"-"`
}

func (v *Preview) UnmarshalJSON(data []byte) error {
	type plain Preview
	return read(data, (*plain)(v), &v.Extra)
}

func (v Preview) MarshalJSON() ([]byte, error) {
	type plain Preview
	return write(plain(v), v.Extra)
}

type ProceduralSection struct {
	RelevantProcesses []Process                  `json:"relevant_processes,omitzero"`
	PlaybookSteps     []Step                     `json:"playbook_steps,omitzero"`
	Extra             map[string]json.RawMessage `json:"-"`
}

func (v *ProceduralSection) UnmarshalJSON(data []byte) error {
	type plain ProceduralSection
	return read(data, (*plain)(v), &v.Extra)
}

func (v ProceduralSection) MarshalJSON() ([]byte, error) {
	type plain ProceduralSection
	return write(plain(v), v.Extra)
}

type Process struct {
	ID         string     `json:"id"`
	Provenance Provenance `json:"provenance"`
	RecordedAt Timestamp  `json:"recorded_at"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Reason      string                     `json:"reason"`
	Score       *float64                   `json:"score,omitzero"`
	Scores      map[string]float64         `json:"scores,omitzero"`
	Tokens      *int64                     `json:"tokens,omitzero"`
	Truncated   *bool                      `json:"truncated,omitzero"`
	Covers      []string                   `json:"covers,omitzero"`
	Type        string                     `json:"type"`
	Name        string                     `json:"name"`
	HowToTerms  []string                   `json:"how_to_terms,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *Process) UnmarshalJSON(data []byte) error {
	type plain Process
	return read(data, (*plain)(v), &v.Extra)
}

func (v Process) MarshalJSON() ([]byte, error) {
	type plain Process
	return write(plain(v), v.Extra)
}

type ProcessEntry struct {
	ID         string `json:"id"`
	DocumentID string `json:"document_id"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Recency     Timestamp                  `json:"recency"`
	Lang        string                     `json:"lang"`
	Kind        string                     `json:"kind"`
	Name        string                     `json:"name"`
	HowToTerms  []string                   `json:"how_to_terms"`
	Steps       []StepEntry                `json:"steps"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *ProcessEntry) UnmarshalJSON(data []byte) error {
	type plain ProcessEntry
	return read(data, (*plain)(v), &v.Extra)
}

func (v ProcessEntry) MarshalJSON() ([]byte, error) {
	type plain ProcessEntry
	return write(plain(v), v.Extra)
}

// Profile: Who a user is: role, department, what they may see, what they are after.
type Profile struct {
	UserID string `json:"user_id"`
	// Absent means unknown.
	UserRole *string `json:"user_role,omitzero"`
	// Absent means unknown.
	Department *string `json:"department,omitzero"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Objectives  []ObjectiveEntry           `json:"objectives,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *Profile) UnmarshalJSON(data []byte) error {
	type plain Profile
	return read(data, (*plain)(v), &v.Extra)
}

func (v Profile) MarshalJSON() ([]byte, error) {
	type plain Profile
	return write(plain(v), v.Extra)
}

type ProfileEntry struct {
	ID         string `json:"id"`
	DocumentID string `json:"document_id"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Recency     Timestamp                  `json:"recency"`
	Lang        string                     `json:"lang"`
	Kind        string                     `json:"kind"`
	Profile     Profile                    `json:"profile"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *ProfileEntry) UnmarshalJSON(data []byte) error {
	type plain ProfileEntry
	return read(data, (*plain)(v), &v.Extra)
}

func (v ProfileEntry) MarshalJSON() ([]byte, error) {
	type plain ProfileEntry
	return write(plain(v), v.Extra)
}

// ProfileSource: A query profile's limits for one source; `share` is of the level's budget. Absent: all kinds, of any
// age.
type ProfileSource struct {
	MemoryClass MemoryClass                `json:"memory_class"`
	Selector    string                     `json:"selector"`
	Limit       *int64                     `json:"limit,omitzero"`
	Share       float64                    `json:"share"`
	Kinds       []PassageKind              `json:"kinds,omitzero"`
	MaxAgeDays  *int64                     `json:"max_age_days,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *ProfileSource) UnmarshalJSON(data []byte) error {
	type plain ProfileSource
	return read(data, (*plain)(v), &v.Extra)
}

func (v ProfileSource) MarshalJSON() ([]byte, error) {
	type plain ProfileSource
	return write(plain(v), v.Extra)
}

// Provenance: A place in the log (topic, partition, offset) or a record of a store (store, id); at least one of them.
type Provenance struct {
	Topic     *string                    `json:"topic,omitzero"`
	Partition *int64                     `json:"partition,omitzero"`
	Offset    *int64                     `json:"offset,omitzero"`
	Store     *string                    `json:"store,omitzero"`
	ID        *string                    `json:"id,omitzero"`
	Extra     map[string]json.RawMessage `json:"-"`
}

func (v *Provenance) UnmarshalJSON(data []byte) error {
	type plain Provenance
	return read(data, (*plain)(v), &v.Extra)
}

func (v Provenance) MarshalJSON() ([]byte, error) {
	type plain Provenance
	return write(plain(v), v.Extra)
}

// QuarantinedMessage: A message of a conversation, by its id and its position there.
type QuarantinedMessage struct {
	MessageID      string                     `json:"message_id"`
	ClientID       string                     `json:"client_id"`
	ConversationID string                     `json:"conversation_id"`
	Seq            int64                      `json:"seq"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *QuarantinedMessage) UnmarshalJSON(data []byte) error {
	type plain QuarantinedMessage
	return read(data, (*plain)(v), &v.Extra)
}

func (v QuarantinedMessage) MarshalJSON() ([]byte, error) {
	type plain QuarantinedMessage
	return write(plain(v), v.Extra)
}

// QueryProfile: The request parameters of a level's sources: a name, a version and the parameters.
type QueryProfile struct {
	Name    string                     `json:"name"`
	Version int64                      `json:"version"`
	Sources []ProfileSource            `json:"sources"`
	Extra   map[string]json.RawMessage `json:"-"`
}

func (v *QueryProfile) UnmarshalJSON(data []byte) error {
	type plain QueryProfile
	return read(data, (*plain)(v), &v.Extra)
}

func (v QueryProfile) MarshalJSON() ([]byte, error) {
	type plain QueryProfile
	return write(plain(v), v.Extra)
}

// RecommendedTool: A tool to call, and why; priority 1 is first.
type RecommendedTool struct {
	Name     string                     `json:"name"`
	Reason   string                     `json:"reason"`
	Priority int64                      `json:"priority"`
	Extra    map[string]json.RawMessage `json:"-"`
}

func (v *RecommendedTool) UnmarshalJSON(data []byte) error {
	type plain RecommendedTool
	return read(data, (*plain)(v), &v.Extra)
}

func (v RecommendedTool) MarshalJSON() ([]byte, error) {
	type plain RecommendedTool
	return write(plain(v), v.Extra)
}

// Reconciliation: The claims that a D3 answer has to reconcile.
type Reconciliation struct {
	ClaimIDs        []string                   `json:"claim_ids"`
	OriginalClaimID *string                    `json:"original_claim_id,omitzero"`
	Extra           map[string]json.RawMessage `json:"-"`
}

func (v *Reconciliation) UnmarshalJSON(data []byte) error {
	type plain Reconciliation
	return read(data, (*plain)(v), &v.Extra)
}

func (v Reconciliation) MarshalJSON() ([]byte, error) {
	type plain Reconciliation
	return write(plain(v), v.Extra)
}

// Reference: Something named in a message, of a kind of the reference policy; `at` is the message's event time.
type Reference struct {
	Kind      string                     `json:"kind"`
	Value     string                     `json:"value"`
	MessageID string                     `json:"message_id"`
	At        Timestamp                  `json:"at"`
	Extra     map[string]json.RawMessage `json:"-"`
}

func (v *Reference) UnmarshalJSON(data []byte) error {
	type plain Reference
	return read(data, (*plain)(v), &v.Extra)
}

func (v Reference) MarshalJSON() ([]byte, error) {
	type plain Reference
	return write(plain(v), v.Extra)
}

// RepeatedItem: An item of a pack that the caller still holds: referred to, not injected again.
type RepeatedItem struct {
	ID          string                     `json:"id"`
	MemoryClass MemoryClass                `json:"memory_class"`
	PackID      string                     `json:"pack_id"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *RepeatedItem) UnmarshalJSON(data []byte) error {
	type plain RepeatedItem
	return read(data, (*plain)(v), &v.Extra)
}

func (v RepeatedItem) MarshalJSON() ([]byte, error) {
	type plain RepeatedItem
	return write(plain(v), v.Extra)
}

// SealedSegment: Records of one partition, from `begin` up to before `end`; `before` and `after` are the chain's
// hashes there.
//
// `marks` holds the first four bytes of the hash after each record, in base64, so that the first changed record can be
// named. `last_at` is the greatest time of a record: what is younger than its retention must still be in the log.
type SealedSegment struct {
	Topic     string                     `json:"topic"`
	Partition int64                      `json:"partition"`
	Begin     int64                      `json:"begin"`
	End       int64                      `json:"end"`
	Records   int64                      `json:"records"`
	Before    string                     `json:"before"`
	After     string                     `json:"after"`
	Marks     string                     `json:"marks"`
	LastAt    Timestamp                  `json:"last_at"`
	Extra     map[string]json.RawMessage `json:"-"`
}

func (v *SealedSegment) UnmarshalJSON(data []byte) error {
	type plain SealedSegment
	return read(data, (*plain)(v), &v.Extra)
}

func (v SealedSegment) MarshalJSON() ([]byte, error) {
	type plain SealedSegment
	return write(plain(v), v.Extra)
}

// SearchResult: Something found: its text, where it comes from, and why it was chosen; best first.
//
// `number` is that of its source in the text of all results. `user_id` is another user's who said it.
type SearchResult struct {
	ID             string                     `json:"id"`
	Kind           SearchKind                 `json:"kind"`
	MemoryClass    MemoryClass                `json:"memory_class"`
	Title          string                     `json:"title"`
	Text           string                     `json:"text"`
	Score          float64                    `json:"score"`
	Tokens         int64                      `json:"tokens"`
	Reason         string                     `json:"reason"`
	RecordedAt     Timestamp                  `json:"recorded_at"`
	Truncated      *bool                      `json:"truncated,omitzero"`
	Number         *int64                     `json:"number,omitzero"`
	DocumentID     *string                    `json:"document_id,omitzero"`
	Page           *int64                     `json:"page,omitzero"`
	ClientID       *string                    `json:"client_id,omitzero"`
	ConversationID *string                    `json:"conversation_id,omitzero"`
	MessageID      *string                    `json:"message_id,omitzero"`
	Role           *SearchResultRole          `json:"role,omitzero"`
	ClaimID        *string                    `json:"claim_id,omitzero"`
	UserID         *string                    `json:"user_id,omitzero"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *SearchResult) UnmarshalJSON(data []byte) error {
	type plain SearchResult
	return read(data, (*plain)(v), &v.Extra)
}

func (v SearchResult) MarshalJSON() ([]byte, error) {
	type plain SearchResult
	return write(plain(v), v.Extra)
}

// Section: A section of the final answer.
type Section struct {
	Title string                     `json:"title"`
	Text  string                     `json:"text"`
	Extra map[string]json.RawMessage `json:"-"`
}

func (v *Section) UnmarshalJSON(data []byte) error {
	type plain Section
	return read(data, (*plain)(v), &v.Extra)
}

func (v Section) MarshalJSON() ([]byte, error) {
	type plain Section
	return write(plain(v), v.Extra)
}

type SemanticSection struct {
	Concepts        []Concept                  `json:"concepts,omitzero"`
	KnowledgeChunks []Chunk                    `json:"knowledge_chunks,omitzero"`
	Definitions     []Knowledge                `json:"definitions,omitzero"`
	Extra           map[string]json.RawMessage `json:"-"`
}

func (v *SemanticSection) UnmarshalJSON(data []byte) error {
	type plain SemanticSection
	return read(data, (*plain)(v), &v.Extra)
}

func (v SemanticSection) MarshalJSON() ([]byte, error) {
	type plain SemanticSection
	return write(plain(v), v.Extra)
}

// SessionSummaryItem: An extract of the turns that are no longer in the working set.
type SessionSummaryItem struct {
	ID         string     `json:"id"`
	Provenance Provenance `json:"provenance"`
	RecordedAt Timestamp  `json:"recorded_at"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Reason      string                     `json:"reason"`
	Score       *float64                   `json:"score,omitzero"`
	Scores      map[string]float64         `json:"scores,omitzero"`
	Tokens      *int64                     `json:"tokens,omitzero"`
	Truncated   *bool                      `json:"truncated,omitzero"`
	Covers      []string                   `json:"covers,omitzero"`
	Type        string                     `json:"type"`
	Text        string                     `json:"text"`
	ToSeq       int64                      `json:"to_seq"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *SessionSummaryItem) UnmarshalJSON(data []byte) error {
	type plain SessionSummaryItem
	return read(data, (*plain)(v), &v.Extra)
}

func (v SessionSummaryItem) MarshalJSON() ([]byte, error) {
	type plain SessionSummaryItem
	return write(plain(v), v.Extra)
}

// Signal: One linguistic signal: the words that show it, the level it supports, its weight (0-1).
type Signal struct {
	Name     SignalName                 `json:"name"`
	Evidence string                     `json:"evidence"`
	Level    DepthLevel                 `json:"level"`
	Weight   float64                    `json:"weight"`
	Extra    map[string]json.RawMessage `json:"-"`
}

func (v *Signal) UnmarshalJSON(data []byte) error {
	type plain Signal
	return read(data, (*plain)(v), &v.Extra)
}

func (v Signal) MarshalJSON() ([]byte, error) {
	type plain Signal
	return write(plain(v), v.Extra)
}

// SkippedTool: A tool not to call, and why.
type SkippedTool struct {
	Name   string                     `json:"name"`
	Reason string                     `json:"reason"`
	Extra  map[string]json.RawMessage `json:"-"`
}

func (v *SkippedTool) UnmarshalJSON(data []byte) error {
	type plain SkippedTool
	return read(data, (*plain)(v), &v.Extra)
}

func (v SkippedTool) MarshalJSON() ([]byte, error) {
	type plain SkippedTool
	return write(plain(v), v.Extra)
}

// Source: A position in the log.
type Source struct {
	Topic     string                     `json:"topic"`
	Partition int64                      `json:"partition"`
	Offset    int64                      `json:"offset"`
	Extra     map[string]json.RawMessage `json:"-"`
}

func (v *Source) UnmarshalJSON(data []byte) error {
	type plain Source
	return read(data, (*plain)(v), &v.Extra)
}

func (v Source) MarshalJSON() ([]byte, error) {
	type plain Source
	return write(plain(v), v.Extra)
}

// SourceAnswer: What one source answered to one sub-question.
type SourceAnswer struct {
	NodeID  string                     `json:"node_id"`
	Source  SourceName                 `json:"source"`
	Query   string                     `json:"query"`
	Status  SourceAnswerStatus         `json:"status"`
	Found   *int64                     `json:"found,omitzero"`
	Attempt *int64                     `json:"attempt,omitzero"`
	Extra   map[string]json.RawMessage `json:"-"`
}

func (v *SourceAnswer) UnmarshalJSON(data []byte) error {
	type plain SourceAnswer
	return read(data, (*plain)(v), &v.Extra)
}

func (v SourceAnswer) MarshalJSON() ([]byte, error) {
	type plain SourceAnswer
	return write(plain(v), v.Extra)
}

// SourceRequest: One source of a plan: the class of memory, the selector of the level's plan, and the limits.
//
// `skip` is the reason for not asking it (the stage answers so); with `narrow` only direct results are wanted, none
// related to them. Only results of these `kinds`, and recorded since `since`, count.
type SourceRequest struct {
	MemoryClass MemoryClass                `json:"memory_class"`
	Selector    string                     `json:"selector"`
	Limit       Nullable[int64]            `json:"limit,omitzero"`
	MaxTokens   int64                      `json:"max_tokens"`
	AddedBy     *string                    `json:"added_by,omitzero"`
	Skip        *string                    `json:"skip,omitzero"`
	Narrow      *bool                      `json:"narrow,omitzero"`
	Kinds       []PassageKind              `json:"kinds,omitzero"`
	Since       *Timestamp                 `json:"since,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *SourceRequest) UnmarshalJSON(data []byte) error {
	type plain SourceRequest
	return read(data, (*plain)(v), &v.Extra)
}

func (v SourceRequest) MarshalJSON() ([]byte, error) {
	type plain SourceRequest
	return write(plain(v), v.Extra)
}

// Spent: What a run has spent; it only grows. Of the calls, `llm_failed` gave nothing that could be used.
type Spent struct {
	LLMCalls  *int64                     `json:"llm_calls,omitzero"`
	LLMFailed *int64                     `json:"llm_failed,omitzero"`
	Searches  *int64                     `json:"searches,omitzero"`
	Steps     *int64                     `json:"steps,omitzero"`
	Extra     map[string]json.RawMessage `json:"-"`
}

func (v *Spent) UnmarshalJSON(data []byte) error {
	type plain Spent
	return read(data, (*plain)(v), &v.Extra)
}

func (v Spent) MarshalJSON() ([]byte, error) {
	type plain Spent
	return write(plain(v), v.Extra)
}

type Step struct {
	ID         string     `json:"id"`
	Provenance Provenance `json:"provenance"`
	RecordedAt Timestamp  `json:"recorded_at"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Reason      string                     `json:"reason"`
	Score       *float64                   `json:"score,omitzero"`
	Scores      map[string]float64         `json:"scores,omitzero"`
	Tokens      *int64                     `json:"tokens,omitzero"`
	Truncated   *bool                      `json:"truncated,omitzero"`
	Covers      []string                   `json:"covers,omitzero"`
	Type        string                     `json:"type"`
	ProcessID   string                     `json:"process_id"`
	ProcessName string                     `json:"process_name"`
	Order       int64                      `json:"order"`
	Text        string                     `json:"text"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *Step) UnmarshalJSON(data []byte) error {
	type plain Step
	return read(data, (*plain)(v), &v.Extra)
}

func (v Step) MarshalJSON() ([]byte, error) {
	type plain Step
	return write(plain(v), v.Extra)
}

type StepEntry struct {
	ID    string                     `json:"id"`
	Order int64                      `json:"order"`
	Text  string                     `json:"text"`
	Extra map[string]json.RawMessage `json:"-"`
}

func (v *StepEntry) UnmarshalJSON(data []byte) error {
	type plain StepEntry
	return read(data, (*plain)(v), &v.Extra)
}

func (v StepEntry) MarshalJSON() ([]byte, error) {
	type plain StepEntry
	return write(plain(v), v.Extra)
}

// SubAnswer: The answer to one node of the tree; `missing` says what it lacks, `confidence` is that of its weakest
// claim.
type SubAnswer struct {
	NodeID     string                     `json:"node_id"`
	Status     AnswerStatus               `json:"status"`
	Text       string                     `json:"text"`
	Claims     []Claim                    `json:"claims,omitzero"`
	Confidence *float64                   `json:"confidence,omitzero"`
	Missing    []string                   `json:"missing,omitzero"`
	ReusedFrom *string                    `json:"reused_from,omitzero"`
	Extra      map[string]json.RawMessage `json:"-"`
}

func (v *SubAnswer) UnmarshalJSON(data []byte) error {
	type plain SubAnswer
	return read(data, (*plain)(v), &v.Extra)
}

func (v SubAnswer) MarshalJSON() ([]byte, error) {
	type plain SubAnswer
	return write(plain(v), v.Extra)
}

// SubQuestion: One node of the decomposition that was answered, with what the answer stands on.
//
// `signature` is that of its question (`core.cognition.signatures`); `evidence` are the passages read for it, cited or
// not.
type SubQuestion struct {
	NodeID     string                     `json:"node_id"`
	Texto      string                     `json:"texto"`
	Resposta   string                     `json:"resposta"`
	Citacoes   []string                   `json:"citacoes,omitzero"`
	ParentID   *string                    `json:"parent_id,omitzero"`
	Uses       []GraphRef                 `json:"uses,omitzero"`
	Confidence float64                    `json:"confidence"`
	Verified   *bool                      `json:"verified,omitzero"`
	Signature  *string                    `json:"signature,omitzero"`
	Evidence   []string                   `json:"evidence,omitzero"`
	Extra      map[string]json.RawMessage `json:"-"`
}

func (v *SubQuestion) UnmarshalJSON(data []byte) error {
	type plain SubQuestion
	return read(data, (*plain)(v), &v.Extra)
}

func (v SubQuestion) MarshalJSON() ([]byte, error) {
	type plain SubQuestion
	return write(plain(v), v.Extra)
}

// Theme: What a document is about, and how much of it: a macro theme, or a sub-theme of the macro theme `pai`.
type Theme struct {
	Nome       string                     `json:"nome"`
	Nivel      ThemeLevel                 `json:"nivel"`
	Descricao  string                     `json:"descricao"`
	Pai        *string                    `json:"pai,omitzero"`
	Relevancia float64                    `json:"relevancia"`
	Extra      map[string]json.RawMessage `json:"-"`
}

func (v *Theme) UnmarshalJSON(data []byte) error {
	type plain Theme
	return read(data, (*plain)(v), &v.Extra)
}

func (v Theme) MarshalJSON() ([]byte, error) {
	type plain Theme
	return write(plain(v), v.Extra)
}

// ThemeShare: A theme of the document, and how much of what is said belongs to it.
type ThemeShare struct {
	Nome       string                     `json:"nome"`
	Nivel      ThemeLevel                 `json:"nivel"`
	Relevancia float64                    `json:"relevancia"`
	Extra      map[string]json.RawMessage `json:"-"`
}

func (v *ThemeShare) UnmarshalJSON(data []byte) error {
	type plain ThemeShare
	return read(data, (*plain)(v), &v.Extra)
}

func (v ThemeShare) MarshalJSON() ([]byte, error) {
	type plain ThemeShare
	return write(plain(v), v.Extra)
}

// TimePoint: A point in time that was mentioned, or one past message.
//
// `kind` is `message`, or the precision of the time: `minute`, `day`, `week`, `month`, `year`, `message_id` the
// message that mentions it. `holds`: true where its value replaced an older one, false where a later message replaced
// its value; `contests` are the messages that it corrects, which come and go with it.
type TimePoint struct {
	ID         string     `json:"id"`
	Provenance Provenance `json:"provenance"`
	RecordedAt Timestamp  `json:"recorded_at"`
	// Absent means public.
	AccessLevel *AccessLevel               `json:"access_level,omitzero"`
	Reason      string                     `json:"reason"`
	Score       *float64                   `json:"score,omitzero"`
	Scores      map[string]float64         `json:"scores,omitzero"`
	Tokens      *int64                     `json:"tokens,omitzero"`
	Truncated   *bool                      `json:"truncated,omitzero"`
	Covers      []string                   `json:"covers,omitzero"`
	Type        string                     `json:"type"`
	Label       string                     `json:"label"`
	At          Timestamp                  `json:"at"`
	Kind        string                     `json:"kind"`
	Holds       *bool                      `json:"holds,omitzero"`
	MessageID   *string                    `json:"message_id,omitzero"`
	Contests    []string                   `json:"contests,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *TimePoint) UnmarshalJSON(data []byte) error {
	type plain TimePoint
	return read(data, (*plain)(v), &v.Extra)
}

func (v TimePoint) MarshalJSON() ([]byte, error) {
	type plain TimePoint
	return write(plain(v), v.Extra)
}

// TurnLink: What a user's turn does to earlier ones, `to`, which stated `old`: those words hold no more, but `new`.
type TurnLink struct {
	Kind  string                     `json:"kind"`
	To    []string                   `json:"to"`
	Old   *string                    `json:"old,omitzero"`
	New   *string                    `json:"new,omitzero"`
	Extra map[string]json.RawMessage `json:"-"`
}

func (v *TurnLink) UnmarshalJSON(data []byte) error {
	type plain TurnLink
	return read(data, (*plain)(v), &v.Extra)
}

func (v TurnLink) MarshalJSON() ([]byte, error) {
	type plain TurnLink
	return write(plain(v), v.Extra)
}

// TurnOrigin: Who said a turn, and in which conversation.
type TurnOrigin struct {
	Role           TurnOriginRole             `json:"role"`
	ClientID       string                     `json:"client_id"`
	ConversationID string                     `json:"conversation_id"`
	Extra          map[string]json.RawMessage `json:"-"`
}

func (v *TurnOrigin) UnmarshalJSON(data []byte) error {
	type plain TurnOrigin
	return read(data, (*plain)(v), &v.Extra)
}

func (v TurnOrigin) MarshalJSON() ([]byte, error) {
	type plain TurnOrigin
	return write(plain(v), v.Extra)
}

// Verification: The verifier's word on one node; `query` is what to search for where evidence lacks.
type Verification struct {
	NodeID      string                     `json:"node_id"`
	Status      VerificationStatus         `json:"status"`
	NeedsSearch *bool                      `json:"needs_search,omitzero"`
	Query       *string                    `json:"query,omitzero"`
	Claims      []ClaimVerdict             `json:"claims,omitzero"`
	Extra       map[string]json.RawMessage `json:"-"`
}

func (v *Verification) UnmarshalJSON(data []byte) error {
	type plain Verification
	return read(data, (*plain)(v), &v.Extra)
}

func (v Verification) MarshalJSON() ([]byte, error) {
	type plain Verification
	return write(plain(v), v.Extra)
}

type WorkingSetSection struct {
	RecentMessages     []MessageItem              `json:"recent_messages,omitzero"`
	SessionSummary     *string                    `json:"session_summary,omitzero"`
	SessionSummaryItem *SessionSummaryItem        `json:"session_summary_item,omitzero"`
	Extra              map[string]json.RawMessage `json:"-"`
}

func (v *WorkingSetSection) UnmarshalJSON(data []byte) error {
	type plain WorkingSetSection
	return read(data, (*plain)(v), &v.Extra)
}

func (v WorkingSetSection) MarshalJSON() ([]byte, error) {
	type plain WorkingSetSection
	return write(plain(v), v.Extra)
}

// Events makes an empty value of every event, by its `ce_type`.
var Events = map[string]func() any{
	"chat.answer-given.v1":            func() any { return new(AnswerGiven) },
	"chat.question-asked.v1":          func() any { return new(AskPayload) },
	"assessment.asked.v1":             func() any { return new(AssessmentAsked) },
	"assessment.made.v1":              func() any { return new(AssessmentMade) },
	"memory.audit-recorded.v1":        func() any { return new(AuditDecision) },
	"audit.head-sealed.v1":            func() any { return new(AuditHead) },
	"chat.message-received.v1":        func() any { return new(ChatMessage) },
	"memory.claim-asserted.v1":        func() any { return new(ClaimAsserted) },
	"cognition.step-made.v1":          func() any { return new(CognitionStep) },
	"memory.consultation-recorded.v1": func() any { return new(ConsultationRecorded) },
	"context.pack-assembled.v1":       func() any { return new(ContextPack) },
	"chat.conversation-forgotten.v1":  func() any { return new(ConversationForgotten) },
	"memory.correction-issued.v1":     func() any { return new(CorrectionIssued) },
	"memory.correction-submitted.v1":  func() any { return new(CorrectionSubmitted) },
	"depth.message-classified.v1":     func() any { return new(DepthClassified) },
	"memory.depth-voted.v1":           func() any { return new(DepthVote) },
	"knowledge.document-deleted.v1":   func() any { return new(DocumentDeleted) },
	"knowledge.document-submitted.v1": func() any { return new(DocumentSubmitted) },
	"memory.erasure-issued.v1":        func() any { return new(ErasureIssued) },
	"depth.feedback-given.v1":         func() any { return new(FeedbackGiven) },
	"retrieval.join-opened.v1":        func() any { return new(JoinOpened) },
	"retrieval.join-ticked.v1":        func() any { return new(JoinTicked) },
	"memory.knowledge-recorded.v1":    func() any { return new(KnowledgeRecorded) },
	"memory.decision-recorded.v1":     func() any { return new(PackDecision) },
	"retrieval.pack-inputs.v1":        func() any { return new(PackInputs) },
	"retrieval.part-found.v1":         func() any { return new(PartFound) },
	"retrieval.parts-found.v1":        func() any { return new(PartsFound) },
	"memory.quarantine-changed.v1":    func() any { return new(QuarantineChanged) },
	"retrieval.plan-made.v1":          func() any { return new(RetrievalPlan) },
	"search.asked.v1":                 func() any { return new(SearchAsked) },
	"search.made.v1":                  func() any { return new(SearchMade) },
	"memory.summary-made.v1":          func() any { return new(SummaryMade) },
	"tool.call-requested.v1":          func() any { return new(ToolCallRequested) },
	"tool.call-resolved.v1":           func() any { return new(ToolCallResolved) },
	"tool.confirmation.v1":            func() any { return new(ToolConfirmation) },
	"tool.result.v1":                  func() any { return new(ToolResult) },
	"chat.turn-accepted.v1":           func() any { return new(Turn) },
}
