"""Messages that only ask about what was just said, or about what can be asked: all of their words do.

Patterns of whole pieces of folded text, for `consists_of`.
"""

from agents.core.language.tiles import pieces

_ASKING = (
    r"(?:(?:can|could|would|will|may|might|do|did) (?:you|i|u) (?:please |kindly |just |mind )?|please |"
    r"(?:i )?(?:want|need|would like|'?d like|wanna|wish|am going to need|must have|have|am needing)(?: for)?"
    r"(?: you)? (?:to )?(?:please )?)"
)
_SAID = (
    r"(?:what (?:you|u)(?:'ve)?(?: have)?(?: just)? (?:said|told me|mentioned|asked|meant|mean)|"
    r"(?:that|the|your|this)(?: very)?(?: last| previous)?(?: (?:thing|part|bit|point|one|message|response|"
    r"answer|reply|question|statement|"
    r"sentence|phrase|explanation))(?: (?:you|u) (?:just )?(?:said|told me|asked|mentioned|gave(?: me)?))?|that|"
    r"it|yourself|this)"
)
_ONCE = (
    r"(?: (?:again|once more|one more time|another time|over|back|louder|slower|slowly|for me|to me|to this|please|"
    r"by me))*"
)
_NOT = r"(?:did ?n[o']?t|did not|could ?n[o']?t|could not|can ?n[o']?t|do ?n[o']?t|do not|was ?n[o']?t able to)"
REPEATS = (
    rf"{_ASKING}*(?:repeat|restate|rephrase|reiterate|say|replay|rerun|run|ask|tell|hear|explain|clarify|re-?ask)"
    rf"(?: me)?(?: over)?(?: {_SAID})?(?: (?:again|once more|one more time|another time|over|louder|by me|for me|"
    rf"to me|please))+",
    rf"{_ASKING}*(?:repeat|restate|rephrase|reiterate)(?: over)?(?: {_SAID})?{_ONCE}",
    rf"{_ASKING}*(?:tell me |know )?what (?:did|do|was) (?:you|that|it|the (?:last )?(?:thing|question|part))"
    rf"(?: (?:just|again))*(?: (?:say|said|ask|asked|mention|mean|meant|saying|tell me|told me))?(?: (?:again|"
    rf"just now|there|by that))*",
    rf"{_ASKING}*(?:tell me )?{_SAID}{_ONCE}|(?:what|which) question did you (?:just )?ask(?: me)?|"
    rf"what was (?:just )?said|"
    r"what was (?:that|it)(?: (?:last|previous))?(?: (?:thing|question|part|one|you (?:just )?said|again))*|"
    r"what|huh|sorry what|say what|"
    r"pardon(?: me)?|excuse me|come again(?: with that)?|(?:just )?(?:one more time|once more|another time|"
    r"again)(?: for me)?",
    rf"i(?:'m sorry i)?(?: really)? (?:{_NOT}|missed|misheard|lost)(?: quite| really)?(?: (?:hear|catch|get|"
    rf"understand|follow|make out))?"
    rf"(?: (?:you|{_SAID}|the (?:first|second|third|last) (?:part|point|half|bit|step|sentence)))?{_ONCE}",
    rf"{_ASKING}*(?:have |get |hear )?{_SAID}(?: to be)? (?:repeated|restated|said|rephrased|reiterated){_ONCE}|"
    rf"(?:can|could) (?:that|it) be (?:repeated|restated|said again)",
    rf"(?:can|could) i (?:get|ask) you to (?:repeat|say|restate)(?: {_SAID})?{_ONCE}|hold on|wait",
)
EXPLAINS = (
    rf"{_ASKING}*(?:elaborate|clarify|expand|explain|rephrase|go into (?:more )?detail|give me more details?|"
    rf"be more specific|say more|tell me more|"
    rf"break (?:that|it) down|dumb (?:that|it) down)"
    rf"(?: (?:on|about) (?:that|this|it))?(?: (?:that|this|it|{_SAID}))?"
    rf"(?: (?:more|further|better|a bit|a little|bit|in (?:more|other|simpler) (?:detail|details|words|terms)|"
    rf"again|for me|to me|please|differently))*",
    r"what (?:do|did) (?:you|u) mean(?: (?:by|with|when you say) (?:[\w'./-]+ ?)+)?|what does (?:that|this|"
    r"it) mean|meaning what|"
    r"(?:which|what) (?:one|ones|part|of (?:them|those|these|the two))(?: (?:do|did|are|is) (?:you|it|"
    r"that)(?: mean(?:ing)?)?)?|"
    r"(?:i'?m|i am) (?:confused|lost|not following|not sure (?:i (?:understand|follow)|what you mean))|"
    r"i (?:don'?t|do not|didn'?t|did not) (?:understand|follow|get (?:it|that|you|what you mean)|"
    r"know what you mean)(?: (?:that|this|it|you|what you mean))?|"
    r"(?:in|could you say that in) (?:other|simpler) words|such as|like what|for example|(?:can|"
    r"could) you give (?:me )?an example|are you sure|"
    r"(?:so )?(?:you|do you) mean(?: that)?(?: [\w'./-]+){0,8}|is that what you (?:mean|meant|said)",
)
_TOPIC = (
    r"(?:questions?|things?|stuff|subjects?(?: areas?)?|topics?|info(?:rmation)?|quer(?:y|ies)|tasks?|areas?|"
    r"categories|skills?|commands?|"
    r"help|kinds?|types?|sorts?|capabilit(?:y|ies)|features?|requests?|answers?)"
)
_KIND = (
    rf"(?:(?:the |any |all |certain |different |other |some )*(?:(?:kind|type|sort|categor(?:y|ie)|list)s? of )?"
    rf"(?:different )?{_TOPIC})"
)
_ABLE = (
    r"(?:do|answer|help|assist|know|say|ask|tell|use|handle|offer|accomplish|complete|respond|cover|support|talk|"
    r"discuss|get|inquire|"
    r"understand|comprehend|accept|teach|give|perform|provide)"
)
_YOUR = r"(?:you|u|this (?:ai|bot|app|assistant|thing)|the (?:ai|bot|assistant))"
_BEHIND = (
    r"(?: (?:you|me|us|to|of|about|with|for|on|the|ai|bot|assistant|know|do|help|helping|can|answer|answering|"
    r"ask|need|best|well|exactly|all|"
    r"anything|everything|something|things|questions|subjects|topics|any|be|able|and|doing|familiar|versed|good|"
    r"at|in|right|now|here|"
    r"response|by|using|other|else|could|today|types|kinds|different|i|we|may|should)){0,8}"
)
_LEAD = (
    r"(?:(?:(?:can|could|would) you )?(?:please )?(?:tell|let|inform|show|give) me (?:know )?(?:of |about )?|"
    r"i (?:want to|wanna|need to|wish to|would like to|'?d like to) know (?:about )?)?(?:(?:what|which)(?:'s)?"
    r"(?: exactly| all| else)? ?)?"
)
# How well it knows or does something: without one of these a question with `you` asks for something else.
_GOOD = (
    r"(?:able|capable|familiar|versed|well versed|knowledgeable|knowledgable|aware|good|best|trained|programmed|"
    r"designed|allowed|"
    r"skilled|knowing|helping|doing|answering|partial)"
)
ABILITIES = (
    rf"{_LEAD}(?:(?:are|is) )?(?: ?{_KIND})?(?: that)?(?: ?(?:can|could|do|does|would|will|may))? ?{_YOUR}"
    rf"(?:'re|'s)?(?: (?:can|could|do|are|be|may))?(?: {_GOOD})?(?: (?:to|of|with|in|at|about))?(?: be able to)?"
    rf"(?: {_ABLE}| {_GOOD})(?: best| well)?{_BEHIND}",
    rf"{_LEAD}(?:(?:are|is) )?(?: ?{_KIND})?(?: that)? ?(?:are|is) {_YOUR}(?: {_GOOD})(?: (?:to|of|with|in|at|"
    rf"about|on))?{_BEHIND}",
    rf"{_LEAD}(?:(?:are|is) )?(?: ?{_KIND})?(?: that)?(?: ?(?:can|could|do|does|may|should|might|am|are))? ?(?:i|"
    rf"we)"
    rf"(?: (?:can|could|may|might|should|am|are|be))?(?: (?:able|allowed|permitted|supposed))?(?: to)? (?:ask|"
    rf"inquire|request|query|use you|get (?:help|you|from you))(?: (?:of )?you)?{_BEHIND}",
    rf"(?:what|which) {_KIND}?(?: (?:can|may|are|is))? ?(?:{_YOUR} )?(?:be )?(?:asked|permissible|permitted|"
    rf"allowed|supported|available)(?: about| to ask)?",
    rf"{_LEAD}(?:are |is )?(?:your|my) (?:list of )?(?:capabilities|skills|abilities|functions|features|commands|"
    rf"options|areas of expertise|limits|limitations)",
    rf"{_LEAD}(?:{_KIND} )?(?:do )?{_YOUR} have (?:an |a )?(?:answers?|skills?|response|knowledge)(?: (?:to|for|"
    rf"of|about))?(?: what)?|"
    rf"(?:what|which) (?:skills?|abilities|knowledge|features) do {_YOUR} have",
    rf"how (?:can|do|could|may|might|should|would) (?:{_YOUR} (?:help|assist|benefit|be of (?:help|use|service))|"
    rf"i (?:use|benefit from|make use of|interact with|work with|talk to|get) (?:using )?{_YOUR})"
    rf"(?: (?:me|us|to|help|today|here))*",
    rf"(?:(?:can|may|could|should) i |are there |is there )(?:{_KIND} |anything |something |certain |"
    rf"any )*(?:i )?(?:can'?t|cannot|can|may|could|should|am allowed to)? ?ask (?:of )?you{_BEHIND}|"
    rf"(?:can|could|do|are) {_YOUR} (?:help|answer|assist|know|familiar)(?: with| about| of)?(?: me)?(?: with)?"
    rf" (?:any|all|anything|everything){_BEHIND}|"
    rf"(?:are {_YOUR} familiar with|do {_YOUR} know) (?:any )?{_KIND}",
)
REPETE = (
    r"(?:(?:voce |vc )?(?:pode|poderia|podes|da para|consegue|quer) (?:por favor )?)?(?:por favor )?"
    r"(?:(?:me )?(?:repetir|repete|repita|redizer)|(?:falar|dizer|fala|diga|diz|fale) (?:isso )?(?:de novo|"
    r"novamente|outra vez|mais uma vez|mais alto|mais devagar))"
    r"(?: (?:isso|aquilo|a (?:(?:ultima|primeira|segunda|terceira) )?(?:pergunta|resposta|frase|parte|mensagem)|"
    r"o que (?:voce|vc) (?:disse|"
    r"falou|perguntou|acabou de dizer)|"
    r"de novo|novamente|outra vez|mais uma vez|para mim|pra mim|por favor))*|"
    r"(?:o )?que(?: foi)?(?: que)? (?:voce|vc) (?:disse|falou|perguntou|quis dizer|quer dizer|"
    r"acabou de dizer)(?: (?:mesmo|agora|antes|com isso|com (?:[\w'./-]+ ?)+))*|"
    r"(?:eu )?nao (?:te )?(?:entendi|ouvi|escutei|compreendi|captei|peguei)(?: (?:direito|nada|bem|isso|"
    r"muito bem|o que (?:voce|vc) (?:disse|falou|quis dizer)|a (?:pergunta|resposta|(?:ultima|primeira|segunda|"
    r"terceira) parte)))*|"
    r"como(?: e)?(?: assim| que e)|hein|ha|que|o que|oi como|perdao|desculpe?|me desculpe?|de novo|mais uma vez|"
    r"outra vez",
)
EXPLICA = (
    r"(?:(?:voce |vc )?(?:pode|poderia|podes|da para|consegue|quer) (?:me )?(?:por favor )?)?(?:por favor )?"
    r"(?:me )?"
    r"(?:explicar?|explique|esclarecer?|esclareca|detalhar?|detalhe|elaborar?|elabore|falar?|fale|dizer|diga|diz|"
    r"contar?|conte|clarificar)"
    r"(?: (?:isso|isto|me))?(?: (?:um pouco|um pouquinho|melhor|mais|de outr[ao] (?:forma|jeito|maneira)|"
    r"com (?:mais|outras) (?:detalhes?|palavras)|sobre (?:isso|isto|ele|ela|o assunto)|"
    r"a respeito|ai|disso|isso|detalhadamente|por favor|de novo))+|(?:eu )?(?:quero|queria|gostaria de|preciso|"
    r"desejo) (?:saber|entender|ouvir|conhecer)"
    r"(?: (?:um pouco|melhor|mais|sobre isso|a respeito|isso|disso|detalhes))+|(?:me )?(?:da|de|mostre?|"
    r"passe?) (?:mais|outros?) (?:detalhes|informacoes|exemplos?)(?: sobre (?:isso|isto))?|"
    r"(?:diga|fala|fale|conta|conte) mais(?: sobre (?:isso|isto))?|mais (?:detalhes|informacoes|sobre isso)|"
    r"(?:o )?que (?:significa|quer dizer) (?:isso|isto|aquilo)|(?:qual|quais) (?:deles|delas|desses|dessas|"
    r"dos dois)|por exemplo|tipo o que|em que sentido|"
    r"(?:nao )?(?:ficou|esta|ta) (?:claro|confuso)(?: (?:isso|para mim|pra mim))?|estou (?:confuso|confusa|"
    r"perdid[oa])|tem certeza|(?:quer dizer|ou seja)(?: que)?(?: [\w'./-]+){0,8}",
)
_ASSUNTO = (
    r"(?:coisas?|perguntas?|assuntos?|temas?|topicos?|tarefas?|tipos?|informacoes|informacao|duvidas?|comandos?|"
    r"funcoes|opcoes|areas?|servicos?|habilidades?)"
)
PODE = (
    r"(?:(?:me )?(?:diga|diz|fala|fale|conte|informe|mostre?) |(?:eu )?(?:quero|queria|gostaria de|"
    r"preciso) saber )?(?:e )?(?:o |a |as |os )?"
    rf"(?:que|qual|quais|do que|de que|sobre o que|sobre que|em que|com que|no que)(?: (?:sao|e|os?|as?|"
    rf"mais))*(?: {_ASSUNTO}(?: de {_ASSUNTO})?)?(?: (?:que|sobre os quais))?"
    r"(?: (?:eu|voce|vc|tu|voces|a gente|esse (?:robo|bot|assistente)|o (?:robo|bot|assistente)))"
    r"(?: (?:posso|pode|podem|podes|sabe|sabem|sei|consegue|faz|fazem|devo|entende|responde|conhece|ajuda|"
    r"oferece|tem|e capaz de|esta apto a|da para|poderia|podemos))+"
    r"(?: (?:me|te|lhe|fazer|perguntar|ajudar|responder|falar|dizer|conversar|pedir|saber|oferecer|ensinar|"
    r"contar|sobre|com|a|para|por|mim|voce|vc|aqui|de|em|isso|exatamente|hoje|resolver|tratar|fazendo|util|"
    r"ser)){0,6}",
    r"(?:o que|que) (?:voce |vc |tu )?(?:sabe|faz|pode|consegue|posso|sei)(?: (?:fazer|falar|responder|perguntar|"
    r"dizer|pedir|me dizer|de util))?|"
    r"(?:em que|como|no que|com o que) (?:voce |vc |tu )?(?:pode|poderia|consegue|pode me|me) (?:me )?(?:ajudar|"
    r"ajuda|auxiliar|ser util)(?: (?:hoje|aqui|com isso))*|"
    r"(?:quais|qual) (?:sao |e )?(?:as |os |a |o )?(?:suas|seus|sua|seu) (?:funcoes|habilidades|capacidades|"
    r"comandos|servicos|funcionalidades|funcao|utilidade|assuntos|temas|opcoes)|"
    r"(?:para|pra) que (?:voce |vc )?serve(?: voce)?|como (?:te |eu )(?:uso|usar|posso te usar|"
    r"posso usar)(?: (?:voce|isso|isto|esse (?:bot|robo)))?|(?:ajuda|socorro|help|menu|opcoes)",
)
NEAR = pieces(
    r"i'?m sorry|sorry|excuse me|pardon(?: me)?|i said|oh|hey|hi|hello|ok|okay|wait|hold on|um|uh|so|and|but|"
    r"well|no|please|ai|bot|assistant|"
    r"desculpe?|me desculpe?|perdao|oi|ola|ok|entao|e|mas|bem|nao|por favor|ah|hum+|hmm+|calma|espera|"
    r"pera(?: ai)?|robo"
)
REPEATING = pieces(*REPEATS, *REPETE)
EXPLAINING = pieces(*EXPLAINS, *EXPLICA)
ABLE = pieces(*ABILITIES, *PODE)
