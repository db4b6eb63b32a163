"""Tasks that need no memory: a sum, and a translation, a summary or a rewording of what is in the conversation.

`Translate that` is about what was just said, `translate the refund policy` about what has to be found first. A text
that comes with the task, in quotation marks or behind a colon, is all that it needs.
"""

import re

from agents.core.language import text
from agents.core.language.tiles import pieces, tiles

# A summary of fewer words behind a colon names what is to be summed up, and is not the text itself.
WORDS_OF_A_TEXT = 12

# --- sums -------------------------------------------------------------------------------------------------------------

_NUMBER = (
    r"(?:\d+(?:[.,]\d+)*|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|"
    r"hundred|thousand|um|uma|dois|duas|tres|quatro|cinco|seis|sete|oito|nove|dez|onze|doze|vinte|trinta|quarenta|"
    r"cinquenta|cem|mil)"
)
_BETWEEN = (
    r"(?:[+*/x×÷^-]|plus|minus|times|divided by|multiplied by|over|to the power of|mais|menos|vezes|dividido por|"
    r"multiplicado por|elevado a|% (?:of|off|de)|per ?cent of|por cento de)"
)
_BEFORE = r"(?:(?:a |the )?square root of|(?:a )?raiz quadrada de|half of|metade de|twice|o dobro de|double)"
_BEHIND = r"(?:squared|cubed|factorial|ao quadrado|ao cubo|fatorial|!|%)"
_TERM = rf"(?:{_BEFORE} )?\(*-?\(* ?{_NUMBER}(?: ?{_BEHIND})? ?\)*"
_ASKED = (
    r"(?:(?:please|pls|por favor|so|and|e|entao|ok|agora|now|can you|could you|pode|voce pode|me|tell me|diz|diga|"
    r"what(?:'?s| is)|how much is|calculate|compute|solve|work out|quanto (?:e|da|fica|vale|sao)|"
    r"qual (?:e )?(?:o )?resultado de|calcul[ae]r?|resolv[ae]r?|the result of|the sum of|:)[ ,]*)"
)
_TWO = (
    rf"(?:add|sum|some|soma|multiply|multipli(?:que|ca)|subtract|subtraia|divide|divida) {_NUMBER} (?:and|to|with|by|"
    rf"from|e|com|por|de) "
    rf"{_NUMBER}"
)
_SUM = re.compile(
    rf"{_ASKED}*(?P<sum>{_TWO}|{_TERM}(?: ?{_BETWEEN} ?{_TERM})*)(?: ?=| is| equals?)?"
    r"(?:[ ,]*(?:please|por favor|for me|pra mim))*[ ?.!]*"
)
# Bare, these are dates, numbers of documents and spans as well.
_BARE = re.compile(r"[\d.,]+ ?[/-] ?[\d.,/-]+|[\d.,]+ ?%?")


def is_arithmetic(said: str) -> bool:
    """Whether a message asks for the result of a sum and nothing else."""
    if len(said) > 200:
        return False
    found = _SUM.fullmatch(text.fold(said))
    if found is None:
        return False
    summed = found["sum"].strip()
    if re.fullmatch(_TWO, summed):
        return True
    if found.start("sum") == 0 and "=" not in said:
        return (
            re.search(rf" ?{_BETWEEN} ?|^{_BEFORE} | {_BEHIND}$", summed) is not None
            and _BARE.fullmatch(summed) is None
        )
    return re.search(rf"(?<!^){_BETWEEN}|{_BEFORE} |{_BEHIND}$", summed) is not None and not summed.endswith("%")


# --- tasks on a text --------------------------------------------------------------------------------------------------

_LANGUAGE = (
    r"(?:\w+(?:ish|ese)|italian|russian|french|german|mandarin|arabic|hebrew|dutch|korean|greek|hindi|latin|"
    r"another language|ingles|portugues|espanhol|frances|alemao|italiano|japones|chines|mandarim|russo|arabe|"
    r"hebraico|holandes|coreano|grego|latim|outra lingua|outro idioma)"
)
_COUNT = (
    r"(?:\d{1,2}|one|two|three|four|five|ten|a few|few|fewer|less|um|uma|dois|duas|tres|quatro|cinco|dez|poucas|menos)"
)
_UNIT = (
    r"(?:words?|sentences?|lines?|paragraphs?|bullet points?|bullets?|points?|"
    r"palavras?|frases?|linhas?|paragrafos?|topicos?|pontos?|itens)"
)
_HOW = (
    r"(?:(?:a (?:bit|little) |much |um pouco |bem )?(?:(?:more|less|mais|menos) (?:formal|informal|casual|friendly|"
    r"polite|"
    r"concise|brief|clear|direct|professional|simple|detailed|technical|curt[oa]|breve|simples|clar[oa]|objetiv[oa]|"
    r"diret[oa]|"
    r"amigavel|educad[oa]|profissional|detalhad[oa]|tecnic[oa]|long[oa]|cheesy|playful|serious|funny|romantic[oa]?|"
    r"upbeat|enthusiastic|dramatic|engracad[oa]|divertid[oa]|seri[oa]|carinhos[oa]|animad[oa]|poetic[oa]?)|"
    r"shorter|longer|simpler|clearer|friendlier|politer|briefer|warmer|funnier|softer|gentler)|"
    r"(?:in |em |com )?(?:all caps|caps|uppercase|lowercase|bold|italics|negrito|(?:letras )?(?:maiusculas?|"
    r"minusculas?)))"
)
_WRITTEN = (
    r"(?:answer|reply|message|response|text|sentence|paragraph|explanation|"
    r"respostas?|mensage(?:m|ns)|texto|frase|paragrafo|explicacao)"
)
_VERB = (
    r"translat(?:e|ion)|summari[sz]e|shorten|condense|rephrase|reword|rewrite|paraphrase|simplify|reformat|sum|put|"
    r"make|"
    r"write|say|give me a summary of|"
    r"tradu(?:z|za|zir|cao)|resum(?:e|a|o|ir)|encurt(?:e|a|ar)|reduz(?:a|ir)?|reformul(?:e|a|ar)|reescrev(?:e|a|er)|"
    r"parafrase(?:ie|ia|ar)|simplifi(?:que|ca|car)|deix(?:e|a|ar)|coloc(?:a|que|ar)|escrev(?:e|a|er)|pass(?:a|e|ar)|"
    r"diz|diga|(?:faca|faz) um resumo(?: de)?"
)
_SAYING = r"how (?:do|would|can) (?:you|i|we|one) say|como (?:se|eu|e que se) (?:diz|digo|fala|escreve)"
_OBJECT = (
    r"(?:that|this|it|isso|isto|aquilo|disso|that one|all (?:that|of it)|tudo(?: isso)?|what you (?:just )?(?:said|"
    r"wrote)|"
    r"o que (?:voce|vc) (?:disse|escreveu|falou|acabou de dizer)|the above|o (?:texto )?acima|(?:the|our|a|nossa) "
    rf"(?:conversation|conversa)|(?:(?:your|the|that|this|sua|essa|esta|a|o|esse|este|seu) )?(?:(?:last|previous|"
    rf"ultim[ao]) )?{_WRITTEN}(?: anterior| acima| above)?)"
)
_TAIL = (
    rf"(?:back )?(?:in|into|to|em|para|pra|pro|no|ao)(?: o| plain| simple| bom)? {_LANGUAGE}|(?:in|to|into|em|"
    rf"para) (?:just |so |"
    rf"apenas )?{_COUNT} {_UNIT}|(?:as|in|em|com) (?:bullet points?|bullets?|topicos|uma lista|a list)|{_HOW}|up|"
    r"(?:in|with|em|num|com) (?:an? |um )?(?:\w+ )?(?:tone|style|tom|estilo)(?: mais \w+| \w+)?|"
    r"(?:in|em|com) (?:other|simpler|simple|plain|outras|poucas) (?:words|terms|palavras)|de (?:outr[ao]|"
    r"um) (?:forma|jeito)"
    r"(?: mais \w+)?|de (?:forma|maneira) mais \w+"
)
_POLITE = (
    r"(?:can|could|would|will) you(?: please)?|please|pls|for me|to me|now|and|then|so|also|again|instead|ok|okay|"
    r"great|thanks|"
    r"thank you|perfect|nice|"
    r"(?:voce |vc )?(?:pode|poderia|consegue|da pra|da para)|por favor|pfv?|plz|pra mim|para mim|me|agora|e|entao|"
    r"tambem|de novo|"
    r"certo|valeu|obrigad[oa]|perfeito|otimo|legal|beleza"
)
_TASKS = pieces(rf"(?:{_VERB})", _TAIL)
_AROUND = pieces(_OBJECT, _POLITE)
_BY_ITSELF = frozenset("put make say write sum diz diga deixa deixe passa coloca escreve up".split())  # noqa: SIM905
_QUOTED = re.compile(r"[\"\u201c\u00ab](.+)[\"\u201d\u00bb]|(?<!\w)['\u2018](.+)['\u2019](?!\w)", re.DOTALL)
_TRANSLATING = re.compile(rf"\b(?:translat|tradu)|{_SAYING}|\b(?:in|into|to|em|para|pro) (?:o )?{_LANGUAGE}\b")
_WITH_TEXT = pieces(rf"(?:{_VERB}|{_SAYING})", _TAIL)
_LABEL = pieces(
    _OBJECT,
    _POLITE,
    r"(?:the |this |following |seguinte |a |o |essa |esse )*(?:sentence|phrase|word|text|frase|palavra|texto|"
    r"seguinte|following)",
)


def is_on_the_conversation(said: str) -> bool:
    """Whether a message asks to translate, shorten or reword what was said, and names nothing else."""
    words = text.words(said)
    if not 0 < len(words) <= 16 or not tiles(" ".join(words), _TASKS, _AROUND):
        return False
    # `Say that` and `put it` ask for something else, or for nothing yet.
    return any(tiles(word, _TASKS) for word in words if word not in _BY_ITSELF) or _has_tail(words)


def _has_tail(words: tuple[str, ...]) -> bool:
    tail = pieces(_TAIL)
    return any(tiles(" ".join(words[at:]), tail, _AROUND) for at in range(len(words)) if words[at] != "up")


def brings_its_text(said: str) -> bool:
    """Whether a message holds the text that it asks to translate, shorten or reword."""
    quoted = _QUOTED.search(said)
    if quoted is not None:
        return _is_task(f"{said[: quoted.start()]} {said[quoted.end() :]}")
    task, colon, given = said.partition(":")
    size = len(text.words(given))
    if not colon or not size or not _is_task(task):
        return False
    return size >= WORDS_OF_A_TEXT or _TRANSLATING.search(text.fold(task)) is not None


def _is_task(said: str) -> bool:
    words = text.words(said)
    return 0 < len(words) <= 16 and tiles(" ".join(words), _WITH_TEXT, _LABEL)
