"""Messages that ask for work on a project: to shape it, make it, review it, or find what is wrong with it.

Patterns of folded text that are looked for anywhere in a message. Portuguese and English.
"""

import re

_ARTEFACT = (
    r"(?:code|codebase|function|method|class|module|package|library|component|service|endpoints?|api|route|handler|"
    r"tests?|unit tests?|script|quer(?:y|ies)|migration|schema|parser|validator|validation|authentication|login|"
    r"cache|"
    r"pipeline|job|worker|feature|page|form|screen|button|dashboard|algorithm|loop|regex|dockerfile|program|app|"
    r"client|server|adapter|middleware|model|interface|wrapper|cli|command|webhook|integration|"
    r"codigo|funcao|funcoes|metodo|classe|modulo|pacote|biblioteca|componente|servico|rota|testes?|consulta|"
    r"migracao|esquema|validador|validacao|autenticacao|funcionalidade|pagina|formulario|tela|botao|painel|"
    r"algoritmo|expressao regular|programa|aplicativo|cliente|servidor|adaptador|modelo|comando|integracao)"
)
_REVIEWED = (
    r"(?:code|pr|prs|pull requests?|merge requests?|diff|commits?|patch|changes?|function|method|class|module|"
    r"files?|tests?|"
    r"design|architecture|implementation|proposal|draft|document|docs|text|essay|report|contract|query|script|"
    r"schema|plan|spec|"
    r"codigo|mudancas?|alteracoes|funcao|metodo|classe|modulo|arquivos?|testes?|projeto|arquitetura|implementacao|"
    r"proposta|rascunho|documento|texto|relatorio|contrato|consulta|esquema|plano|peticao|minuta|parecer)"
)
_THIS = (
    r"(?:this|that|these|my|our|the|its|his|her|their|est[ea]s?|ess[ea]s?|isto|isso|meus?|minhas?|noss[oa]s?|o|a|os|"
    r"as|de|do|da)"
)

REVIEW = (
    rf"\b(?:review|proofread|critique|audit|look over|go over|revis(?:e|a|ar|em)|analis(?:e|a|ar)|analy[sz]e|"
    rf"avali(?:e|a|ar)|"
    rf"critic(?:ar|a|que)|audit(?:e|ar)) (?:{_THIS} )*(?:\w+ )?{_REVIEWED}\b",
    rf"\b(?:review|revis(?:e|a|ar)) {_THIS}$|\b(?:code|design|peer) review\b|\brevisao de (?:codigo|pr|"
    rf"projeto)\b|\blgtm\b",
    rf"\b(?:feedback|opinion|comments|thoughts|second look|opiniao|comentarios|parecer) (?:on|about|of|sobre|do|"
    rf"da|de) "
    rf"(?:{_THIS} )*(?:\w+ )?{_REVIEWED}\b|\b(?:is|does|esta|ficou) (?:{_THIS} )*{_REVIEWED} (?:\w+ )?(?:ok|good|"
    rf"right|correct|clean|bo[ma]|"
    r"correct[oa]|cert[oa]|limp[oa])\b|\b(?:improve|simplify|clean up|melhor(?:e|a|ar)|simplifi(?:que|car)) "
    rf"(?:{_THIS} )+(?:\w+ )?{_REVIEWED}\b|\bcan this be (?:improved|simplified)\b",
)
_BROKEN = (
    r"(?:fail(?:s|ing|ed)?|break(?:s|ing)?|broken|crash(?:es|ing|ed)?|wrong|errors?|erroring|slow|hang(?:s|ing)?|"
    r"stuck|"
    r"throw(?:s|ing)?|leak(?:s|ing)?|tim(?:e|es|ing) out|(?:not|n't) (?:work(?:ing)?|compil(?:e|ing)|"
    r"start(?:ing)?|load(?:ing)?|run(?:ning)?|pass(?:ing)?|connect(?:ing)?)|"
    r"falh(?:a|ando|ou|am)|erros?|quebr(?:a|ando|ou|ad[oa])|trav(?:a|ando|ou)|lent[oa]|errad[oa]|"
    r"nao (?:funciona|compila|roda|inicia|carrega|passa|conecta|abre|esta (?:funcionando|rodando)))"
)
DEBUG = (
    rf"\b(?:why|por que|porque|pq)\b.*\b{_BROKEN}(?!\w)",
    r"\b(?:debug|troubleshoot|diagnose|root cause|stack ?trace|traceback|segfault|core dump|null pointer|"
    r"depur(?:ar|e|a|acao)|"
    r"causa raiz|bugs?|exception|excecao)\b|\b\w+(?:error|exception)\b",
    rf"\b(?:fix|solve|resolve|corrij[ae]|corrigir|conserta?r?|resolv(?:a|er)) (?:{_THIS} )*(?:\w+ )?"
    r"(?:bug|error|issue|crash|failure|test|tests|build|problem|warning|erro|falha|teste|problema|defeito)\b",
    r"\b(?:getting|get|got|see|seeing|throws?|raises?|da|deu|dando|recebo|aparece|ocorre) (?:an? |um |o |este |"
    r"esse |this |the )?(?:\w+ )?(?:error|exception|erro|excecao|traceback|500|404)\b",
    r"\b(?:does|do|is|are|did|was|has|can|could|would|wo|ca)(?: ?not|n't|nt) (?:work|compile|start|load|run|pass|"
    r"build|connect|respond)(?:ing)?\b|\bstopped working\b|"
    r"\bwhat(?:'s| is| went) wrong\b|\bo que (?:esta|deu|ha de) errado\b|\b(?:nao|parou de) (?:esta )?"
    r"(?:funciona|funcionar|funcionando|compila|roda|rodando)\b",
)
_MAKE = (
    r"(?:write|implement|create|build|develop|code|add|generate|program|refactor|rewrite|scaffold|set up|extend|"
    r"port|"
    r"convert|migrate|make|draft|provide|escrev[ae]|escrever|implement(?:e|ar|a)|cri(?:e|a|ar)|desenvolv(?:a|er)|"
    r"codifi(?:que|car)|"
    r"adicion(?:e|ar|a)|ger(?:e|ar|a)|program(?:e|ar)|refator(?:e|ar|a)|reescrev(?:a|er)|constru(?:a|ir)|"
    r"mont(?:e|ar)|fac[ao]|fazer|converta|migre)"
)
IMPLEMENT = (
    rf"\b{_MAKE} (?:(?:me|a|an|the|some|new|us|um|uma|o|os|as|novo|nova|another|simple|small|my|our|this|that|"
    rf"unit|por favor|ai) )*(?:[\w.-]+ ){{0,3}}?{_ARTEFACT}\b",
    r"^(?:(?:please|can you|could you|i need to|i want to|help me|let's|por favor|pode|preciso|quero|vamos) )*"
    r"(?:implement|refactor|scaffold|implement(?:e|ar|a)|refator(?:e|ar|a)|codifi(?:que|car)) \w+",
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
    r"\b(?:should|would|could) (?:i|we|it) (?:\w+ )*?(?:or|instead of|rather than|over) \w+|\b(?:devo|devemos|"
    r"deveria|deveriamos|e melhor) (?:\w+ )*?(?:ou|em vez de|ao inves de) \w+",
    r"\b(?:which|what) (?:pattern|approach|framework|library|database|architecture|structure|strategy|design|"
    r"stack|data structure)\b|"
    r"\bqua(?:l|is) (?:padrao|abordagem|framework|biblioteca|banco de dados|arquitetura|estrutura|estrategia|"
    r"design|estrutura de dados)\b",
)
# What belongs to somebody's work, and is therefore in memory or nowhere.
PROJECT = re.compile(
    r"\b(?:our|ours|nosso|nossa|nossos|nossas|my (?:team|project|company|code|repo)|the (?:project|repo|"
    r"repository|codebase|team|contract|"
    r"client|customer|meeting|deadline|budget|roadmap|sprint|ticket|spec|document|policy|report)|"
    r"(?:o|a|os|as|do|da|no|na|dos|das) (?:projeto|repositorio|equipe|time|contrato|cliente|reuniao|prazo|"
    r"orcamento|sprint|"
    r"documento|politica|relatorio|processo|fornecedor|diretoria|gestor|fase|entrega|parecer|requisito)|"
    r"(?:function|method|class|module|file|variable|endpoint|table|column|service|config|setting|branch|funcao|"
    r"metodo|classe|modulo|arquivo|"
    r"variavel|tabela|coluna|servico|configuracao)(?: name| names)?|(?:we|us) (?:\w+ )?(?:decide[d]?|agree[d]?|"
    r"use[d]?|chose|said)|"
    r"(?:decidimos|combinamos|definimos|usamos|acordamos|escolhemos))\b|\b\w+_\w+\b|\b\w+\.(?:py|js|ts|java|go|"
    r"rs|sql|yaml|yml|json|md|toml)\b|"
    r"\b[a-z]{2,4}\.\d{4}/\d{2}\b"
)


def says(text: str, patterns: tuple[re.Pattern[str], ...]) -> bool:
    """Whether any of the patterns is in the text."""
    return any(pattern.search(text) for pattern in patterns)


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, patterns))


REVIEWS, DEBUGS = _compiled(*REVIEW), _compiled(*DEBUG)
IMPLEMENTS, ARCHITECTS = _compiled(*IMPLEMENT), _compiled(*ARCHITECTURE)
