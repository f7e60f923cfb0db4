"""A corpus in numbers: what does not depend on what is trained."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from botforge.adapters.routing.lexical import GRAM_SLOTS, IDF_SLOTS, gram_slots, gram_weight, slot, stems
from botforge.domain.tool import ToolDefinition
from botforge.domain.tool_text import tool_text
from botforge.domain.wording import wording
from botforge_dev.routing.corpus import BotTool, Corpus

EMBEDDING_SCALE, WORDING_SCALE, GRAM_SCALE = 5.0, 2.0, 5.0  # so that one strength of regularisation fits all

_EMPHASIS = {
    "authored": 8.0
}  # few sentences, of many kinds, and the only bots whose tools and questions share a domain

Embed = Callable[[Sequence[str]], Any]  # texts → array (texts, dimension)


@dataclass(frozen=True, slots=True)
class Measured:
    """Rows are sentences, in the corpus's order; ``right`` is the index of the needed tool, -1 for none."""

    corpus: Corpus
    keys: tuple[str, ...]  # of the tools
    vectors: Any  # (sentences, dimension)
    tool_vectors: Any  # (tools, dimension)
    wording: Any  # (sentences, wording features)
    grams: Any  # sparse (sentences, GRAM_SLOTS)
    acts: Any  # (sentences,) of 0 and 1
    sources: Any  # (sentences,) of names
    right: Any  # (sentences,)

    @classmethod
    def of(cls, corpus: Corpus, embed: Embed) -> "Measured":
        texts = [sentence.text for sentence in corpus.sentences]
        tools = list(corpus.tools.values())
        index = {tool.key: number for number, tool in enumerate(tools)}
        return cls(
            corpus=corpus,
            keys=tuple(index),
            vectors=embed(texts),
            tool_vectors=embed([embedded_text(tool) for tool in tools]),
            wording=np.array([wording(text) for text in texts], dtype=np.float32),
            grams=_grams(texts),
            acts=np.array([sentence.acts for sentence in corpus.sentences], dtype=np.int64),
            sources=np.array([sentence.source for sentence in corpus.sentences]),
            right=np.array([-1 if one.tool is None else index[one.tool] for one in corpus.sentences]),
        )

    def rows(self, sources: Collection[str]) -> Any:
        return np.flatnonzero(np.isin(self.sources, list(sources)))

    def balanced(self, rows: Any) -> Any:
        """Weights by which both labels count the same, and within a label a source by the root of its size."""
        weights = np.ones(len(rows))
        acts, sources = self.acts[rows], self.sources[rows]
        for source in np.unique(sources):
            for label in (0, 1):
                group = (sources == source) & (acts == label)
                if group.any():
                    weights[group] = _EMPHASIS.get(str(source), 1.0) * group.sum() ** -0.5
        for label in (0, 1):
            weights[acts == label] /= weights[acts == label].sum()
        return weights * len(rows) / 2

    def idf(self) -> Any:
        """Inverse document frequencies of stems, of tools and every fifth sentence; a stem that is new has the most."""
        documents = [embedded_text(tool) for tool in self.corpus.tools.values()]
        documents += [sentence.text for sentence in self.corpus.sentences[::5]]
        counts = np.zeros(IDF_SLOTS)
        for document in documents:
            counts[np.unique([slot(stem) for stem in stems(document)]).astype(int)] += 1
        return (np.log((len(documents) + 1) / (counts + 1)) + 0.3).astype(np.float32)


def embedded_text(tool: BotTool) -> str:
    """What registration embeds of a tool without parameters."""
    return tool_text(ToolDefinition(name=tool.name, description=tool.description, input_schema={}, digest=""))


def _grams(texts: Sequence[str]) -> Any:
    slots = [gram_slots(text) for text in texts]
    lengths = [len(each) for each in slots]
    data = np.concatenate([np.full(len(each), gram_weight(each), dtype=np.float32) for each in slots])
    indices = np.concatenate(slots)
    return sparse.csr_matrix((data, indices, np.concatenate([[0], np.cumsum(lengths)])), (len(texts), GRAM_SLOTS))
