"""Language identification, Portuguese or English: a model for sentences, function words for shorter texts."""

from typing import Any

from agents.core.language.text import clip, identify_language, words

SHORT = 4


class WordVotes:
    """Votes of function words; needs no model."""

    def identify(self, text: str, default: str) -> str:
        """`pt` or `en`; `default` where the text is too short to tell."""
        return identify_language(text, default)


class LinguaLanguage:
    """Letter statistics for four words and more. Below, they call `faz o deploy` English: function words decide."""

    def __init__(self) -> None:
        from lingua import Language, LanguageDetectorBuilder

        self._detector: Any = LanguageDetectorBuilder.from_languages(Language.PORTUGUESE, Language.ENGLISH).build()
        self._codes = {Language.PORTUGUESE: "pt", Language.ENGLISH: "en"}
        self._detector.detect_language_of("the models are loaded at the first text")

    def identify(self, text: str, default: str) -> str:
        """`pt` or `en`; `default` where the text is too short to tell."""
        seen = clip(text)
        if len(words(seen)) < SHORT:
            return identify_language(seen, default)
        return self._codes.get(self._detector.detect_language_of(seen), default)


def best_language() -> LinguaLanguage | WordVotes:
    """The model, or function words on platforms without its wheel."""
    try:
        return LinguaLanguage()
    except ImportError:
        return WordVotes()
