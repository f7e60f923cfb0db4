"""How long passages should be: ``python -m botforge_dev.calibration.chunk_sizes --data FOLDER``.

Cuts the long documents of a question set by several settings of ``chunk_blocks`` and asks where the passage that
holds the answer comes: in the top 5 of all passages, and of the right document's alone.
"""

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

import numpy as np
import numpy.typing as npt

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge.adapters.extract.text import paragraphs
from botforge.domain.chunk import Chunk, ExtractedText
from botforge.domain.chunking import chunk_blocks
from botforge.domain.fusion import COVERAGE_WEIGHT
from botforge.domain.terms import terms
from botforge_dev.build.layout import ROOT
from botforge_dev.evaluation.datasets import LabelledPassage, LabelledQuestion, question_sets

TOP = 5
Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Setting:
    max_tokens: int
    overlap_tokens: int
    context: bool = True  # embed title and headings with the text


SETTINGS = (
    Setting(254, 32),
    Setting(254, 0),
    Setting(254, 64),
    Setting(254, 32, context=False),
    Setting(192, 32),
    Setting(128, 0),
    Setting(128, 32),
    Setting(128, 32, context=False),
    Setting(96, 24),
    Setting(64, 16),
)


@dataclass(frozen=True, slots=True)
class Located:
    """A chunk and where it lies in its document, counted in characters that are no white space."""

    document: str
    chunk: Chunk
    start: int
    end: int


def locate(document: LabelledPassage, chunks: Sequence[Chunk]) -> list[Located]:
    """Where each chunk lies; white space differs between a document and its chunks, nothing else does."""
    whole, found, after = _solid(document.text), list[Located](), 0
    for chunk in chunks:
        solid = _solid(chunk.text)
        at = whole.find(solid, after)
        if at < 0:
            raise ValueError(f"A chunk of {document.id} does not lie in it: {chunk.text[:80]!r}")
        found.append(Located(document.id, chunk, at, at + len(solid)))
        after = at + 1
    return found


def answer_span(question: LabelledQuestion, document: LabelledPassage) -> tuple[int, int]:
    """Where the question's first answer lies in the document, counted as in Located."""
    start = len(_solid(document.text[: question.answer_start]))
    return start, start + len(_solid(question.answers[0]))


def measure(
    setting: Setting,
    documents: Sequence[LabelledPassage],
    questions: Sequence[LabelledQuestion],
    embedder: OnnxEmbedder,
) -> str:
    """One line of the table."""
    by_id = {document.id: document for document in documents}
    located: list[Located] = []
    for document in documents:
        extracted = ExtractedText(document.title if setting.context else None, tuple(paragraphs(document.text)))
        chunks = chunk_blocks(
            extracted, embedder.spans, max_tokens=setting.max_tokens, overlap_tokens=setting.overlap_tokens
        )
        located += locate(document, chunks)
    matrix = _embed(embedder, [place.chunk.embedding_text for place in located])
    asked = _embed(embedder, [question.text for question in questions])
    dense: Matrix = asked @ matrix.T
    bags = [terms(place.chunk.embedding_text) for place in located]
    counts = [0, 0, 0, 0]
    held = 0
    for row, question in enumerate(questions):
        (gold,) = question.gold
        within = [at for at, place in enumerate(located) if place.document == gold]
        start, end = answer_span(question, by_id[gold])
        right = {at for at in within if located[at].start <= start and end <= located[at].end}
        held += bool(right)
        cosines: list[float] = dense[row].tolist()
        coverages = _lexical(question.text, bags)
        both = [cosine + COVERAGE_WEIGHT * covered for cosine, covered in zip(cosines, coverages, strict=True)]
        inside = set(within)
        for number, ranking in enumerate((_best_first(cosines), _best_first(both))):
            counts[2 * number] += bool(right & set(ranking[:TOP]))
            counts[2 * number + 1] += bool(right & set([at for at in ranking if at in inside][:TOP]))
    shares = [count / len(questions) for count in counts]
    read = float(np.mean([len(embedder.spans(place.chunk.text)) for place in located[::7]])) * TOP
    return (
        f"| {setting.max_tokens} | {setting.overlap_tokens} | {'yes' if setting.context else 'no'} | {len(located):,} "
        f"| {held / len(questions):.3f} | " + " | ".join(f"{share:.3f}" for share in shares) + f" | {read:,.0f} |"
    )


def _lexical(question: str, bags: Sequence[frozenset[str]]) -> list[float]:
    """For each chunk the share of the question's words that it holds, weighed by inverse document frequency."""
    scores, whole = [0.0] * len(bags), 0.0
    for term in terms(question):
        holding = [at for at, bag in enumerate(bags) if term in bag]
        weight = log(1 + (len(bags) - len(holding) + 0.5) / (len(holding) + 0.5))
        whole += weight
        for at in holding:
            scores[at] += weight
    return [score / whole if whole else 0.0 for score in scores]


def _best_first(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda at: -scores[at])


def _embed(embedder: OnnxEmbedder, texts: Sequence[str]) -> Matrix:
    return np.asarray([embedding.vector for embedding in embedder.embed(texts)], dtype=np.float32)


def _solid(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _setting(text: str) -> Setting:
    tokens, overlap, *no_title = text.split("/")
    return Setting(int(tokens), int(overlap), context=not no_title)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", default="covidqa_longdoc", help="with long documents and extractive answers")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--only", help="one setting, as TOKENS/OVERLAP or TOKENS/OVERLAP/no-title")
    chosen = parser.parse_args()
    embedder = OnnxEmbedder(ROOT / "layers/embedding/model")
    (data,) = [found for found in question_sets(chosen.data, chosen.split) if found.name == chosen.set]
    print(
        "| tokens | overlap | title | passages | whole answer in one | dense, all | dense, document | fused, all |"
        " fused, document | tokens in 5 |"
    )
    print("|" + "---|" * 10)
    for setting in [_setting(chosen.only)] if chosen.only else SETTINGS:
        print(measure(setting, data.passages, data.questions, embedder), flush=True)


if __name__ == "__main__":
    main()
