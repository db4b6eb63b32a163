"""Whether a sentence asks, with or without a question mark; both languages, whichever the text is in."""

import re

from agents.core.language import text
from agents.core.language.sentences import composed, flatten, sentences

ASKED_CHARS = 2_000
# Words in common, by which one message is the other again.
SAME = 0.8
_BEFORE = (
    r"\W*(?:(?:e|and|mas|but|so|entao|ok|okay|oi|ola|hi|hey|hello|ah|hm+|agora|now|then|please|por favor|alias|"
    r"mesmo|sorry|desculpa|bom dia|boa tarde|boa noite)\W+){0,3}"
)
_PREPOSITION = r"(?:(?:em|no|na|de|do|da|com|para|pra|por|a|ate|desde|on|in|at|by|for|from|to|with|until|since) )?"
_AUX = r"(?:is|are|was|were|am|do|does|did|can|could|will|would|should|shall|has|have|had|may|might|must)(?:n't|nt)?"
# `When it rains I stay`, `what I like is jazz`, `quem assinou foi a Ana` ask nothing: what asks goes on with a verb, or
# with the thing that is asked for.
_ASKS = re.compile(
    _BEFORE
    + _PREPOSITION
    + r"(?:"
    + rf"(?:what|who|whom|where|when|why|how) {_AUX}\b|(?:what|who|where|when|how)'?s\b|(?:who|what) \w+s\b|"
    + r"how (?:much|many|long|far|often|old|big|late|soon|tall|wide|deep|high|loud|heavy|fast|expensive|come|about)\b|"
    + r"(?:which|whose) \w+|what (?:time|day|date|kind|sort|type|number|name|colou?r|size|price|about|if)\b|"
    + r"why (?:not)?\b|"
    + r"(?:qual|quais|quanto|quanta|quantos|quantas|qto|qtos|qts|cade)\b|por ?que\b(?!.*,)|"
    + r"o que\b(?! (?:eu|me|a gente|nos|importa|falta|acontece|ele|ela)\b)|"
    + r"que (?:horas?|dias?|data|mes|ano|tipo|tamanho|cor|nome|numero|valor|prazo|tal|\w+ (?:eu|e|foi|a gente|voce)\b)|"
    + r"quem\b(?!.* (?:e|foi|foram|era|sao|sera|vai ser) )|"
    + r"(?:quando|onde|aonde|como) (?:e|foi|foram|era|sera|seria|fica|ficam|ficou|esta|estao|vai|vao|vou|tem|temos|"
    + r"tenho|posso|pode|podemos|faco|faz|fazem|fazemos|se|comeca|termina|vence|abre|fecha|sai|chega|acontece|"
    + r"funciona|devo|consigo|\w+[aei]r|est[ao]|deu|anda|surgiu)\b|"
    # `Can you book a table for four on Friday` sets a task, and says what it is.
    + r"(?!(?:can|could|will|would) you (?!tell|say|explain|show))"
    + rf"{_AUX} (?:i|we|you|he|she|it|they|there|anyone|anybody|someone)\b|"
    + r"(?:is|are|was|were|can|could|will|would|should|does|did|has) (?:this|that|these|those|my|your|our|his|her|"
    + r"their|the|any)\b|"
    + r"(?:sera que|da (?:pra|para)|tem como|e possivel|alguem sabe|voces? sabem?|sabe (?:se|quando|onde|quem|qual)|"
    + r"(?:me )?(?:lembra|diz|diga|fala|informa) (?:qual|quem|quando|onde|quanto|o que|se)|"
    + r"(?:quero|queria|preciso|gostaria de) saber|"
    + r"(?:remind|tell) me (?:what|which|who|when|where|how|why|if|whether)|do you know|i (?:need|want) to know|"
    + r"any idea)\b"
    + r")"
)


def is_question(said: str) -> bool:
    """Whether a sentence asks."""
    return said.rstrip(" )\"'”").endswith("?") or _ASKS.match(flatten(composed(said))) is not None


def only_asks(said: str, lang: str) -> bool:
    """Whether a text says nothing besides what it asks."""
    return all(map(is_question, sentences(said[:ASKED_CHARS], lang)))


def is_asked_again(said: str, now: str) -> bool:
    """Whether a message is the one of now over again, in almost the same words.

    A statement in the words of a question is its answer: `I am in room 5` to `I am in room 5?`.
    """
    if said.rstrip().endswith("?") < now.rstrip().endswith("?"):
        return False
    # A long one need not be read to be another.
    if not len(now) < 2 * len(said) < 4 * len(now):
        return False
    return text.jaccard(frozenset(text.words(said)), frozenset(text.words(now))) >= SAME
