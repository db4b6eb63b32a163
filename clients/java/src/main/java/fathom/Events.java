// Made from the schemas by `make docs`. Do not edit.
package fathom;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonAnySetter;
import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.JsonNode;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;

/**
 * Fathom's events on Kafka, and what they hold, for a plain ObjectMapper.
 *
 * <p>What is read is written again as it was: an absent field is null and stays absent, and the fields that a newer
 * Fathom adds are kept in {@code more}.
 */
public final class Events {
    private Events() {}

    /** The class of every event, by its ce_type. */
    public static final Map<String, Class<?>> BY_TYPE = Map.ofEntries(
            Map.entry("chat.answer-given.v1", AnswerGiven.class),
            Map.entry("chat.question-asked.v1", AskPayload.class),
            Map.entry("assessment.asked.v1", AssessmentAsked.class),
            Map.entry("assessment.made.v1", AssessmentMade.class),
            Map.entry("memory.audit-recorded.v1", AuditDecision.class),
            Map.entry("audit.head-sealed.v1", AuditHead.class),
            Map.entry("chat.message-received.v1", ChatMessage.class),
            Map.entry("memory.claim-asserted.v1", ClaimAsserted.class),
            Map.entry("cognition.step-made.v1", CognitionStep.class),
            Map.entry("memory.consultation-recorded.v1", ConsultationRecorded.class),
            Map.entry("context.pack-assembled.v1", ContextPack.class),
            Map.entry("chat.conversation-forgotten.v1", ConversationForgotten.class),
            Map.entry("memory.correction-issued.v1", CorrectionIssued.class),
            Map.entry("memory.correction-submitted.v1", CorrectionSubmitted.class),
            Map.entry("depth.message-classified.v1", DepthClassified.class),
            Map.entry("memory.depth-voted.v1", DepthVote.class),
            Map.entry("knowledge.document-deleted.v1", DocumentDeleted.class),
            Map.entry("knowledge.document-submitted.v1", DocumentSubmitted.class),
            Map.entry("memory.erasure-issued.v1", ErasureIssued.class),
            Map.entry("depth.feedback-given.v1", FeedbackGiven.class),
            Map.entry("retrieval.join-opened.v1", JoinOpened.class),
            Map.entry("retrieval.join-ticked.v1", JoinTicked.class),
            Map.entry("memory.knowledge-recorded.v1", KnowledgeRecorded.class),
            Map.entry("memory.decision-recorded.v1", PackDecision.class),
            Map.entry("retrieval.pack-inputs.v1", PackInputs.class),
            Map.entry("retrieval.part-found.v1", PartFound.class),
            Map.entry("retrieval.parts-found.v1", PartsFound.class),
            Map.entry("memory.quarantine-changed.v1", QuarantineChanged.class),
            Map.entry("retrieval.plan-made.v1", RetrievalPlan.class),
            Map.entry("search.asked.v1", SearchAsked.class),
            Map.entry("search.made.v1", SearchMade.class),
            Map.entry("memory.summary-made.v1", SummaryMade.class),
            Map.entry("tool.call-requested.v1", ToolCallRequested.class),
            Map.entry("tool.call-resolved.v1", ToolCallResolved.class),
            Map.entry("tool.confirmation.v1", ToolConfirmation.class),
            Map.entry("tool.result.v1", ToolResult.class),
            Map.entry("chat.turn-accepted.v1", Turn.class));

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record AccessLevel(@JsonValue String value) {
        public static final AccessLevel PUBLIC = new AccessLevel("public");
        public static final AccessLevel INTERNAL = new AccessLevel("internal");
        public static final AccessLevel RESTRICTED = new AccessLevel("restricted");
        public static final AccessLevel CONFIDENTIAL = new AccessLevel("confidential");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public AccessLevel {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record Action(@JsonValue String value) {
        public static final Action RESPOND_DIRECTLY = new Action("respond_directly");
        public static final Action SEARCH_CONTEXT = new Action("search_context");
        public static final Action DEEP_RETRIEVAL = new Action("deep_retrieval");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public Action {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record AnswerStatus(@JsonValue String value) {
        public static final AnswerStatus ANSWERED = new AnswerStatus("answered");
        public static final AnswerStatus PARTIAL = new AnswerStatus("partial");
        public static final AnswerStatus ABSTAINED = new AnswerStatus("abstained");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public AnswerStatus {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record AssessmentMadeClassifier(@JsonValue String value) {
        public static final AssessmentMadeClassifier HEURISTIC = new AssessmentMadeClassifier("heuristic");
        public static final AssessmentMadeClassifier HEURISTIC_TIMEOUT = new AssessmentMadeClassifier("heuristic_timeout");
        public static final AssessmentMadeClassifier ENGINE = new AssessmentMadeClassifier("engine");
        public static final AssessmentMadeClassifier LLM = new AssessmentMadeClassifier("llm");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public AssessmentMadeClassifier {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record AuditDecisionKind(@JsonValue String value) {
        public static final AuditDecisionKind LATE_PART = new AuditDecisionKind("late-part");
        public static final AuditDecisionKind TOOL = new AuditDecisionKind("tool");
        public static final AuditDecisionKind WEIGHTS = new AuditDecisionKind("weights");
        public static final AuditDecisionKind PENALTY = new AuditDecisionKind("penalty");
        public static final AuditDecisionKind ERASURE = new AuditDecisionKind("erasure");
        public static final AuditDecisionKind SUBJECT_ERASURE = new AuditDecisionKind("subject-erasure");
        public static final AuditDecisionKind QUARANTINE = new AuditDecisionKind("quarantine");
        public static final AuditDecisionKind QUARANTINE_LIFTED = new AuditDecisionKind("quarantine-lifted");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public AuditDecisionKind {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record ClaimAssertedAuthor(@JsonValue String value) {
        public static final ClaimAssertedAuthor USER = new ClaimAssertedAuthor("user");
        public static final ClaimAssertedAuthor SYSTEM = new ClaimAssertedAuthor("system");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public ClaimAssertedAuthor {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record ClaimItemAuthor(@JsonValue String value) {
        public static final ClaimItemAuthor USER = new ClaimItemAuthor("user");
        public static final ClaimItemAuthor SYSTEM = new ClaimItemAuthor("system");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public ClaimItemAuthor {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record ClaimRuling(@JsonValue String value) {
        public static final ClaimRuling RETRACT = new ClaimRuling("retract");
        public static final ClaimRuling CONFIRM = new ClaimRuling("confirm");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public ClaimRuling {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record ClaimStatus(@JsonValue String value) {
        public static final ClaimStatus ASSERTED = new ClaimStatus("asserted");
        public static final ClaimStatus CONTESTED = new ClaimStatus("contested");
        public static final ClaimStatus SUPERSEDED = new ClaimStatus("superseded");
        public static final ClaimStatus CONFIRMED = new ClaimStatus("confirmed");
        public static final ClaimStatus RETRACTED = new ClaimStatus("retracted");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public ClaimStatus {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record ConflictKind(@JsonValue String value) {
        public static final ConflictKind CORRECTION = new ConflictKind("correction");
        public static final ConflictKind NEWER_VALUE = new ConflictKind("newer_value");
        public static final ConflictKind NEGATION = new ConflictKind("negation");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public ConflictKind {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record ConflictType(@JsonValue String value) {
        public static final ConflictType POLARITY = new ConflictType("polarity");
        public static final ConflictType NUMBER = new ConflictType("number");
        public static final ConflictType DATE = new ConflictType("date");
        public static final ConflictType OUTCOME = new ConflictType("outcome");
        public static final ConflictType RANK = new ConflictType("rank");
        public static final ConflictType TEMPORAL = new ConflictType("temporal");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public ConflictType {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record ContextPackEvidence(@JsonValue String value) {
        public static final ContextPackEvidence FOUND = new ContextPackEvidence("found");
        public static final ContextPackEvidence NONE = new ContextPackEvidence("none");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public ContextPackEvidence {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record ContextPackSettledBy(@JsonValue String value) {
        public static final ContextPackSettledBy COMPLETE = new ContextPackSettledBy("complete");
        public static final ContextPackSettledBy DEADLINE = new ContextPackSettledBy("deadline");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public ContextPackSettledBy {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record ContradictionStatus(@JsonValue String value) {
        public static final ContradictionStatus PENDING_RECONCILIATION = new ContradictionStatus("pending_reconciliation");
        public static final ContradictionStatus RESOLVED = new ContradictionStatus("resolved");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public ContradictionStatus {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record ConversationSummaryOrigin(@JsonValue String value) {
        public static final ConversationSummaryOrigin CURRENT = new ConversationSummaryOrigin("current");
        public static final ConversationSummaryOrigin PREVIOUS = new ConversationSummaryOrigin("previous");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public ConversationSummaryOrigin {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record CorrectionIssuedKind(@JsonValue String value) {
        public static final CorrectionIssuedKind CLAIM = new CorrectionIssuedKind("claim");
        public static final CorrectionIssuedKind CONSULTA = new CorrectionIssuedKind("consulta");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public CorrectionIssuedKind {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record CorrectionKind(@JsonValue String value) {
        public static final CorrectionKind FACTUAL = new CorrectionKind("factual");
        public static final CorrectionKind JURIDICO = new CorrectionKind("juridico");
        public static final CorrectionKind FORMATACAO = new CorrectionKind("formatacao");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public CorrectionKind {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record DepthClassifiedClassifier(@JsonValue String value) {
        public static final DepthClassifiedClassifier HEURISTIC = new DepthClassifiedClassifier("heuristic");
        public static final DepthClassifiedClassifier LLM = new DepthClassifiedClassifier("llm");
        public static final DepthClassifiedClassifier HEURISTIC_TIMEOUT = new DepthClassifiedClassifier("heuristic_timeout");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public DepthClassifiedClassifier {}
    }

    /**
     * The depth of an answer. By context kept: D0 &lt; D1 &lt; D2 &lt; D3; D4 is outside that order, it drops context.
     */
    public record DepthLevel(@JsonValue String value) {
        public static final DepthLevel D0 = new DepthLevel("D0");
        public static final DepthLevel D1 = new DepthLevel("D1");
        public static final DepthLevel D2 = new DepthLevel("D2");
        public static final DepthLevel D3 = new DepthLevel("D3");
        public static final DepthLevel D4 = new DepthLevel("D4");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public DepthLevel {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record DocumentSubmittedTipo(@JsonValue String value) {
        public static final DocumentSubmittedTipo TEXT = new DocumentSubmittedTipo("text");
        public static final DocumentSubmittedTipo MARKDOWN = new DocumentSubmittedTipo("markdown");
        public static final DocumentSubmittedTipo HTML = new DocumentSubmittedTipo("html");
        public static final DocumentSubmittedTipo PDF = new DocumentSubmittedTipo("pdf");
        public static final DocumentSubmittedTipo PROFILE = new DocumentSubmittedTipo("profile");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public DocumentSubmittedTipo {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record EntityType(@JsonValue String value) {
        public static final EntityType PROVISION = new EntityType("provision");
        public static final EntityType RULING = new EntityType("ruling");
        public static final EntityType CASE = new EntityType("case");
        public static final EntityType ACT = new EntityType("act");
        public static final EntityType PERSON = new EntityType("person");
        public static final EntityType ORGANISATION = new EntityType("organisation");
        public static final EntityType DATE = new EntityType("date");
        public static final EntityType PLACE = new EntityType("place");
        public static final EntityType ANY = new EntityType("any");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public EntityType {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record ErrorCode(@JsonValue String value) {
        public static final ErrorCode CONTEXTO_AUSENTE = new ErrorCode("contexto_ausente");
        public static final ErrorCode CONTEXTO_EXPIRADO = new ErrorCode("contexto_expirado");
        public static final ErrorCode VALOR_AMBIGUO = new ErrorCode("valor_ambiguo");
        public static final ErrorCode ARGUMENTO_AUSENTE = new ErrorCode("argumento_ausente");
        public static final ErrorCode ARGUMENTO_DESCONHECIDO = new ErrorCode("argumento_desconhecido");
        public static final ErrorCode TIPO_INVALIDO = new ErrorCode("tipo_invalido");
        public static final ErrorCode FERRAMENTA_DESCONHECIDA = new ErrorCode("ferramenta_desconhecida");
        public static final ErrorCode CONFIRMACAO_NEGADA = new ErrorCode("confirmacao_negada");
        public static final ErrorCode CONFIRMACAO_EXPIRADA = new ErrorCode("confirmacao_expirada");
        public static final ErrorCode INDISPONIVEL = new ErrorCode("indisponivel");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public ErrorCode {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record EvidenceConflictResolution(@JsonValue String value) {
        public static final EvidenceConflictResolution OPEN = new EvidenceConflictResolution("open");
        public static final EvidenceConflictResolution A = new EvidenceConflictResolution("a");
        public static final EvidenceConflictResolution B = new EvidenceConflictResolution("b");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public EvidenceConflictResolution {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record InjectionSource(@JsonValue String value) {
        public static final InjectionSource MENTION = new InjectionSource("mention");
        public static final InjectionSource SESSION = new InjectionSource("session");
        public static final InjectionSource DEFAULT = new InjectionSource("default");
        public static final InjectionSource PROPOSAL = new InjectionSource("proposal");
        public static final InjectionSource RESULT = new InjectionSource("result");
        public static final InjectionSource CALL = new InjectionSource("call");
        public static final InjectionSource REFERENCE = new InjectionSource("reference");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public InjectionSource {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record JoinOpenedClassifier(@JsonValue String value) {
        public static final JoinOpenedClassifier HEURISTIC = new JoinOpenedClassifier("heuristic");
        public static final JoinOpenedClassifier LLM = new JoinOpenedClassifier("llm");
        public static final JoinOpenedClassifier HEURISTIC_TIMEOUT = new JoinOpenedClassifier("heuristic_timeout");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public JoinOpenedClassifier {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record KnowledgeMemoryClass(@JsonValue String value) {
        public static final KnowledgeMemoryClass SEMANTIC = new KnowledgeMemoryClass("semantic");
        public static final KnowledgeMemoryClass EPISODIC = new KnowledgeMemoryClass("episodic");
        public static final KnowledgeMemoryClass PROCEDURAL = new KnowledgeMemoryClass("procedural");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public KnowledgeMemoryClass {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record LegalEntryTipo(@JsonValue String value) {
        public static final LegalEntryTipo PROCESSO = new LegalEntryTipo("processo");
        public static final LegalEntryTipo JURISPRUDENCIA = new LegalEntryTipo("jurisprudencia");
        public static final LegalEntryTipo DISPOSITIVO = new LegalEntryTipo("dispositivo");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public LegalEntryTipo {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record LookUp(@JsonValue String value) {
        public static final LookUp AUTO = new LookUp("auto");
        public static final LookUp ALWAYS = new LookUp("always");
        public static final LookUp NEVER = new LookUp("never");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public LookUp {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record MemoryClass(@JsonValue String value) {
        public static final MemoryClass WORKING_SET = new MemoryClass("working_set");
        public static final MemoryClass PERSONA = new MemoryClass("persona");
        public static final MemoryClass EPISODIC = new MemoryClass("episodic");
        public static final MemoryClass SEMANTIC = new MemoryClass("semantic");
        public static final MemoryClass PROCEDURAL = new MemoryClass("procedural");
        public static final MemoryClass CLAIMS = new MemoryClass("claims");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public MemoryClass {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record MessageItemRole(@JsonValue String value) {
        public static final MessageItemRole USER = new MessageItemRole("user");
        public static final MessageItemRole ASSISTANT = new MessageItemRole("assistant");
        public static final MessageItemRole SYSTEM = new MessageItemRole("system");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public MessageItemRole {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record NearMissReason(@JsonValue String value) {
        public static final NearMissReason SIMILARITY = new NearMissReason("similarity");
        public static final NearMissReason STATUS = new NearMissReason("status");
        public static final NearMissReason SCOPE = new NearMissReason("scope");
        public static final NearMissReason CORRECTED = new NearMissReason("corrected");
        public static final NearMissReason PENALISED = new NearMissReason("penalised");
        public static final NearMissReason EVIDENCE = new NearMissReason("evidence");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public NearMissReason {}
    }

    /**
     * The ten nodes of cognition, and its end.
     */
    public record Node(@JsonValue String value) {
        public static final Node PLANNER = new Node("planner");
        public static final Node THEME_ACTIVATOR = new Node("theme_activator");
        public static final Node DUAL_RETRIEVER = new Node("dual_retriever");
        public static final Node EVIDENCE_REFINER = new Node("evidence_refiner");
        public static final Node MEMORY_CHECK = new Node("memory_check");
        public static final Node REASONER = new Node("reasoner");
        public static final Node VERIFIER = new Node("verifier");
        public static final Node QUERY_REWRITER = new Node("query_rewriter");
        public static final Node INTEGRATOR = new Node("integrator");
        public static final Node MEMORY_STORE = new Node("memory_store");
        public static final Node END = new Node("END");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public Node {}
    }

    /**
     * Whether a sub-question is divided further.
     */
    public record NodeState(@JsonValue String value) {
        public static final NodeState CONTINUE = new NodeState("Continue");
        public static final NodeState END = new NodeState("End");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public NodeState {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record OptionName(@JsonValue String value) {
        public static final OptionName MIN_DEPTH = new OptionName("min_depth");
        public static final OptionName MAX_DEPTH = new OptionName("max_depth");
        public static final OptionName LOOK_UP = new OptionName("look_up");
        public static final OptionName MAX_TOKENS = new OptionName("max_tokens");
        public static final OptionName HAVE = new OptionName("have");
        public static final OptionName TEMPLATE = new OptionName("template");
        public static final OptionName DEEP = new OptionName("deep");
        public static final OptionName WAIT_MS = new OptionName("wait_ms");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public OptionName {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record PackDecisionEvidence(@JsonValue String value) {
        public static final PackDecisionEvidence FOUND = new PackDecisionEvidence("found");
        public static final PackDecisionEvidence NONE = new PackDecisionEvidence("none");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public PackDecisionEvidence {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record ParameterSource(@JsonValue String value) {
        public static final ParameterSource MESSAGE = new ParameterSource("message");
        public static final ParameterSource HISTORY = new ParameterSource("history");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public ParameterSource {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record PartReportStatus(@JsonValue String value) {
        public static final PartReportStatus OK = new PartReportStatus("ok");
        public static final PartReportStatus EMPTY = new PartReportStatus("empty");
        public static final PartReportStatus TIMEOUT = new PartReportStatus("timeout");
        public static final PartReportStatus ERROR = new PartReportStatus("error");
        public static final PartReportStatus SKIPPED = new PartReportStatus("skipped");
        public static final PartReportStatus MISSING = new PartReportStatus("missing");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public PartReportStatus {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record PartStatus(@JsonValue String value) {
        public static final PartStatus OK = new PartStatus("ok");
        public static final PartStatus EMPTY = new PartStatus("empty");
        public static final PartStatus TIMEOUT = new PartStatus("timeout");
        public static final PartStatus ERROR = new PartStatus("error");
        public static final PartStatus SKIPPED = new PartStatus("skipped");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public PartStatus {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record PassageKind(@JsonValue String value) {
        public static final PassageKind CHUNK = new PassageKind("chunk");
        public static final PassageKind DEFINITION = new PassageKind("definition");
        public static final PassageKind CONCEPT = new PassageKind("concept");
        public static final PassageKind MESSAGE = new PassageKind("message");
        public static final PassageKind SUMMARY = new PassageKind("summary");
        public static final PassageKind EVENT = new PassageKind("event");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public PassageKind {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record PathLabel(@JsonValue String value) {
        public static final PathLabel PROCESSO = new PathLabel("Processo");
        public static final PathLabel DISPOSITIVO = new PathLabel("Dispositivo");
        public static final PathLabel JURISPRUDENCIA = new PathLabel("Jurisprudencia");
        public static final PathLabel CHUNK = new PathLabel("Chunk");
        public static final PathLabel SUBPERGUNTA = new PathLabel("SubPergunta");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public PathLabel {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record QuarantineChangedState(@JsonValue String value) {
        public static final QuarantineChangedState QUARANTINED = new QuarantineChangedState("quarantined");
        public static final QuarantineChangedState LIFTED = new QuarantineChangedState("lifted");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public QuarantineChangedState {}
    }

    /**
     * The purpose of a query.
     */
    public record QueryType(@JsonValue String value) {
        public static final QueryType GREETING = new QueryType("greeting");
        public static final QueryType CLARIFICATION = new QueryType("clarification");
        public static final QueryType DIRECT_QUESTION = new QueryType("direct_question");
        public static final QueryType ARCHITECTURAL = new QueryType("architectural");
        public static final QueryType IMPLEMENTATION = new QueryType("implementation");
        public static final QueryType REVIEW_REQUEST = new QueryType("review_request");
        public static final QueryType DEBUGGING = new QueryType("debugging");
        public static final QueryType OTHER = new QueryType("other");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public QueryType {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record QuestionKind(@JsonValue String value) {
        public static final QuestionKind SINGLE = new QuestionKind("single");
        public static final QuestionKind LIST = new QuestionKind("list");
        public static final QuestionKind COMPARISON = new QuestionKind("comparison");
        public static final QuestionKind BOTH = new QuestionKind("both");
        public static final QuestionKind BRIDGE = new QuestionKind("bridge");
        public static final QuestionKind FACETS = new QuestionKind("facets");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public QuestionKind {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record Role(@JsonValue String value) {
        public static final Role USER = new Role("user");
        public static final Role ASSISTANT = new Role("assistant");
        public static final Role SYSTEM = new Role("system");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public Role {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record SearchKind(@JsonValue String value) {
        public static final SearchKind DOCUMENT = new SearchKind("document");
        public static final SearchKind TURN = new SearchKind("turn");
        public static final SearchKind SUMMARY = new SearchKind("summary");
        public static final SearchKind CLAIM = new SearchKind("claim");
        public static final SearchKind EVENT = new SearchKind("event");
        public static final SearchKind PROCESS = new SearchKind("process");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public SearchKind {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record SearchMadeEvidence(@JsonValue String value) {
        public static final SearchMadeEvidence FOUND = new SearchMadeEvidence("found");
        public static final SearchMadeEvidence NONE = new SearchMadeEvidence("none");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public SearchMadeEvidence {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record SearchResultRole(@JsonValue String value) {
        public static final SearchResultRole USER = new SearchResultRole("user");
        public static final SearchResultRole ASSISTANT = new SearchResultRole("assistant");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public SearchResultRole {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record SignalName(@JsonValue String value) {
        public static final SignalName GREETING = new SignalName("greeting");
        public static final SignalName DIRECT_QUESTION = new SignalName("direct_question");
        public static final SignalName ANAPHORA = new SignalName("anaphora");
        public static final SignalName FOLLOW_UP = new SignalName("follow_up");
        public static final SignalName EXPLANATION = new SignalName("explanation");
        public static final SignalName HOW_TO = new SignalName("how_to");
        public static final SignalName DISAGREEMENT = new SignalName("disagreement");
        public static final SignalName TOPIC_SHIFT = new SignalName("topic_shift");
        public static final SignalName COMPARISON = new SignalName("comparison");
        public static final SignalName TEMPORAL = new SignalName("temporal");
        public static final SignalName LIST_SUMMARY = new SignalName("list_summary");
        public static final SignalName COMMAND = new SignalName("command");
        public static final SignalName DOUBT = new SignalName("doubt");
        public static final SignalName FEEDBACK = new SignalName("feedback");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public SignalName {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record SourceAnswerStatus(@JsonValue String value) {
        public static final SourceAnswerStatus OK = new SourceAnswerStatus("ok");
        public static final SourceAnswerStatus EMPTY = new SourceAnswerStatus("empty");
        public static final SourceAnswerStatus TIMEOUT = new SourceAnswerStatus("timeout");
        public static final SourceAnswerStatus ERROR = new SourceAnswerStatus("error");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public SourceAnswerStatus {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record SourceKind(@JsonValue String value) {
        public static final SourceKind DOCUMENT = new SourceKind("document");
        public static final SourceKind FEED = new SourceKind("feed");
        public static final SourceKind CONVERSATION = new SourceKind("conversation");
        public static final SourceKind USER = new SourceKind("user");
        public static final SourceKind MESSAGE = new SourceKind("message");
        public static final SourceKind CLAIM = new SourceKind("claim");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public SourceKind {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record SourceName(@JsonValue String value) {
        public static final SourceName LOCAL = new SourceName("local");
        public static final SourceName GLOBAL = new SourceName("global");
        public static final SourceName LEXICAL = new SourceName("lexical");
        public static final SourceName VECTOR = new SourceName("vector");
        public static final SourceName THEME = new SourceName("theme");
        public static final SourceName CONVERSATIONS = new SourceName("conversations");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public SourceName {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record ThemeLevel(@JsonValue String value) {
        public static final ThemeLevel MACRO = new ThemeLevel("macro");
        public static final ThemeLevel SUB = new ThemeLevel("sub");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public ThemeLevel {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record TierName(@JsonValue String value) {
        public static final TierName MINIMAL = new TierName("minimal");
        public static final TierName STANDARD = new TierName("standard");
        public static final TierName DEEP = new TierName("deep");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public TierName {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record TurnOriginRole(@JsonValue String value) {
        public static final TurnOriginRole USER = new TurnOriginRole("user");
        public static final TurnOriginRole ASSISTANT = new TurnOriginRole("assistant");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public TurnOriginRole {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record Verdict(@JsonValue String value) {
        public static final Verdict RESOLVED = new Verdict("resolved");
        public static final Verdict ERROR = new Verdict("error");
        public static final Verdict CONFIRMATION_REQUIRED = new Verdict("confirmation_required");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public Verdict {}
    }

    /**
     * One of the values below, or one that a newer Fathom knows.
     */
    public record VerificationStatus(@JsonValue String value) {
        public static final VerificationStatus APPROVED = new VerificationStatus("approved");
        public static final VerificationStatus REJECTED = new VerificationStatus("rejected");
        public static final VerificationStatus ABSTAIN = new VerificationStatus("abstain");

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public VerificationStatus {}
    }

    @JsonTypeInfo(
        use = JsonTypeInfo.Id.NAME, include = JsonTypeInfo.As.EXISTING_PROPERTY, property = "kind",
        visible = true, defaultImpl = OtherEntry.class)
    @JsonSubTypes({
        @JsonSubTypes.Type(value = ChunkEntry.class, name = "chunk"),
        @JsonSubTypes.Type(value = ConceptEntry.class, name = "concept"),
        @JsonSubTypes.Type(value = DefinitionEntry.class, name = "definition"),
        @JsonSubTypes.Type(value = ProcessEntry.class, name = "process"),
        @JsonSubTypes.Type(value = ProfileEntry.class, name = "profile"),
        @JsonSubTypes.Type(value = LegalEntry.class, name = "legal"),
    })
    public sealed interface Entry permits
            ChunkEntry,
            ConceptEntry,
            DefinitionEntry,
            ProcessEntry,
            ProfileEntry,
            LegalEntry,
            OtherEntry {}

    /** An Entry of a kind that a newer Fathom knows. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record OtherEntry(@JsonProperty("kind") String kind, @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Entry {}

    @JsonTypeInfo(
        use = JsonTypeInfo.Id.NAME, include = JsonTypeInfo.As.EXISTING_PROPERTY, property = "type",
        visible = true, defaultImpl = OtherItem.class)
    @JsonSubTypes({
        @JsonSubTypes.Type(value = MessageItem.class, name = "message"),
        @JsonSubTypes.Type(value = SessionSummaryItem.class, name = "session_summary"),
        @JsonSubTypes.Type(value = ConversationSummary.class, name = "conversation_summary"),
        @JsonSubTypes.Type(value = TimePoint.class, name = "time_point"),
        @JsonSubTypes.Type(value = Concept.class, name = "concept"),
        @JsonSubTypes.Type(value = Chunk.class, name = "chunk"),
        @JsonSubTypes.Type(value = Knowledge.class, name = "knowledge"),
        @JsonSubTypes.Type(value = Process.class, name = "process"),
        @JsonSubTypes.Type(value = Step.class, name = "step"),
        @JsonSubTypes.Type(value = ClaimItem.class, name = "claim"),
        @JsonSubTypes.Type(value = Contradiction.class, name = "contradiction"),
        @JsonSubTypes.Type(value = Objective.class, name = "objective"),
        @JsonSubTypes.Type(value = PersonaItem.class, name = "persona"),
    })
    public sealed interface Item permits
            MessageItem,
            SessionSummaryItem,
            ConversationSummary,
            TimePoint,
            Concept,
            Chunk,
            Knowledge,
            Process,
            Step,
            ClaimItem,
            Contradiction,
            Objective,
            PersonaItem,
            OtherItem {}

    /** An Item of a kind that a newer Fathom knows. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record OtherItem(@JsonProperty("type") String type, @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Item {}

    /**
     * The answer to one question: exactly these four fields. Empty for an unroutable question.
     *
     * Its ce_type is chat.answer-given.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record AnswerGiven(
            @JsonProperty("status") String status,
            @JsonProperty("results") JsonNode results,
            @JsonProperty("meta") AnswerMeta meta,
            @JsonProperty("answer") String answer,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A user's question with exactly the four fields of the public contract.
     *
     * Its ce_type is chat.question-asked.v1.
     *
     * @param question a text; of a list of parts, that of its text parts
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record AskPayload(
            @JsonProperty("question") String question,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("nickname") Nullable<String> nickname,
            @JsonProperty("client_id") String clientId,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A caller's request whether a query needs retrieval.
     *
     * Its ce_type is assessment.asked.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record AssessmentAsked(
            @JsonProperty("request_id") String requestId,
            @JsonProperty("query") String query,
            @JsonProperty("conversation_summary") String conversationSummary,
            @JsonProperty("available_context") List<String> availableContext,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The answer to one request; `latency_ms` is the duration of the assessment itself, in milliseconds.
     *
     * Its ce_type is assessment.made.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record AssessmentMade(
            @JsonProperty("needs_deep_context") boolean needsDeepContext,
            @JsonProperty("confidence") double confidence,
            @JsonProperty("reason") String reason,
            @JsonProperty("recommended_action") Action recommendedAction,
            @JsonProperty("estimated_savings") long estimatedSavings,
            @JsonProperty("query_type") QueryType queryType,
            @JsonProperty("recommended_tier") TierName recommendedTier,
            @JsonProperty("recommended_tools") List<RecommendedTool> recommendedTools,
            @JsonProperty("skip_tools") List<SkippedTool> skipTools,
            @JsonProperty("depth_level") DepthLevel depthLevel,
            @JsonProperty("request_id") String requestId,
            @JsonProperty("classifier") AssessmentMadeClassifier classifier,
            @JsonProperty("latency_ms") double latencyMs,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * Any other decision worth keeping: a late part, a tool call, new weights, a penalty, an erasure, a quarantine.
     *
     * `conversation_id` and `client_id` name the conversation whose words `detail` quotes; what quotes none has
     * neither.
     *
     * Its ce_type is memory.audit-recorded.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record AuditDecision(
            @JsonProperty("kind") AuditDecisionKind kind,
            @JsonProperty("id") String id,
            @JsonProperty("actor") String actor,
            @JsonProperty("subject_id") String subjectId,
            @JsonProperty("detail") Map<String, JsonNode> detail,
            @JsonProperty("created_at") @Timestamp OffsetDateTime createdAt,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("client_id") String clientId,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The chain as it stood: `previous` is the SHA-256 of the head before, absent in the first one.
     *
     * `previous_at` is when that one was sealed: while it is younger than its retention it must still be in the log.
     *
     * Its ce_type is audit.head-sealed.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record AuditHead(
            @JsonProperty("number") long number,
            @JsonProperty("previous") String previous,
            @JsonProperty("previous_at") @Timestamp OffsetDateTime previousAt,
            @JsonProperty("segments") List<SealedSegment> segments,
            @JsonProperty("sealed_at") @Timestamp OffsetDateTime sealedAt,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A turn with its own ids: user, assistant or system; options count for a user's.
     *
     * `pack` false: it is remembered as said at `created_at`, and no pack is made and no answer given to a client for
     * it.
     *
     * Its ce_type is chat.message-received.v1.
     *
     * @param content a text; of a list of parts, that of its text parts
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ChatMessage(
            @JsonProperty("min_depth") DepthLevel minDepth,
            @JsonProperty("max_depth") DepthLevel maxDepth,
            @JsonProperty("look_up") LookUp lookUp,
            @JsonProperty("max_tokens") Long maxTokens,
            @JsonProperty("have") List<String> have,
            @JsonProperty("template") String template,
            @JsonProperty("deep") Boolean deep,
            @JsonProperty("wait_ms") Long waitMs,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("role") Role role,
            @JsonProperty("content") String content,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("created_at") @Timestamp OffsetDateTime createdAt,
            @JsonProperty("answers") String answers,
            @JsonProperty("pack_id") String packId,
            @JsonProperty("status") String status,
            @JsonProperty("intent") String intent,
            @JsonProperty("entity") String entity,
            @JsonProperty("results") JsonNode results,
            @JsonProperty("legacy_answer") String legacyAnswer,
            @JsonProperty("narrator_failed") Boolean narratorFailed,
            @JsonProperty("unroutable") Boolean unroutable,
            @JsonProperty("pack") Boolean pack,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * Somebody asserted subject-attribute-value; `source` orders assertions: the newest wins.
     *
     * Known to its user and the `audience`, who were there; `tenant_wide`: stated for no user; `shared`: by a policy.
     *
     * Its ce_type is memory.claim-asserted.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ClaimAsserted(
            @JsonProperty("claim_id") String claimId,
            @JsonProperty("author") ClaimAssertedAuthor author,
            @JsonProperty("text") String text,
            @JsonProperty("subject") String subject,
            @JsonProperty("attribute") String attribute,
            @JsonProperty("value") String value,
            @JsonProperty("functional") boolean functional,
            @JsonProperty("lang") String lang,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("user_id") String userId,
            @JsonProperty("frame_id") String frameId,
            @JsonProperty("seq") long seq,
            @JsonProperty("confidence") double confidence,
            @JsonProperty("status") ClaimStatus status,
            @JsonProperty("asserted_at") @Timestamp OffsetDateTime assertedAt,
            @JsonProperty("source") Source source,
            @JsonProperty("contradicts") List<Conflict> contradicts,
            @JsonProperty("supersedes") List<String> supersedes,
            @JsonProperty("audience") List<String> audience,
            @JsonProperty("tenant_wide") Boolean tenantWide,
            @JsonProperty("shared") Boolean shared,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The state of a job after one of its nodes, or before one that `failed` and ended it; then the next node.
     *
     * Its ce_type is cognition.step-made.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record CognitionStep(
            @JsonProperty("job_id") String jobId,
            @JsonProperty("step") long step,
            @JsonProperty("node") Node node,
            @JsonProperty("next") Node next,
            @JsonProperty("state") CognitiveState state,
            @JsonProperty("failed") String failed,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A question that was decomposed and answered, kept to be found again and corrected.
     *
     * `access_level` is the highest of what the answer was made from: nobody below it may find the answer again.
     * Only a question of the same `signature`, `scope` and case may reuse it.
     *
     * Its ce_type is memory.consultation-recorded.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ConsultationRecorded(
            @JsonProperty("consulta_id") String consultaId,
            @JsonProperty("job_id") String jobId,
            @JsonProperty("pergunta_usuario") String perguntaUsuario,
            @JsonProperty("resposta_final") String respostaFinal,
            @JsonProperty("sub_perguntas") List<SubQuestion> subPerguntas,
            @JsonProperty("verification_status") VerificationStatus verificationStatus,
            @JsonProperty("reused") List<String> reused,
            @JsonProperty("usuario_id") String usuarioId,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("lang") String lang,
            @JsonProperty("data") @Timestamp OffsetDateTime data,
            @JsonProperty("signature") String signature,
            @JsonProperty("scope") String scope,
            @JsonProperty("case_id") String caseId,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The context for the answer to one message, within its token budget.
     *
     * `evidence`: whether memory, where searched, holds anything that helps to answer; `none` is a result, too. `text`
     * is
     * the pack as Markdown for a prompt, by the template it names; `total_tokens_estimated` are its tokens in
     * `tokenizer`.
     * `options` are the caller's, as in force.
     *
     * Its ce_type is context.pack-assembled.v1.
     *
     * @param revision Absent means 1.
     * @param settledBy Absent means complete.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ContextPack(
            @JsonProperty("pack_id") String packId,
            @JsonProperty("revision") Long revision,
            @JsonProperty("plan_id") String planId,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("user_id") String userId,
            @JsonProperty("query") String query,
            @JsonProperty("query_truncated") Boolean queryTruncated,
            @JsonProperty("lang") String lang,
            @JsonProperty("seq") long seq,
            @JsonProperty("frame_id") String frameId,
            @JsonProperty("depth_level") DepthLevel depthLevel,
            @JsonProperty("query_profile_used") @JsonInclude(JsonInclude.Include.ALWAYS) String queryProfileUsed,
            @JsonProperty("query_profile_version") Long queryProfileVersion,
            @JsonProperty("strategy") String strategy,
            @JsonProperty("special_instructions") List<String> specialInstructions,
            @JsonProperty("max_tokens") long maxTokens,
            @JsonProperty("total_tokens_estimated") long totalTokensEstimated,
            @JsonProperty("text") String text,
            @JsonProperty("template") String template,
            @JsonProperty("tokenizer") String tokenizer,
            @JsonProperty("sources") List<PackSource> sources,
            @JsonProperty("working_set") WorkingSetSection workingSet,
            @JsonProperty("persona_context") PersonaContext personaContext,
            @JsonProperty("episodic") EpisodicSection episodic,
            @JsonProperty("semantic") SemanticSection semantic,
            @JsonProperty("claims") ClaimsSection claims,
            @JsonProperty("procedural") ProceduralSection procedural,
            @JsonProperty("llm_instructions") List<String> llmInstructions,
            @JsonProperty("reconciliation") Reconciliation reconciliation,
            @JsonProperty("evidence") ContextPackEvidence evidence,
            @JsonProperty("degraded") Boolean degraded,
            @JsonProperty("degraded_reasons") List<String> degradedReasons,
            @JsonProperty("missing_sections") List<String> missingSections,
            @JsonProperty("settled_by") ContextPackSettledBy settledBy,
            @JsonProperty("parts") List<PartReport> parts,
            @JsonProperty("dropped") List<Dropped> dropped,
            @JsonProperty("already_in_context") List<RepeatedItem> alreadyInContext,
            @JsonProperty("confidence") double confidence,
            @JsonProperty("signals") List<Signal> signals,
            @JsonProperty("assembled_at") @Timestamp OffsetDateTime assembledAt,
            @JsonProperty("latency_ms") double latencyMs,
            @JsonProperty("request_id") String requestId,
            @JsonProperty("options") AppliedOptions options,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A conversation to forget: all that was said in it before, in its order; said in again, it begins anew.
     *
     * With `user_id` also who that user is: the profile, and the votes on depth.
     *
     * Its ce_type is chat.conversation-forgotten.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ConversationForgotten(
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("forgotten") boolean forgotten,
            @JsonProperty("user_id") String userId,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A user contested something, which penalises `penalised_paths` by `peso`, or ruled on an own claim (`ruling`).
     *
     * Its ce_type is memory.correction-issued.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record CorrectionIssued(
            @JsonProperty("correction_id") String correctionId,
            @JsonProperty("kind") CorrectionIssuedKind kind,
            @JsonProperty("target_id") String targetId,
            @JsonProperty("texto") String texto,
            @JsonProperty("usuario_id") String usuarioId,
            @JsonProperty("tipo") CorrectionKind tipo,
            @JsonProperty("new_value") String newValue,
            @JsonProperty("new_claim_id") String newClaimId,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("penalised_paths") List<String> penalisedPaths,
            @JsonProperty("peso") Double peso,
            @JsonProperty("ruling") ClaimRuling ruling,
            @JsonProperty("issued_at") @Timestamp OffsetDateTime issuedAt,
            @JsonProperty("seq") Long seq,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A user contests a claim or a consultation from outside a conversation.
     *
     * With a `ruling` the user takes the own claim back (`retract`), or says again that it holds (`confirm`).
     *
     * Its ce_type is memory.correction-submitted.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record CorrectionSubmitted(
            @JsonProperty("claim_id") String claimId,
            @JsonProperty("consulta_id") String consultaId,
            @JsonProperty("texto") String texto,
            @JsonProperty("usuario_id") String usuarioId,
            @JsonProperty("tipo") CorrectionKind tipo,
            @JsonProperty("new_value") String newValue,
            @JsonProperty("ruling") ClaimRuling ruling,
            @JsonProperty("created_at") @Timestamp OffsetDateTime createdAt,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The depth of one user message, with every signal and its evidence.
     *
     * `parameters` are its subjects, its own named last. `needs_nothing`: memory has nothing to add to the answer.
     * `context`: the parts of the conversation that the message depends on, searched with it. `segment` is the
     * probability
     * that a new segment begins (0-1), `resets` whether earlier turns are to be ignored, too; both are absent in older
     * records. `options` are those in force. `overload`: more messages came than could be handled. `states`: the
     * message
     * states something of its user's and asks nothing.
     *
     * Its ce_type is depth.message-classified.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record DepthClassified(
            @JsonProperty("message_id") String messageId,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("user_id") String userId,
            @JsonProperty("query") String query,
            @JsonProperty("depth_level") DepthLevel depthLevel,
            @JsonProperty("confidence") double confidence,
            @JsonProperty("signals") List<Signal> signals,
            @JsonProperty("candidates") List<DepthLevel> candidates,
            @JsonProperty("classifier") DepthClassifiedClassifier classifier,
            @JsonProperty("raised_from") DepthLevel raisedFrom,
            @JsonProperty("how_to") Boolean howTo,
            @JsonProperty("lang") String lang,
            @JsonProperty("seq") long seq,
            @JsonProperty("source") Source source,
            @JsonProperty("frame_id") String frameId,
            @JsonProperty("frame_opened") Boolean frameOpened,
            @JsonProperty("anchor") Anchor anchor,
            @JsonProperty("as_of") @Timestamp OffsetDateTime asOf,
            @JsonProperty("accepted_at") @Timestamp OffsetDateTime acceptedAt,
            @JsonProperty("latency_ms") double latencyMs,
            @JsonProperty("parameters") List<Parameter> parameters,
            @JsonProperty("needs_nothing") Boolean needsNothing,
            @JsonProperty("context") String context,
            @JsonProperty("request_id") String requestId,
            @JsonProperty("tier") TierName tier,
            @JsonProperty("resets") Boolean resets,
            @JsonProperty("segment") Double segment,
            @JsonProperty("options") AppliedOptions options,
            @JsonProperty("overload") Boolean overload,
            @JsonProperty("states") Boolean states,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * One feedback as depth weighs it: for messages that show the same signs, this level was expected.
     *
     * A later vote of the same id replaces the earlier; `pattern` is what `pattern_of` makes of the signs.
     *
     * Its ce_type is memory.depth-voted.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record DepthVote(
            @JsonProperty("id") String id,
            @JsonProperty("pattern") String pattern,
            @JsonProperty("decided") DepthLevel decided,
            @JsonProperty("expected") DepthLevel expected,
            @JsonProperty("rating") long rating,
            @JsonProperty("at") @Timestamp OffsetDateTime at,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("pack_id") String packId,
            @JsonProperty("user_id") String userId,
            @JsonProperty("reason") String reason,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A document to forget: nothing of it is offered from `created_at` on; submitted again it is there again.
     *
     * Its ce_type is knowledge.document-deleted.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record DocumentDeleted(
            @JsonProperty("document_id") String documentId,
            @JsonProperty("deleted") boolean deleted,
            @JsonProperty("created_at") @Timestamp OffsetDateTime createdAt,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A document to remember, as text or as a file's bytes, or the profile of a user.
     *
     * `created_at` is the time of this version; what an earlier version had and this one has not is offered no more.
     *
     * Its ce_type is knowledge.document-submitted.v1.
     *
     * @param data the file's bytes in base64, instead of text
     * @param tipo what it is; looked at where it is not said, or not so
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record DocumentSubmitted(
            @JsonProperty("document_id") String documentId,
            @JsonProperty("title") String title,
            @JsonProperty("text") String text,
            @JsonProperty("data") String data,
            @JsonProperty("uri") String uri,
            @JsonProperty("tipo") DocumentSubmittedTipo tipo,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("lang") String lang,
            @JsonProperty("created_at") @Timestamp OffsetDateTime createdAt,
            @JsonProperty("profile") Profile profile,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A conversation to erase from every store: what stems from its messages up to `up_to_seq`, and nothing later.
     *
     * What has no place there is erased up to `issued_at`; with `user_id`, that user's profile and votes are erased,
     * too.
     *
     * Its ce_type is memory.erasure-issued.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ErasureIssued(
            @JsonProperty("erasure_id") String erasureId,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("asked_by") String askedBy,
            @JsonProperty("up_to_seq") long upToSeq,
            @JsonProperty("issued_at") @Timestamp OffsetDateTime issuedAt,
            @JsonProperty("source") Source source,
            @JsonProperty("user_id") String userId,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * What a user thought of one pack: how good it was, 1 to 5, and how deep it should have gone.
     *
     * Its ce_type is depth.feedback-given.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record FeedbackGiven(
            @JsonProperty("message_id") String messageId,
            @JsonProperty("pack_id") String packId,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("rating") long rating,
            @JsonProperty("expected_depth") DepthLevel expectedDepth,
            @JsonProperty("reason") String reason,
            @JsonProperty("created_at") @Timestamp OffsetDateTime createdAt,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The plan's terms, on the partition where its parts arrive.
     *
     * `looks_up`: whether memory is searched for an answer to the message. It is absent in records from before 0.2,
     * whose
     * packs are made again by the rules of that time. `profile` is stored in the graph with the decision. `selection`:
     * the
     * version of the rules that select the pack's evidence; absent in records from before there was one. `states`: the
     * message asks nothing, so that a pack without evidence lacks nothing.
     *
     * Its ce_type is retrieval.join-opened.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record JoinOpened(
            @JsonProperty("plan_id") String planId,
            @JsonProperty("pack_id") String packId,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("user_id") String userId,
            @JsonProperty("query") String query,
            @JsonProperty("lang") String lang,
            @JsonProperty("seq") long seq,
            @JsonProperty("source") Source source,
            @JsonProperty("frame_id") String frameId,
            @JsonProperty("as_of") @Timestamp OffsetDateTime asOf,
            @JsonProperty("accepted_at") @Timestamp OffsetDateTime acceptedAt,
            @JsonProperty("depth_level") DepthLevel depthLevel,
            @JsonProperty("strategy") String strategy,
            @JsonProperty("query_profile") @JsonInclude(JsonInclude.Include.ALWAYS) String queryProfile,
            @JsonProperty("query_profile_version") Long queryProfileVersion,
            @JsonProperty("max_tokens") long maxTokens,
            @JsonProperty("special_instructions") List<String> specialInstructions,
            @JsonProperty("deadline_at") @Timestamp OffsetDateTime deadlineAt,
            @JsonProperty("tier") TierName tier,
            @JsonProperty("request_id") String requestId,
            @JsonProperty("options") AppliedOptions options,
            @JsonProperty("kind") String kind,
            @JsonProperty("wanted") List<MemoryClass> wanted,
            @JsonProperty("confidence") double confidence,
            @JsonProperty("classifier") JoinOpenedClassifier classifier,
            @JsonProperty("signals") List<Signal> signals,
            @JsonProperty("profile") QueryProfile profile,
            @JsonProperty("looks_up") Boolean looksUp,
            @JsonProperty("selection") Long selection,
            @JsonProperty("states") Boolean states,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A tick on a quiet partition: in the log, so that deadlines follow the log and a replay meets the same ones.
     *
     * Its ce_type is retrieval.join-ticked.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record JoinTicked(
            @JsonProperty("kind") String kind,
            @JsonProperty("at") @Timestamp OffsetDateTime at,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * What one document, or a batch of it, adds to memory, the same for the same content; without entries: deleted.
     *
     * Its ce_type is memory.knowledge-recorded.v1.
     *
     * @param batches how many there are; 0 when whoever wrote it did not say
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record KnowledgeRecorded(
            @JsonProperty("document_id") String documentId,
            @JsonProperty("title") String title,
            @JsonProperty("uri") String uri,
            @JsonProperty("content_hash") String contentHash,
            @JsonProperty("batch") long batch,
            @JsonProperty("batches") Long batches,
            @JsonProperty("entries") List<Entry> entries,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("temas") List<Theme> temas,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * One `:CDCDecision`: what was decided for one message, and what it cost; `profile` where one was used.
     *
     * Its ce_type is memory.decision-recorded.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record PackDecision(
            @JsonProperty("kind") String kind,
            @JsonProperty("id") String id,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("pack_id") String packId,
            @JsonProperty("plan_id") String planId,
            @JsonProperty("detected_signals") List<String> detectedSignals,
            @JsonProperty("depth_level") DepthLevel depthLevel,
            @JsonProperty("query_profile_used") @JsonInclude(JsonInclude.Include.ALWAYS) String queryProfileUsed,
            @JsonProperty("sources_retrieved") List<String> sourcesRetrieved,
            @JsonProperty("tokens_used") long tokensUsed,
            @JsonProperty("latency_ms") long latencyMs,
            @JsonProperty("created_at") @Timestamp OffsetDateTime createdAt,
            @JsonProperty("confidence") double confidence,
            @JsonProperty("classifier") String classifier,
            @JsonProperty("strategy") String strategy,
            @JsonProperty("degraded") boolean degraded,
            @JsonProperty("profile") QueryProfile profile,
            @JsonProperty("options") AppliedOptions options,
            @JsonProperty("seq") Long seq,
            @JsonProperty("evidence") PackDecisionEvidence evidence,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * All that a pack is made of, by the one task that asked for it: a pack is a pure function of this record.
     *
     * `parts` are those that came in time, each `earlier_ms` before `settled_at`; `previous` says which pack that the
     * caller still holds has an item already.
     *
     * Its ce_type is retrieval.pack-inputs.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record PackInputs(
            @JsonProperty("kind") String kind,
            @JsonProperty("pack_id") String packId,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("terms") JoinOpened terms,
            @JsonProperty("parts") List<PartFound> parts,
            @JsonProperty("opened_at") @Timestamp OffsetDateTime openedAt,
            @JsonProperty("settled_at") @Timestamp OffsetDateTime settledAt,
            @JsonProperty("previous") Map<String, String> previous,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The answer of one memory class to one plan; every wanted class always answers.
     *
     * `dropped` are the best results below the relevance threshold. `earlier_ms` is how long a part that was sent with
     * others had waited for them.
     *
     * Its ce_type is retrieval.part-found.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record PartFound(
            @JsonProperty("kind") String kind,
            @JsonProperty("plan_id") String planId,
            @JsonProperty("pack_id") String packId,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("memory_class") MemoryClass memoryClass,
            @JsonProperty("status") PartStatus status,
            @JsonProperty("items") List<Item> items,
            @JsonProperty("tokens") Long tokens,
            @JsonProperty("error") String error,
            @JsonProperty("dropped") List<Dropped> dropped,
            @JsonProperty("earlier_ms") Long earlierMs,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The answers of several memory classes to one plan, by one process: what their parts would say one by one.
     *
     * Its ce_type is retrieval.parts-found.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record PartsFound(
            @JsonProperty("kind") String kind,
            @JsonProperty("plan_id") String planId,
            @JsonProperty("pack_id") String packId,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("parts") List<PartFound> parts,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A source whose content goes into no pack from now on, or does again (`lifted`); nothing is deleted.
     *
     * `source_id` is the id of a document, a conversation (of `client_id`), a user, a message or a claim; of a feed
     * the
     * beginning of its documents' ids. `messages` are hidden with it, and add to those of earlier events.
     *
     * Its ce_type is memory.quarantine-changed.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record QuarantineChanged(
            @JsonProperty("source_kind") SourceKind sourceKind,
            @JsonProperty("source_id") String sourceId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("state") QuarantineChangedState state,
            @JsonProperty("messages") List<QuarantinedMessage> messages,
            @JsonProperty("reason") String reason,
            @JsonProperty("asked_by") String askedBy,
            @JsonProperty("issued_at") @Timestamp OffsetDateTime issuedAt,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The requests for one message, complete and exclusive.
     *
     * `context` is searched with the query, with less weight.
     *
     * Its ce_type is retrieval.plan-made.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record RetrievalPlan(
            @JsonProperty("plan_id") String planId,
            @JsonProperty("pack_id") String packId,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("user_id") String userId,
            @JsonProperty("query") String query,
            @JsonProperty("lang") String lang,
            @JsonProperty("seq") long seq,
            @JsonProperty("source") Source source,
            @JsonProperty("frame_id") String frameId,
            @JsonProperty("as_of") @Timestamp OffsetDateTime asOf,
            @JsonProperty("accepted_at") @Timestamp OffsetDateTime acceptedAt,
            @JsonProperty("depth_level") DepthLevel depthLevel,
            @JsonProperty("strategy") String strategy,
            @JsonProperty("query_profile") @JsonInclude(JsonInclude.Include.ALWAYS) String queryProfile,
            @JsonProperty("query_profile_version") Long queryProfileVersion,
            @JsonProperty("max_tokens") long maxTokens,
            @JsonProperty("special_instructions") List<String> specialInstructions,
            @JsonProperty("deadline_at") @Timestamp OffsetDateTime deadlineAt,
            @JsonProperty("tier") TierName tier,
            @JsonProperty("request_id") String requestId,
            @JsonProperty("options") AppliedOptions options,
            @JsonProperty("sources") List<SourceRequest> sources,
            @JsonProperty("reset_frame") Boolean resetFrame,
            @JsonProperty("anchor") Anchor anchor,
            @JsonProperty("parameters") List<Parameter> parameters,
            @JsonProperty("context") String context,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A search of memory that leaves no trace in it: only what fits all of its filters is found.
     *
     * `limit` is the most results. `since` and `until` bound when something was recorded.
     *
     * Its ce_type is search.asked.v1.
     *
     * @param limit Absent means 10.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record SearchAsked(
            @JsonProperty("request_id") String requestId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("query") String query,
            @JsonProperty("limit") Long limit,
            @JsonProperty("kind") SearchKind kind,
            @JsonProperty("document_id") String documentId,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("since") @Timestamp OffsetDateTime since,
            @JsonProperty("until") @Timestamp OffsetDateTime until,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The results of one search, as the pack of the same question would choose them; `text` is for a prompt.
     *
     * `evidence` is `none` where memory answered and has nothing. `missing` are the classes of memory that did not
     * answer.
     * `latency_ms` is the duration of the search itself.
     *
     * Its ce_type is search.made.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record SearchMade(
            @JsonProperty("request_id") String requestId,
            @JsonProperty("user_id") String userId,
            @JsonProperty("query") String query,
            @JsonProperty("lang") String lang,
            @JsonProperty("results") List<SearchResult> results,
            @JsonProperty("evidence") SearchMadeEvidence evidence,
            @JsonProperty("degraded") Boolean degraded,
            @JsonProperty("missing") List<MemoryClass> missing,
            @JsonProperty("text") String text,
            @JsonProperty("total_tokens") long totalTokens,
            @JsonProperty("tokenizer") String tokenizer,
            @JsonProperty("latency_ms") double latencyMs,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * Extract of a stretch of one frame of a conversation, with its other users; a later one of one id replaces it.
     *
     * Its ce_type is memory.summary-made.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record SummaryMade(
            @JsonProperty("summary_id") String summaryId,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("user_id") String userId,
            @JsonProperty("frame_id") String frameId,
            @JsonProperty("text") String text,
            @JsonProperty("topic") String topic,
            @JsonProperty("terms") List<String> terms,
            @JsonProperty("lang") String lang,
            @JsonProperty("from_message") String fromMessage,
            @JsonProperty("to_message") String toMessage,
            @JsonProperty("from_seq") long fromSeq,
            @JsonProperty("to_seq") long toSeq,
            @JsonProperty("relevant_events") List<EventMention> relevantEvents,
            @JsonProperty("made_at") @Timestamp OffsetDateTime madeAt,
            @JsonProperty("quoted_users") List<String> quotedUsers,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * An agent wants to call a tool.
     *
     * Its ce_type is tool.call-requested.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ToolCallRequested(
            @JsonProperty("call_id") String callId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("session_id") String sessionId,
            @JsonProperty("nome_tool") String nomeTool,
            @JsonProperty("args") Map<String, JsonNode> args,
            @JsonProperty("message_id") String messageId,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The verdict on one call; only one with `args_resolvidos` may be executed.
     *
     * Its ce_type is tool.call-resolved.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ToolCallResolved(
            @JsonProperty("call_id") String callId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("session_id") String sessionId,
            @JsonProperty("nome_tool") String nomeTool,
            @JsonProperty("status") Verdict status,
            @JsonProperty("args_resolvidos") Map<String, JsonNode> argsResolvidos,
            @JsonProperty("erro") String erro,
            @JsonProperty("erro_codigo") ErrorCode erroCodigo,
            @JsonProperty("sucesso") Boolean sucesso,
            @JsonProperty("resposta") String resposta,
            @JsonProperty("injections") List<Injection> injections,
            @JsonProperty("preview") Preview preview,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A user's yes or no to a preview.
     *
     * Its ce_type is tool.confirmation.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ToolConfirmation(
            @JsonProperty("call_id") String callId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("session_id") String sessionId,
            @JsonProperty("approved") boolean approved,
            @JsonProperty("usuario_id") String usuarioId,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * What a tool has done; `valores` names further values by their kind.
     *
     * `linhas` are rows of what it found, at most 50 of 32 single values: what may be offered to the user and meant
     * later.
     *
     * Its ce_type is tool.result.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ToolResult(
            @JsonProperty("call_id") String callId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("session_id") String sessionId,
            @JsonProperty("nome_tool") String nomeTool,
            @JsonProperty("args") Map<String, JsonNode> args,
            @JsonProperty("sucesso") boolean sucesso,
            @JsonProperty("report_id") String reportId,
            @JsonProperty("processo_referencia") String processoReferencia,
            @JsonProperty("report_valid") Boolean reportValid,
            @JsonProperty("valores") Map<String, String> valores,
            @JsonProperty("linhas") List<Map<String, JsonNode>> linhas,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A turn accepted by the depth stage, validated once; ordered by `seq` in its conversation.
     *
     * An assistant's turn has the final answer as its content and the `depth_level` of the question; `references` are
     * those of the turn itself, `segment` the probability that an assistant's begins something new (0-1), absent where
     * it
     * only answers. `user_named` is false where the record named no user: `user_id` is then the client's, or that of
     * the
     * question. `pack` is false for a turn without a pack: no depth is decided for it.
     *
     * Its ce_type is chat.turn-accepted.v1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Turn(
            @JsonProperty("message_id") String messageId,
            @JsonProperty("role") Role role,
            @JsonProperty("content") String content,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("user_id") String userId,
            @JsonProperty("created_at") @Timestamp OffsetDateTime createdAt,
            @JsonProperty("seq") long seq,
            @JsonProperty("frame_id") String frameId,
            @JsonProperty("lang") String lang,
            @JsonProperty("source") Source source,
            @JsonProperty("user_named") Boolean userNamed,
            @JsonProperty("depth_level") DepthLevel depthLevel,
            @JsonProperty("request_id") String requestId,
            @JsonProperty("answers") String answers,
            @JsonProperty("pack_id") String packId,
            @JsonProperty("status") String status,
            @JsonProperty("intent") String intent,
            @JsonProperty("entity") String entity,
            @JsonProperty("results") JsonNode results,
            @JsonProperty("legacy_answer") String legacyAnswer,
            @JsonProperty("narrator_failed") Boolean narratorFailed,
            @JsonProperty("unroutable") Boolean unroutable,
            @JsonProperty("references") List<Reference> references,
            @JsonProperty("link") TurnLink link,
            @JsonProperty("pack") Boolean pack,
            @JsonProperty("segment") Double segment,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * Why there is no answer, and what is missing.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record AbstainInfo(
            @JsonProperty("message") String message,
            @JsonProperty("missing") List<String> missing,
            @JsonProperty("partial_answer") String partialAnswer,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A theme of the tenant's documents that the question is about, and how much, 0-1.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ActiveTheme(
            @JsonProperty("theme_id") String themeId,
            @JsonProperty("nome") String nome,
            @JsonProperty("nivel") ThemeLevel nivel,
            @JsonProperty("peso") double peso,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The topic of a frame: its opening topic and the content words of it.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Anchor(
            @JsonProperty("topic") String topic,
            @JsonProperty("terms") List<String> terms,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The subject of an answer and its question; ids and names, never the text of a turn.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record AnswerMeta(
            @JsonProperty("intent") Nullable<String> intent,
            @JsonProperty("entity") Nullable<String> entity,
            @JsonProperty("lang") String lang,
            @JsonProperty("frame_id") String frameId,
            @JsonProperty("depth_level") DepthLevel depthLevel,
            @JsonProperty("answers") String answers,
            @JsonProperty("pack_id") String packId,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The options in force for a message; `clamped` names those that the policy limited.
     *
     * `reason` says which level the words gave, where an option gave another one.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record AppliedOptions(
            @JsonProperty("min_depth") DepthLevel minDepth,
            @JsonProperty("max_depth") DepthLevel maxDepth,
            @JsonProperty("look_up") LookUp lookUp,
            @JsonProperty("max_tokens") Long maxTokens,
            @JsonProperty("have") List<String> have,
            @JsonProperty("template") String template,
            @JsonProperty("deep") Boolean deep,
            @JsonProperty("wait_ms") Long waitMs,
            @JsonProperty("clamped") List<OptionName> clamped,
            @JsonProperty("reason") String reason,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * One check of a claim: the verdict, what was expected and what was found (`cognition.checks`).
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Check(
            @JsonProperty("number") long number,
            @JsonProperty("verdict") Verdict verdict,
            @JsonProperty("expected") String expected,
            @JsonProperty("found") String found,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Chunk(
            @JsonProperty("id") String id,
            @JsonProperty("provenance") Provenance provenance,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("reason") String reason,
            @JsonProperty("score") Double score,
            @JsonProperty("scores") Map<String, Double> scores,
            @JsonProperty("tokens") Long tokens,
            @JsonProperty("truncated") Boolean truncated,
            @JsonProperty("covers") List<String> covers,
            @JsonProperty("type") String type,
            @JsonProperty("chunk_uid") String chunkUid,
            @JsonProperty("document_id") String documentId,
            @JsonProperty("title") String title,
            @JsonProperty("text") String text,
            @JsonProperty("position") long position,
            @JsonProperty("page") Long page,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Item {}

    /**
     * A passage, of `block` where that was cut for its length; `context`, around it, is searched and never shown.
     *
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ChunkEntry(
            @JsonProperty("id") String id,
            @JsonProperty("document_id") String documentId,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("recency") @Timestamp OffsetDateTime recency,
            @JsonProperty("lang") String lang,
            @JsonProperty("kind") String kind,
            @JsonProperty("title") String title,
            @JsonProperty("text") String text,
            @JsonProperty("position") long position,
            @JsonProperty("context") String context,
            @JsonProperty("page") Long page,
            @JsonProperty("block") Long block,
            @JsonProperty("entities") List<EntityMention> entities,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Entry {}

    /**
     * A sentence of an answer, taken from a passage: `text` is `passage[start:end]`, `cite` its `tipo:id`.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Claim(
            @JsonProperty("text") String text,
            @JsonProperty("chunk_uid") String chunkUid,
            @JsonProperty("start") long start,
            @JsonProperty("end") long end,
            @JsonProperty("cite") String cite,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A claim: subject, attribute and value as somebody asserted them; `user_id` where that is not who asks.
     *
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ClaimItem(
            @JsonProperty("id") String id,
            @JsonProperty("provenance") Provenance provenance,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("reason") String reason,
            @JsonProperty("score") Double score,
            @JsonProperty("scores") Map<String, Double> scores,
            @JsonProperty("tokens") Long tokens,
            @JsonProperty("truncated") Boolean truncated,
            @JsonProperty("covers") List<String> covers,
            @JsonProperty("type") String type,
            @JsonProperty("claim_id") String claimId,
            @JsonProperty("author") ClaimItemAuthor author,
            @JsonProperty("text") String text,
            @JsonProperty("subject") String subject,
            @JsonProperty("attribute") String attribute,
            @JsonProperty("value") String value,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("confidence") double confidence,
            @JsonProperty("status") ClaimStatus status,
            @JsonProperty("user_id") String userId,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Item {}

    /**
     * The checks of one claim of an answer, and its support 0-1: 0 where a hard check fails.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ClaimVerdict(
            @JsonProperty("text") String text,
            @JsonProperty("cite") String cite,
            @JsonProperty("checks") List<Check> checks,
            @JsonProperty("support") double support,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ClaimsSection(
            @JsonProperty("user_claims") List<ClaimItem> userClaims,
            @JsonProperty("system_claims") List<ClaimItem> systemClaims,
            @JsonProperty("contradictions") List<Contradiction> contradictions,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * Which nodes do their work; the others pass the state on.
     *
     * @param abstain Absent means True.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record CognitionFlags(
            @JsonProperty("theme") Boolean theme,
            @JsonProperty("refinement") Boolean refinement,
            @JsonProperty("memory") Boolean memory,
            @JsonProperty("abstain") Boolean abstain,
            @JsonProperty("verification") Boolean verification,
            @JsonProperty("hallucination_loop") Boolean hallucinationLoop,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * What a run may spend; never changed within it.
     *
     * @param maxDepth Absent means 3.
     * @param maxChildren Absent means 4.
     * @param maxRethink Absent means 1.
     * @param maxSearchesAgain Absent means 3.
     * @param maxLlmCalls Absent means 20.
     * @param complexityThreshold Absent means 0.5.
     * @param abstainThreshold Absent means 0.3.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record CognitionLimits(
            @JsonProperty("max_depth") Long maxDepth,
            @JsonProperty("max_children") Long maxChildren,
            @JsonProperty("max_rethink") Long maxRethink,
            @JsonProperty("max_searches_again") Long maxSearchesAgain,
            @JsonProperty("max_llm_calls") Long maxLlmCalls,
            @JsonProperty("complexity_threshold") Double complexityThreshold,
            @JsonProperty("abstain_threshold") Double abstainThreshold,
            @JsonProperty("similarity_threshold") Double similarityThreshold,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The whole state of a run after a node; the log's copy is checkpoint, transport and replay log.
     *
     * What the user said since `talks_since` is evidence (absent: none). `penalties` multiply the scores of passages;
     * `answerable`: how likely a leaf's evidence has its answer; `refused`: rejected claims; `todo`: nodes to do
     * again.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record CognitiveState(
            @JsonProperty("query") String query,
            @JsonProperty("lang") String lang,
            @JsonProperty("tenant_id") String tenantId,
            @JsonProperty("case_id") String caseId,
            @JsonProperty("scope") String scope,
            @JsonProperty("job_id") String jobId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("pack_id") String packId,
            @JsonProperty("frame_id") String frameId,
            @JsonProperty("user_id") String userId,
            @JsonProperty("as_of") @Timestamp OffsetDateTime asOf,
            @JsonProperty("deadline_at") @Timestamp OffsetDateTime deadlineAt,
            @JsonProperty("limits") CognitionLimits limits,
            @JsonProperty("flags") CognitionFlags flags,
            @JsonProperty("spent") Spent spent,
            @JsonProperty("talks_since") @Timestamp OffsetDateTime talksSince,
            @JsonProperty("fallback") Boolean fallback,
            @JsonProperty("mind_map") CognitiveTree mindMap,
            @JsonProperty("temas") List<ActiveTheme> temas,
            @JsonProperty("passages") Map<String, EvidencePassage> passages,
            @JsonProperty("evidence_map") Map<String, List<LeafEvidence>> evidenceMap,
            @JsonProperty("sources") List<SourceAnswer> sources,
            @JsonProperty("answerable") Map<String, Double> answerable,
            @JsonProperty("bindings") Map<String, String> bindings,
            @JsonProperty("discarded") List<String> discarded,
            @JsonProperty("conflicts") List<EvidenceConflict> conflicts,
            @JsonProperty("refined_evidence") Map<String, List<LeafEvidence>> refinedEvidence,
            @JsonProperty("penalties") Map<String, Double> penalties,
            @JsonProperty("similar_consultation") String similarConsultation,
            @JsonProperty("near_misses") List<NearMiss> nearMisses,
            @JsonProperty("sub_answers") Map<String, SubAnswer> subAnswers,
            @JsonProperty("refused") List<Claim> refused,
            @JsonProperty("verifications") Map<String, Verification> verifications,
            @JsonProperty("verification_status") VerificationStatus verificationStatus,
            @JsonProperty("verification_issues") List<String> verificationIssues,
            @JsonProperty("requires_new_search") Boolean requiresNewSearch,
            @JsonProperty("rethink_count") Long rethinkCount,
            @JsonProperty("rethinks") Map<String, Long> rethinks,
            @JsonProperty("searches_again") Map<String, Long> searchesAgain,
            @JsonProperty("queries") Map<String, String> queries,
            @JsonProperty("queries_seen") Map<String, List<String>> queriesSeen,
            @JsonProperty("todo") List<String> todo,
            @JsonProperty("sections") List<Section> sections,
            @JsonProperty("integrated_response") String integratedResponse,
            @JsonProperty("citations_used") List<String> citationsUsed,
            @JsonProperty("abstain_info") AbstainInfo abstainInfo,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A question divided into sub-questions: one root, no cycle, bounded depth and children.
     *
     * @param maxDepth Absent means 3.
     * @param maxChildren Absent means 4.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record CognitiveTree(
            @JsonProperty("root_question") String rootQuestion,
            @JsonProperty("conditions") List<String> conditions,
            @JsonProperty("nodes") Map<String, MindMapNode> nodes,
            @JsonProperty("max_depth") Long maxDepth,
            @JsonProperty("max_children") Long maxChildren,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Concept(
            @JsonProperty("id") String id,
            @JsonProperty("provenance") Provenance provenance,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("reason") String reason,
            @JsonProperty("score") Double score,
            @JsonProperty("scores") Map<String, Double> scores,
            @JsonProperty("tokens") Long tokens,
            @JsonProperty("truncated") Boolean truncated,
            @JsonProperty("covers") List<String> covers,
            @JsonProperty("type") String type,
            @JsonProperty("name") String name,
            @JsonProperty("definition") String definition,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Item {}

    /**
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ConceptEntry(
            @JsonProperty("id") String id,
            @JsonProperty("document_id") String documentId,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("recency") @Timestamp OffsetDateTime recency,
            @JsonProperty("lang") String lang,
            @JsonProperty("kind") String kind,
            @JsonProperty("name") String name,
            @JsonProperty("definition") String definition,
            @JsonProperty("related") List<String> related,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Entry {}

    /**
     * An older claim that the new one cannot stand beside.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Conflict(
            @JsonProperty("claim_id") String claimId,
            @JsonProperty("kind") ConflictKind kind,
            @JsonProperty("score") double score,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * Two claims that cannot both hold, with both sides and the current one; `user_id` where one is another user's.
     *
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Contradiction(
            @JsonProperty("id") String id,
            @JsonProperty("provenance") Provenance provenance,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("reason") String reason,
            @JsonProperty("score") Double score,
            @JsonProperty("scores") Map<String, Double> scores,
            @JsonProperty("tokens") Long tokens,
            @JsonProperty("truncated") Boolean truncated,
            @JsonProperty("covers") List<String> covers,
            @JsonProperty("type") String type,
            @JsonProperty("claim_id") String claimId,
            @JsonProperty("contradicts") String contradicts,
            @JsonProperty("kind") String kind,
            @JsonProperty("status") ContradictionStatus status,
            @JsonProperty("current") String current,
            @JsonProperty("explanation") String explanation,
            @JsonProperty("user_id") String userId,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Item {}

    /**
     * An extractive summary of a part of a conversation; `previous` for that of another conversation.
     *
     * @param accessLevel Absent means public.
     * @param origin Absent means current.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ConversationSummary(
            @JsonProperty("id") String id,
            @JsonProperty("provenance") Provenance provenance,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("reason") String reason,
            @JsonProperty("score") Double score,
            @JsonProperty("scores") Map<String, Double> scores,
            @JsonProperty("tokens") Long tokens,
            @JsonProperty("truncated") Boolean truncated,
            @JsonProperty("covers") List<String> covers,
            @JsonProperty("type") String type,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("text") String text,
            @JsonProperty("topic") String topic,
            @JsonProperty("from_seq") long fromSeq,
            @JsonProperty("to_seq") long toSeq,
            @JsonProperty("origin") ConversationSummaryOrigin origin,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Item {}

    /**
     * @param accessLevel Absent means public.
     * @param confidence Absent means 1.0.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record DefinitionEntry(
            @JsonProperty("id") String id,
            @JsonProperty("document_id") String documentId,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("recency") @Timestamp OffsetDateTime recency,
            @JsonProperty("lang") String lang,
            @JsonProperty("kind") String kind,
            @JsonProperty("title") String title,
            @JsonProperty("text") String text,
            @JsonProperty("confidence") Double confidence,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Entry {}

    /**
     * An item that was found but left out, and why.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Dropped(
            @JsonProperty("id") String id,
            @JsonProperty("memory_class") MemoryClass memoryClass,
            @JsonProperty("reason") String reason,
            @JsonProperty("tokens") long tokens,
            @JsonProperty("score") double score,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * Who or what a passage names: a name, an acronym, a legal reference.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record EntityMention(
            @JsonProperty("name") String name,
            @JsonProperty("tipo") String tipo,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record EpisodicSection(
            @JsonProperty("conversation_summaries") List<ConversationSummary> conversationSummaries,
            @JsonProperty("relevant_events") List<TimePoint> relevantEvents,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A point in time that was talked about.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record EventMention(
            @JsonProperty("id") String id,
            @JsonProperty("label") String label,
            @JsonProperty("at") @Timestamp OffsetDateTime at,
            @JsonProperty("kind") String kind,
            @JsonProperty("message_id") String messageId,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * Two passages that disagree about one sub-question; `spans` are the sentences, as character offsets in each.
     *
     * @param resolution Absent means open.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record EvidenceConflict(
            @JsonProperty("node_id") String nodeId,
            @JsonProperty("a") String a,
            @JsonProperty("b") String b,
            @JsonProperty("motivo") String motivo,
            @JsonProperty("type") ConflictType type,
            @JsonProperty("resolution") EvidenceConflictResolution resolution,
            @JsonProperty("spans") List<List<Long>> spans,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A passage, or a `turn` (`chunk_uid` is its message), kept once; `cite` is its `tipo:id` without brackets.
     *
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record EvidencePassage(
            @JsonProperty("chunk_uid") String chunkUid,
            @JsonProperty("text") String text,
            @JsonProperty("title") String title,
            @JsonProperty("document_id") String documentId,
            @JsonProperty("cite") String cite,
            @JsonProperty("lang") String lang,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("turn") TurnOrigin turn,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A node that an answer came from, by label and id; `public` when it is shared with all tenants.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record GraphRef(
            @JsonProperty("label") PathLabel label,
            @JsonProperty("id") String id,
            @JsonProperty("public") Boolean public_,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A value that the call did not have: where it came from, and how old it was, in seconds.
     *
     * `evidence` is the message, or the call, that had it; a default has neither.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Injection(
            @JsonProperty("arg") String arg,
            @JsonProperty("value") JsonNode value,
            @JsonProperty("source") InjectionSource source,
            @JsonProperty("evidence") String evidence,
            @JsonProperty("age_seconds") Double ageSeconds,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A known fact with its title; `holds`: true where it replaced an older value, which the reason names.
     *
     * `said_by`: another user of the tenant who said it, and nobody verified it.
     *
     * @param accessLevel Absent means public.
     * @param memoryClass Absent means semantic.
     * @param confidence Absent means 1.0.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Knowledge(
            @JsonProperty("id") String id,
            @JsonProperty("provenance") Provenance provenance,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("reason") String reason,
            @JsonProperty("score") Double score,
            @JsonProperty("scores") Map<String, Double> scores,
            @JsonProperty("tokens") Long tokens,
            @JsonProperty("truncated") Boolean truncated,
            @JsonProperty("covers") List<String> covers,
            @JsonProperty("type") String type,
            @JsonProperty("title") String title,
            @JsonProperty("text") String text,
            @JsonProperty("memory_class") KnowledgeMemoryClass memoryClass,
            @JsonProperty("confidence") Double confidence,
            @JsonProperty("holds") Boolean holds,
            @JsonProperty("said_by") String saidBy,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Item {}

    /**
     * A passage as evidence for one sub-question: score 0-1, sources, and the cosines of its sentences (`similar`).
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record LeafEvidence(
            @JsonProperty("chunk_uid") String chunkUid,
            @JsonProperty("score") double score,
            @JsonProperty("sources") List<SourceName> sources,
            @JsonProperty("similar") List<Double> similar,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A case, a ruling or a provision that a document refers to; `texto` is the sentence that does.
     *
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record LegalEntry(
            @JsonProperty("id") String id,
            @JsonProperty("document_id") String documentId,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("recency") @Timestamp OffsetDateTime recency,
            @JsonProperty("lang") String lang,
            @JsonProperty("kind") String kind,
            @JsonProperty("tipo") LegalEntryTipo tipo,
            @JsonProperty("referencia") String referencia,
            @JsonProperty("tribunal") String tribunal,
            @JsonProperty("lei") String lei,
            @JsonProperty("artigo") String artigo,
            @JsonProperty("texto") String texto,
            @JsonProperty("temas") List<ThemeShare> temas,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Entry {}

    /**
     * One earlier message of the conversation, or the summary that replaces dropped ones.
     *
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record MessageItem(
            @JsonProperty("id") String id,
            @JsonProperty("provenance") Provenance provenance,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("reason") String reason,
            @JsonProperty("score") Double score,
            @JsonProperty("scores") Map<String, Double> scores,
            @JsonProperty("tokens") Long tokens,
            @JsonProperty("truncated") Boolean truncated,
            @JsonProperty("covers") List<String> covers,
            @JsonProperty("type") String type,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("role") MessageItemRole role,
            @JsonProperty("content") String content,
            @JsonProperty("created_at") @Timestamp OffsetDateTime createdAt,
            @JsonProperty("seq") long seq,
            @JsonProperty("frame_id") String frameId,
            @JsonProperty("meta") Map<String, JsonNode> meta,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Item {}

    /**
     * One sub-question of the tree; `answer`, `evidence` (ids of passages) and `verified` are set late.
     *
     * `kind`: how its children's answers compose its own; `uses`: nodes that its question names by `#n` (`expects`:
     * type).
     *
     * @param state Absent means End.
     * @param kind Absent means single.
     * @param expects Absent means any.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record MindMapNode(
            @JsonProperty("node_id") String nodeId,
            @JsonProperty("question") String question,
            @JsonProperty("level") long level,
            @JsonProperty("state") NodeState state,
            @JsonProperty("parent_id") String parentId,
            @JsonProperty("children") List<String> children,
            @JsonProperty("kind") QuestionKind kind,
            @JsonProperty("uses") List<String> uses,
            @JsonProperty("expects") EntityType expects,
            @JsonProperty("answer") String answer,
            @JsonProperty("evidence") List<String> evidence,
            @JsonProperty("verified") Boolean verified,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * An earlier consultation whose question has the same signature and which was yet not reused, and why.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record NearMiss(
            @JsonProperty("consultation_id") String consultationId,
            @JsonProperty("similarity") double similarity,
            @JsonProperty("reason") NearMissReason reason,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Objective(
            @JsonProperty("id") String id,
            @JsonProperty("provenance") Provenance provenance,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("reason") String reason,
            @JsonProperty("score") Double score,
            @JsonProperty("scores") Map<String, Double> scores,
            @JsonProperty("tokens") Long tokens,
            @JsonProperty("truncated") Boolean truncated,
            @JsonProperty("covers") List<String> covers,
            @JsonProperty("type") String type,
            @JsonProperty("title") String title,
            @JsonProperty("status") String status,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Item {}

    /**
     * @param status Absent means active.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ObjectiveEntry(
            @JsonProperty("id") String id,
            @JsonProperty("title") String title,
            @JsonProperty("status") String status,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A source that the text of a pack cites as `[number]`, and the items that stand under it.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record PackSource(
            @JsonProperty("number") long number,
            @JsonProperty("name") String name,
            @JsonProperty("items") List<String> items,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A subject of a message: named in it, or carried over from the earlier one that `message_id` names.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Parameter(
            @JsonProperty("kind") String kind,
            @JsonProperty("value") String value,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("at") @Timestamp OffsetDateTime at,
            @JsonProperty("source") ParameterSource source,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The answer of one wanted class: its status.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record PartReport(
            @JsonProperty("memory_class") MemoryClass memoryClass,
            @JsonProperty("status") PartReportStatus status,
            @JsonProperty("items") long items,
            @JsonProperty("latency_ms") Double latencyMs,
            @JsonProperty("error") String error,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * @param userRole Absent means unknown.
     * @param department Absent means unknown.
     * @param accessLevel Absent means public.
     * @param reason Absent means persona is in every pack.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record PersonaContext(
            @JsonProperty("user_role") String userRole,
            @JsonProperty("department") String department,
            @JsonProperty("access_level") String accessLevel,
            @JsonProperty("current_objectives") List<Objective> currentObjectives,
            @JsonProperty("provenance") Provenance provenance,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonProperty("reason") String reason,
            @JsonProperty("tokens") Long tokens,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The user who asks: role, department, access level; unknown ones are `unknown` and `public`.
     *
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record PersonaItem(
            @JsonProperty("id") String id,
            @JsonProperty("provenance") Provenance provenance,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("reason") String reason,
            @JsonProperty("score") Double score,
            @JsonProperty("scores") Map<String, Double> scores,
            @JsonProperty("tokens") Long tokens,
            @JsonProperty("truncated") Boolean truncated,
            @JsonProperty("covers") List<String> covers,
            @JsonProperty("type") String type,
            @JsonProperty("user_id") String userId,
            @JsonProperty("user_role") String userRole,
            @JsonProperty("department") String department,
            @JsonProperty("persona_access") AccessLevel personaAccess,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Item {}

    /**
     * What would be executed, for whoever has to say yes, by his id; `lang` is the language of the text.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Preview(
            @JsonProperty("texto") String texto,
            @JsonProperty("lang") String lang,
            @JsonProperty("usuario_id") String usuarioId,
            @JsonProperty("args") Map<String, JsonNode> args,
            @JsonProperty("expires_at") @Timestamp OffsetDateTime expiresAt,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ProceduralSection(
            @JsonProperty("relevant_processes") List<Process> relevantProcesses,
            @JsonProperty("playbook_steps") List<Step> playbookSteps,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Process(
            @JsonProperty("id") String id,
            @JsonProperty("provenance") Provenance provenance,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("reason") String reason,
            @JsonProperty("score") Double score,
            @JsonProperty("scores") Map<String, Double> scores,
            @JsonProperty("tokens") Long tokens,
            @JsonProperty("truncated") Boolean truncated,
            @JsonProperty("covers") List<String> covers,
            @JsonProperty("type") String type,
            @JsonProperty("name") String name,
            @JsonProperty("how_to_terms") List<String> howToTerms,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Item {}

    /**
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ProcessEntry(
            @JsonProperty("id") String id,
            @JsonProperty("document_id") String documentId,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("recency") @Timestamp OffsetDateTime recency,
            @JsonProperty("lang") String lang,
            @JsonProperty("kind") String kind,
            @JsonProperty("name") String name,
            @JsonProperty("how_to_terms") List<String> howToTerms,
            @JsonProperty("steps") List<StepEntry> steps,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Entry {}

    /**
     * Who a user is: role, department, what they may see, what they are after.
     *
     * @param userRole Absent means unknown.
     * @param department Absent means unknown.
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Profile(
            @JsonProperty("user_id") String userId,
            @JsonProperty("user_role") String userRole,
            @JsonProperty("department") String department,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("objectives") List<ObjectiveEntry> objectives,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ProfileEntry(
            @JsonProperty("id") String id,
            @JsonProperty("document_id") String documentId,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("recency") @Timestamp OffsetDateTime recency,
            @JsonProperty("lang") String lang,
            @JsonProperty("kind") String kind,
            @JsonProperty("profile") Profile profile,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Entry {}

    /**
     * A query profile's limits for one source; `share` is of the level's budget. Absent: all kinds, of any age.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ProfileSource(
            @JsonProperty("memory_class") MemoryClass memoryClass,
            @JsonProperty("selector") String selector,
            @JsonProperty("limit") Long limit,
            @JsonProperty("share") double share,
            @JsonProperty("kinds") List<PassageKind> kinds,
            @JsonProperty("max_age_days") Long maxAgeDays,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A place in the log (topic, partition, offset) or a record of a store (store, id); at least one of them.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Provenance(
            @JsonProperty("topic") String topic,
            @JsonProperty("partition") Long partition,
            @JsonProperty("offset") Long offset,
            @JsonProperty("store") String store,
            @JsonProperty("id") String id,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A message of a conversation, by its id and its position there.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record QuarantinedMessage(
            @JsonProperty("message_id") String messageId,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("seq") long seq,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The request parameters of a level's sources: a name, a version and the parameters.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record QueryProfile(
            @JsonProperty("name") String name,
            @JsonProperty("version") long version,
            @JsonProperty("sources") List<ProfileSource> sources,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A tool to call, and why; priority 1 is first.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record RecommendedTool(
            @JsonProperty("name") String name,
            @JsonProperty("reason") String reason,
            @JsonProperty("priority") long priority,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The claims that a D3 answer has to reconcile.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Reconciliation(
            @JsonProperty("claim_ids") List<String> claimIds,
            @JsonProperty("original_claim_id") String originalClaimId,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * Something named in a message, of a kind of the reference policy; `at` is the message's event time.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Reference(
            @JsonProperty("kind") String kind,
            @JsonProperty("value") String value,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("at") @Timestamp OffsetDateTime at,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * An item of a pack that the caller still holds: referred to, not injected again.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record RepeatedItem(
            @JsonProperty("id") String id,
            @JsonProperty("memory_class") MemoryClass memoryClass,
            @JsonProperty("pack_id") String packId,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * Records of one partition, from `begin` up to before `end`; `before` and `after` are the chain's hashes there.
     *
     * `marks` holds the first four bytes of the hash after each record, in base64, so that the first changed record
     * can be
     * named. `last_at` is the greatest time of a record: what is younger than its retention must still be in the log.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record SealedSegment(
            @JsonProperty("topic") String topic,
            @JsonProperty("partition") long partition,
            @JsonProperty("begin") long begin,
            @JsonProperty("end") long end,
            @JsonProperty("records") long records,
            @JsonProperty("before") String before,
            @JsonProperty("after") String after,
            @JsonProperty("marks") String marks,
            @JsonProperty("last_at") @Timestamp OffsetDateTime lastAt,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * Something found: its text, where it comes from, and why it was chosen; best first.
     *
     * `number` is that of its source in the text of all results. `user_id` is another user's who said it.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record SearchResult(
            @JsonProperty("id") String id,
            @JsonProperty("kind") SearchKind kind,
            @JsonProperty("memory_class") MemoryClass memoryClass,
            @JsonProperty("title") String title,
            @JsonProperty("text") String text,
            @JsonProperty("score") double score,
            @JsonProperty("tokens") long tokens,
            @JsonProperty("reason") String reason,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonProperty("truncated") Boolean truncated,
            @JsonProperty("number") Long number,
            @JsonProperty("document_id") String documentId,
            @JsonProperty("page") Long page,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("conversation_id") String conversationId,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("role") SearchResultRole role,
            @JsonProperty("claim_id") String claimId,
            @JsonProperty("user_id") String userId,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A section of the final answer.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Section(
            @JsonProperty("title") String title,
            @JsonProperty("text") String text,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record SemanticSection(
            @JsonProperty("concepts") List<Concept> concepts,
            @JsonProperty("knowledge_chunks") List<Chunk> knowledgeChunks,
            @JsonProperty("definitions") List<Knowledge> definitions,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * An extract of the turns that are no longer in the working set.
     *
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record SessionSummaryItem(
            @JsonProperty("id") String id,
            @JsonProperty("provenance") Provenance provenance,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("reason") String reason,
            @JsonProperty("score") Double score,
            @JsonProperty("scores") Map<String, Double> scores,
            @JsonProperty("tokens") Long tokens,
            @JsonProperty("truncated") Boolean truncated,
            @JsonProperty("covers") List<String> covers,
            @JsonProperty("type") String type,
            @JsonProperty("text") String text,
            @JsonProperty("to_seq") long toSeq,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Item {}

    /**
     * One linguistic signal: the words that show it, the level it supports, its weight (0-1).
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Signal(
            @JsonProperty("name") SignalName name,
            @JsonProperty("evidence") String evidence,
            @JsonProperty("level") DepthLevel level,
            @JsonProperty("weight") double weight,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A tool not to call, and why.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record SkippedTool(
            @JsonProperty("name") String name,
            @JsonProperty("reason") String reason,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A position in the log.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Source(
            @JsonProperty("topic") String topic,
            @JsonProperty("partition") long partition,
            @JsonProperty("offset") long offset,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * What one source answered to one sub-question.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record SourceAnswer(
            @JsonProperty("node_id") String nodeId,
            @JsonProperty("source") SourceName source,
            @JsonProperty("query") String query,
            @JsonProperty("status") SourceAnswerStatus status,
            @JsonProperty("found") Long found,
            @JsonProperty("attempt") Long attempt,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * One source of a plan: the class of memory, the selector of the level's plan, and the limits.
     *
     * `skip` is the reason for not asking it (the stage answers so); with `narrow` only direct results are wanted,
     * none
     * related to them. Only results of these `kinds`, and recorded since `since`, count.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record SourceRequest(
            @JsonProperty("memory_class") MemoryClass memoryClass,
            @JsonProperty("selector") String selector,
            @JsonProperty("limit") Nullable<Long> limit,
            @JsonProperty("max_tokens") long maxTokens,
            @JsonProperty("added_by") String addedBy,
            @JsonProperty("skip") String skip,
            @JsonProperty("narrow") Boolean narrow,
            @JsonProperty("kinds") List<PassageKind> kinds,
            @JsonProperty("since") @Timestamp OffsetDateTime since,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * What a run has spent; it only grows. Of the calls, `llm_failed` gave nothing that could be used.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Spent(
            @JsonProperty("llm_calls") Long llmCalls,
            @JsonProperty("llm_failed") Long llmFailed,
            @JsonProperty("searches") Long searches,
            @JsonProperty("steps") Long steps,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Step(
            @JsonProperty("id") String id,
            @JsonProperty("provenance") Provenance provenance,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("reason") String reason,
            @JsonProperty("score") Double score,
            @JsonProperty("scores") Map<String, Double> scores,
            @JsonProperty("tokens") Long tokens,
            @JsonProperty("truncated") Boolean truncated,
            @JsonProperty("covers") List<String> covers,
            @JsonProperty("type") String type,
            @JsonProperty("process_id") String processId,
            @JsonProperty("process_name") String processName,
            @JsonProperty("order") long order,
            @JsonProperty("text") String text,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Item {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record StepEntry(
            @JsonProperty("id") String id,
            @JsonProperty("order") long order,
            @JsonProperty("text") String text,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The answer to one node of the tree; `missing` says what it lacks, `confidence` is that of its weakest claim.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record SubAnswer(
            @JsonProperty("node_id") String nodeId,
            @JsonProperty("status") AnswerStatus status,
            @JsonProperty("text") String text,
            @JsonProperty("claims") List<Claim> claims,
            @JsonProperty("confidence") Double confidence,
            @JsonProperty("missing") List<String> missing,
            @JsonProperty("reused_from") String reusedFrom,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * One node of the decomposition that was answered, with what the answer stands on.
     *
     * `signature` is that of its question (`core.cognition.signatures`); `evidence` are the passages read for it,
     * cited or
     * not.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record SubQuestion(
            @JsonProperty("node_id") String nodeId,
            @JsonProperty("texto") String texto,
            @JsonProperty("resposta") String resposta,
            @JsonProperty("citacoes") List<String> citacoes,
            @JsonProperty("parent_id") String parentId,
            @JsonProperty("uses") List<GraphRef> uses,
            @JsonProperty("confidence") double confidence,
            @JsonProperty("verified") Boolean verified,
            @JsonProperty("signature") String signature,
            @JsonProperty("evidence") List<String> evidence,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * What a document is about, and how much of it: a macro theme, or a sub-theme of the macro theme `pai`.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Theme(
            @JsonProperty("nome") String nome,
            @JsonProperty("nivel") ThemeLevel nivel,
            @JsonProperty("descricao") String descricao,
            @JsonProperty("pai") String pai,
            @JsonProperty("relevancia") double relevancia,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A theme of the document, and how much of what is said belongs to it.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record ThemeShare(
            @JsonProperty("nome") String nome,
            @JsonProperty("nivel") ThemeLevel nivel,
            @JsonProperty("relevancia") double relevancia,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * A point in time that was mentioned, or one past message.
     *
     * `kind` is `message`, or the precision of the time: `minute`, `day`, `week`, `month`, `year`, `message_id` the
     * message that mentions it. `holds`: true where its value replaced an older one, false where a later message
     * replaced
     * its value; `contests` are the messages that it corrects, which come and go with it.
     *
     * @param accessLevel Absent means public.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record TimePoint(
            @JsonProperty("id") String id,
            @JsonProperty("provenance") Provenance provenance,
            @JsonProperty("recorded_at") @Timestamp OffsetDateTime recordedAt,
            @JsonProperty("access_level") AccessLevel accessLevel,
            @JsonProperty("reason") String reason,
            @JsonProperty("score") Double score,
            @JsonProperty("scores") Map<String, Double> scores,
            @JsonProperty("tokens") Long tokens,
            @JsonProperty("truncated") Boolean truncated,
            @JsonProperty("covers") List<String> covers,
            @JsonProperty("type") String type,
            @JsonProperty("label") String label,
            @JsonProperty("at") @Timestamp OffsetDateTime at,
            @JsonProperty("kind") String kind,
            @JsonProperty("holds") Boolean holds,
            @JsonProperty("message_id") String messageId,
            @JsonProperty("contests") List<String> contests,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) implements Item {}

    /**
     * What a user's turn does to earlier ones, `to`, which stated `old`: those words hold no more, but `new`.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record TurnLink(
            @JsonProperty("kind") String kind,
            @JsonProperty("to") List<String> to,
            @JsonProperty("old") String old,
            @JsonProperty("new") String new_,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * Who said a turn, and in which conversation.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record TurnOrigin(
            @JsonProperty("role") TurnOriginRole role,
            @JsonProperty("client_id") String clientId,
            @JsonProperty("conversation_id") String conversationId,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    /**
     * The verifier's word on one node; `query` is what to search for where evidence lacks.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Verification(
            @JsonProperty("node_id") String nodeId,
            @JsonProperty("status") VerificationStatus status,
            @JsonProperty("needs_search") Boolean needsSearch,
            @JsonProperty("query") String query,
            @JsonProperty("claims") List<ClaimVerdict> claims,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record WorkingSetSection(
            @JsonProperty("recent_messages") List<MessageItem> recentMessages,
            @JsonProperty("session_summary") String sessionSummary,
            @JsonProperty("session_summary_item") SessionSummaryItem sessionSummaryItem,
            @JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more) {}
}
