"""Messages that ask for work on a project: to shape it, make it, review it, or find what is wrong with it.

Patterns of folded text that are looked for anywhere in a message. Portuguese and English.
"""

import re

_ARTEFACT = (
    r"(?:code|codebase|function|method|class|module|package|library|component|service|endpoints?|api|route|handler|"
    r"tests?|unit tests?|script|quer(?:y|ies)|migration|schema|parser|validator|validation|authentication|login|"
    r"cache|pipeline|job|worker|feature|page|form|screen|button|dashboard|algorithm|loop|regex|dockerfile|program|app|"
    r"client|server|adapter|middleware|model|interface|wrapper|cli|command|webhook|integration|"
    r"codigo|funcao|funcoes|metodo|classe|modulo|pacote|biblioteca|componente|servico|rota|testes?|consulta|"
    r"migracao|esquema|validador|validacao|autenticacao|funcionalidade|pagina|formulario|tela|botao|painel|"
    r"algoritmo|expressao regular|programa|aplicativo|cliente|servidor|adaptador|modelo|comando|integracao)"
)
# Parts and settings of software, which nobody writes by themselves but everybody changes.
_PART = (
    r"(?:(?:dark|light) (?:mode|theme)|timeouts?|ttl|retr(?:y|ies)|rate limit|logs?|logging|imports?|variables?|"
    r"constants?|"
    r"fields?|columns?|headers?|flags?|feature flags?|env(?:ironment)? vars?|config(?:uration)?|settings?|"
    r"dependenc(?:y|ies)|"
    r"spinner|dropdown|tooltip|modal|tab|sidebar|navbar|banner|search bar|pagination|sorting|gzip|ssl|cors|threads?|"
    r"modo (?:escuro|claro)|tema escuro|limite de requisicoes|variave(?:l|is)|constantes?|campos?|colunas?|cabecalhos?|"
    r"configurac(?:ao|oes)|dependencias?|aba|filtros?|paginacao|ordenacao|listagem)"
)
# What runs, by the names that people give it.
_RUNNING = (
    r"(?:deploy|deployment|build|ci|pipeline|queue|topic|consumer|producer|broker|cluster|container|pod|database|db|"
    r"index|"
    r"site|website|dashboard|page|screen|app|api|server|service|endpoint|request|response|login|job|worker|cron|cache|"
    r"tests?|migration|script|query|webhook|token|session|backend|frontend|"
    r"fila|topico|consumidor|banco(?: de dados)?|indice|pagina|tela|painel|aplicativo|servidor|servico|requisicao|"
    r"testes?|"
    r"migracao|consulta|sessao|sistema)"
)
_TECHNOLOGY = (
    r"(?:kafka|rabbitmq|sqs|pulsar|nats|celery|postgres(?:ql)?|mysql|mariadb|mongo(?:db)?|sqlite|redis|memcached|"
    r"cassandra|"
    r"dynamodb|elasticsearch|opensearch|neo4j|sql|nosql|grpc|rest|graphql|soap|websockets?|polling|react|vue|angular|"
    r"svelte|"
    r"docker|podman|kubernetes|k8s|terraform|ansible|python|java|kotlin|golang|rust|typescript|javascript|node|"
    r"django|flask|"
    r"fastapi|spring|rails|spark|flink|airflow|aws|azure|gcp|lambda|json|yaml|protobuf|avro|parquet|jwt|oauth|orm|"
    r"monorepo|"
    r"git|github|gitlab|jenkins)"
)
_REVIEWED = (
    r"(?:code|pr|prs|pull requests?|merge requests?|diff|commits?|patch|changes?|function|method|class|module|"
    r"files?|tests?|sql|regex|dockerfile|config|"
    r"design|architecture|implementation|proposal|draft|document|docs|text|essay|report|contract|query|script|"
    r"schema|plan|spec|"
    r"codigo|mudancas?|alteracoes|funcao|metodo|classe|modulo|arquivos?|testes?|projeto|arquitetura|implementacao|"
    r"proposta|rascunho|documento|texto|relatorio|contrato|consulta|esquema|plano|peticao|minuta|parecer)"
)
_THIS = (
    r"(?:this|that|these|my|our|the|its|his|her|their|est[ea]s?|ess[ea]s?|n?(?:est|ess)[ea]s?|isto|isso|meus?|minhas?|"
    r"noss[oa]s?|o|a|os|as|de|do|da|no|na)"
)

REVIEW = (
    rf"\b(?:review|proofread|critique|audit|look over|go over|revis(?:e|a|ar|em)|analis(?:e|a|ar)|analy[sz]e|"
    rf"avali(?:e|a|ar)|critic(?:ar|a|que)|audit(?:e|ar)|(?:take|have) a (?:quick )?look at|check|confer(?:e|ir)|"
    rf"confira|"
    rf"(?:da|de|dar) uma (?:olhad(?:a|inha)|conferida|revisada)) (?:{_THIS} )+(?:\w+ )?{_REVIEWED}\b",
    rf"\b(?:review|proofread|critique|audit|revis(?:e|a|ar|em)|analis(?:e|a|ar)|analy[sz]e|avali(?:e|a|ar)) "
    rf"(?:\w+ )?{_REVIEWED}\b|\b(?:review|revis(?:e|a|ar)) {_THIS}$|\b(?:code|design|peer) review\b|"
    rf"\brevisao de (?:codigo|pr|projeto)\b|\blgtm\b",
    rf"\b(?:feedback|opinion|comments|thoughts|second look|opiniao|comentarios|parecer|think|acha|achou) (?:on|about|"
    rf"of|"
    rf"sobre|do|da|de|dess[ea]|dest[ea]) (?:{_THIS} )*(?:\w+ )?{_REVIEWED}\b|"
    rf"\b(?:is|are|does|esta|ta|ficou) (?:{_THIS} )*{_REVIEWED} (?:\w+ )?(?:ok|good|right|correct|clean|safe|secure|"
    rf"valid|"
    rf"efficient|readable|bo[ma]|correct[oa]|cert[oa]|limp[oa]|segur[oa]|legivel)\b|"
    rf"\b(?:esta|ta|ficou) (?:bo[ma]|ok|cert[oa]|correct[oa]|legal|limp[oa]) (?:{_THIS} )+{_REVIEWED}\b",
    rf"\b(?:improve|simplify|clean up|melhor(?:e|a|ar)|simplifi(?:que|car)) "
    rf"(?:{_THIS} )+(?:\w+ )?{_REVIEWED}\b|\bcan this be (?:improved|simplified)\b",
)
_BROKEN = (
    r"(?:fail(?:s|ing|ed)?|break(?:s|ing)?|broken|broke|crash(?:es|ing|ed)?|wrong|errors?|erroring|slow|hang(?:s|ing)?|"
    r"hung|frozen|freezes|blank|empty|down|red|stuck|stale|unresponsive|keeps? \w+ing|"
    r"throw(?:s|ing)?|leak(?:s|ing)?|tim(?:e|es|ing) out|(?:not|n't) (?:work(?:ing)?|compil(?:e|ing)|"
    r"start(?:ing)?|load(?:ing)?|run(?:ning)?|pass(?:ing)?|connect(?:ing)?)|"
    r"falh(?:a|ando|ou|am)|erros?|quebr(?:a|ando|ou|ad[oa])|trav(?:a|ando|ou|ad[oa])|lent[oa]|errad[oa]|caiu|parou|"
    r"vazi[oa]|"
    r"em branco|nao (?:funciona|compila|roda|inicia|carrega|passa|conecta|abre|esta (?:funcionando|rodando)))"
)
_NOTHING = r"(?:undefined|null|none|nan|nil|nulo|vazio|empty|blank|404|500|403|timeout)"
DEBUG = (
    rf"\b(?:why|por que|porque|pq)\b.*\b{_BROKEN}(?!\w)|"
    rf"\b(?:why|por que|porque|pq)\b.*\b{_RUNNING} (?:is not|isn't|does not|doesn't|do not|don't|won't|nao|never|"
    rf"nunca) \w+|"
    rf"\b(?:why|por que|porque|pq)\b.*\b(?:does|is|do)(?: not|n't) (?:the |my |our )?{_RUNNING} \w+",
    rf"\b{_RUNNING}(?: \w+)?? (?:(?:is|are|was|just|keeps?|still|now|again|sometimes|esta|ta|ficou|fica|nos|"
    rf"sempre) )*{_BROKEN}"
    rf"(?!\w)",
    r"\b(?:works?|pass(?:es)?|runs?|funciona|passa|roda) (?:fine )?(?:locally|on my machine|here|localmente|"
    r"na minha maquina|"
    r"aqui)\b.*\b(?:but|mas)\b.*\b(?:not|fails?|nao|falha|quebra)\b",
    r"\b(?:debug|troubleshoot|diagnose|root cause|stack ?trace|traceback|segfault|core dump|null pointer|"
    r"depur(?:ar|e|a|acao)|causa raiz|bugs?|exception|excecao)\b|\b\w+(?:error|exception)\b",
    rf"\b(?:fix|solve|resolve|corrij[ae]|corrigir|conserta?r?|resolv(?:a|er)) (?:{_THIS} )*(?:\w+ )?"
    r"(?:bug|error|issue|crash|failure|test|tests|build|problem|warning|erro|falha|teste|problema|defeito)\b",
    rf"\b(?:getting|get|got|see|seeing|throws?|raises?|returns?|shows?|da|deu|dando|recebo|aparece|ocorre|retorna|"
    rf"devolve|"
    rf"mostra) (?:an? |um |o |este |esse |this |the )?(?:(?:\w+ )?(?:error|exception|erro|excecao|traceback)|"
    rf"{_NOTHING})\b",
    r"\b(?:does|do|is|are|did|was|has|can|could|would|wo|ca)(?: ?not|n't|nt) (?:work|compile|start|load|run|pass|"
    r"build|connect|respond)(?:ing)?\b|\bstopped working\b|"
    r"\bwhat(?:'s| is| went) wrong\b|\bo que (?:esta|deu|ha de) errado\b|\b(?:nao|parou de) (?:esta )?"
    r"(?:funciona|funcionar|funcionando|compila|roda|rodando)\b",
)
_MAKE = (
    r"(?:write|implement|create|build|develop|code|add|generate|program|refactor|rewrite|scaffold|set up|extend|"
    r"port|convert|migrate|make|draft|provide|escrev[ae]|escrever|implement(?:e|ar|a)|cri(?:e|a|ar)|desenvolv(?:a|er)|"
    r"codifi(?:que|car)|adicion(?:e|ar|a)|ger(?:e|ar|a)|program(?:e|ar)|refator(?:e|ar|a)|reescrev(?:a|er)|"
    r"constru(?:a|ir)|"
    r"mont(?:e|ar)|fac[ao]|fazer|converta|migre)"
)
_CHANGE = (
    r"(?:add|change|rename|remove|delete|drop|replace|move|set|enable|disable|increase|decrease|raise|lower|bump|"
    r"extract|split|"
    r"merge|wrap|upgrade|update|hide|put|inline|"
    r"adicion[ae]|mud[ae]|alter[ae]|renomei[ae]|remov[ae]|apag[ae]|exclu[ia]|troqu?[ea]|troca|substitu[ia]|mov[ae]|"
    r"coloqu[e]|"
    r"coloca|ativ[ae]|desativ[ae]|habilit[ae]|desabilit[ae]|aument[ae]|diminu[ia]|reduz(?:a)?|extrai(?:a)?|separ[ae]|"
    r"atualiz[ae]|escond[ae]|bot[ae])"
)
_ASKING = (
    r"^(?:(?:please|can you|could you|i need (?:you )?to|i want (?:you )?to|help me|let's|now|and|por favor|pode|"
    r"voce pode|"
    r"preciso|quero|vamos|agora|e) )*"
)
IMPLEMENT = (
    rf"\b{_MAKE} (?:(?:me|a|an|the|some|new|us|um|uma|o|os|as|novo|nova|another|simple|small|my|our|this|that|"
    rf"unit|por favor|ai) )*(?:[\w.-]+ ){{0,3}}?{_ARTEFACT}\b",
    rf"{_ASKING}(?:implement|refactor|scaffold|implement(?:e|ar|a)|refator(?:e|ar|a)|codifi(?:que|car)) \w+",
    rf"{_ASKING}{_CHANGE} (?:[\w.-]+ ){{0,6}}?(?:{_ARTEFACT}|{_PART})\b",
    rf"{_ASKING}{_CHANGE} .*\b(?:everywhere|in all (?:the )?files|across the \w+|em todo lugar|em todos os arquivos)\b",
    r"\b(?:write|escrev[ae]|show me) (?:\w+ )?(?:code|codigo)\b|\bcode (?:for|that|to) \w+|\bcodigo (?:para|"
    r"que) \w+|"
    r"\bhow (?:do|can|should|would|to) (?:i |we |you )?(?:implement|code|program|test|call|parse|deploy|"
    r"mock) \w+|\bcomo (?:eu )?(?:implement|program|test|codific)\w+ \w+",
)
_SHAPE = (
    r"(?:structure|design|organi[sz]e|architect|architecture|layer|split|model|separate|decouple|scale|lay out|"
    r"partition|shard|approach|"
    r"name|version|handle errors|estrutur(?:ar|o|amos)|projet(?:ar|o|amos)|desenh(?:ar|o|amos)|organiz(?:ar|o|"
    r"amos)|model(?:ar|o|amos)|separ(?:ar|o|amos)|desacoplar|escalar|dividir|"
    r"arquitetar|particionar|abordar)"
)
_PLACED = (
    r"(?:live|reside|sit|belong|go|be (?:placed|stored|kept)|ficar|morar|residir|viver|estar|"
    r"ser (?:colocad|guardad)[oa])"
)
ARCHITECTURE = (
    rf"\b(?:how|where|what's the best way|best way|como|onde|qual (?:e )?a melhor (?:forma|"
    rf"maneira))\b(?: \w+){{0,5}}? {_SHAPE}\b",
    r"\b(?:architectur(?:e|al)|arquitetur(?:a|al)|design patterns?|(?:architectural|repository|factory|strategy|"
    r"observer|singleton) pattern|"
    r"padro?(?:es|ao) (?:de projeto|arquitetural|arquiteturais|do projeto|de design)|best practices?|"
    r"boas praticas|microservices?|microsservicos?|monolith|monolito|trade-?offs?|"
    r"separation of concerns|dependency injection|injecao de dependencias?|domain[- ]driven|hexagonal|"
    r"event[- ]driven|bounded contexts?|"
    r"(?:project|our|coding|design) (?:patterns?|principles?|conventions?|standards?)|principios? (?:do|"
    r"de) (?:projeto|design)|convenc(?:ao|oes) (?:do|de) (?:projeto|codigo))\b",
    # Where a part of software belongs; where a person should go is another question.
    rf"\b(?:should|shall|deve(?:ria)?m?)\b(?: [\w-]+){{0,4}} (?:{_ARTEFACT}|{_PART}|{_RUNNING}|logic|"
    rf"rules?)\b.* {_PLACED}\b|"
    rf"\b(?:logica|regras?|{_ARTEFACT}|{_PART})\b.*\bdeve(?:ria)?m? {_PLACED}\b|"
    rf"\bonde (?:deve(?:ria)?m?|e melhor) {_PLACED} (?:a |o )?(?:logica|regras?|{_ARTEFACT}|{_PART})\b",
    rf"\b{_TECHNOLOGY} (?:or|ou|vs\.?|versus|x) {_TECHNOLOGY}\b",
    r"\b(?:should|would|could) (?:i|we|it) (?:\w+ )*?(?:or|instead of|rather than|over) \w+|\b(?:devo|devemos|"
    r"deveria|deveriamos|e melhor) (?:\w+ )*?(?:ou|em vez de|ao inves de) \w+",
    r"\b(?:which|what) (?:pattern|approach|framework|library|database|architecture|structure|strategy|design|"
    r"stack|data structure)\b|"
    r"\bqua(?:l|is) (?:padrao|abordagem|framework|biblioteca|banco de dados|arquitetura|estrutura|estrategia|"
    r"design|estrutura de dados)\b",
)


def says(text: str, patterns: tuple[re.Pattern[str], ...]) -> bool:
    """Whether any of the patterns is in the text."""
    return any(pattern.search(text) for pattern in patterns)


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, patterns))


REVIEWS, DEBUGS = _compiled(*REVIEW), _compiled(*DEBUG)
IMPLEMENTS, ARCHITECTS = _compiled(*IMPLEMENT), _compiled(*ARCHITECTURE)


def is_work(text: str) -> bool:
    """Whether a folded text asks for work of any of these kinds."""
    return any(says(text, patterns) for patterns in (REVIEWS, DEBUGS, IMPLEMENTS, ARCHITECTS))
