"""Passages, questions, and as many chunks as a benchmark needs made from them.

The passages are those of public data sets where ``BOTFORGE_DATA`` (or ``../shared/data``) has them, otherwise of
``examples/documents``. Further chunks join the sentences of two passages, and get the mean of their vectors with a
little noise: words are as frequent as in the original, and no two texts or vectors are alike.
"""

# NumPy leaves parts of its signatures open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import hashlib
import json
import os
from collections.abc import Iterator, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge.adapters.extract.isolated import IsolatedExtractor
from botforge.domain.chunk import Block, ExtractedText
from botforge.domain.chunking import chunk_blocks
from botforge.domain.sentences import split_sentences
from botforge_dev.benchmarks.contestants import HOME
from botforge_dev.build.layout import ROOT

Vectors = npt.NDArray[np.float32]

_PASSAGES = 1_000
_NOISE = 0.3  # length of the random vector that is added to a mean of length 1
_SEED = 7
_EXAMPLES = frozenset({".docx", ".html", ".md", ".pdf"})


@dataclass(frozen=True, slots=True)
class Made:
    """A chunk out of the first half of one passage's sentences and the second half of another's."""

    text: str
    vector: list[float]
    first: int
    second: int  # the first once more: it is that passage as it stands


@dataclass(frozen=True, slots=True)
class Corpus:
    passages: list[str]
    questions: list[str]
    vectors: Vectors  # of the passages, unit length
    sentences: list[Vectors]  # of each passage's sentences
    source: str

    @property
    def digest(self) -> str:
        return hashlib.sha256("\0".join(self.passages).encode()).hexdigest()[:8]

    def chunks(self, count: int) -> Iterator[Made]:
        """The same chunks every time; the first are the passages themselves."""
        random = np.random.default_rng(_SEED)
        sentences = [list(split_sentences(passage)) for passage in self.passages]
        for number in range(count):
            first = number % len(self.passages)
            second = int(random.integers(len(self.passages)))
            noise = random.standard_normal(self.vectors.shape[1]).astype(np.float32)
            if number < len(self.passages):
                yield Made(self.passages[first], self.vectors[first].tolist(), first, first)
                continue
            start, end = sentences[first][: _middle(sentences[first])], sentences[second][_middle(sentences[second]) :]
            text = " ".join([*start, *end])
            vector = _unit(_unit(self.vectors[first] + self.vectors[second]) + _NOISE * _unit(noise))
            yield Made(text, vector.tolist(), first, second)

    def halves(self) -> Iterator[tuple[list[list[float]], list[list[float]]]]:
        """The vectors of each passage's sentences, as ``chunks`` parts them."""
        for vectors in self.sentences:
            yield vectors[: _middle(vectors)].tolist(), vectors[_middle(vectors) :].tolist()


def _middle(sentences: Sized) -> int:
    return (len(sentences) + 1) // 2


def load(model_dir: Path, *, quick: bool) -> Corpus:
    """Read and chunk the texts; their vectors are kept below ``.build/benchmarks`` for the next run."""
    folder = Path(os.environ.get("BOTFORGE_DATA", ROOT.parent / "shared" / "data")) / "rag"
    model = OnnxEmbedder(model_dir)
    texts, questions, source = _public(folder) if folder.is_dir() else _examples()
    passages: dict[str, None] = {}
    for text in texts:
        for chunk in chunk_blocks(text, model.spans):
            passages[chunk.text] = None
    order = np.random.default_rng(_SEED).permutation(len(passages))
    everything = list(passages)
    chosen = [everything[index] for index in order[: _PASSAGES // 2 if quick else _PASSAGES]]
    shuffled = [questions[index] for index in np.random.default_rng(_SEED).permutation(len(questions))]
    sentences = [split_sentences(passage) for passage in chosen]
    flat = _vectors(model, [sentence for of_passage in sentences for sentence in of_passage])
    ends = np.cumsum([len(of_passage) for of_passage in sentences])
    return Corpus(chosen, shuffled, _vectors(model, chosen), np.split(flat, ends[:-1]), source)


def _vectors(model: OnnxEmbedder, texts: list[str]) -> Vectors:
    key = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
    kept = HOME / f"vectors-{key}.npy"
    if kept.is_file():
        return np.load(kept)
    print(f"Embedding {len(texts)} texts ...", flush=True)
    vectors = np.array([embedding.vector for embedding in model.embed(texts)], dtype=np.float32)
    HOME.mkdir(parents=True, exist_ok=True)
    np.save(kept, vectors)
    return vectors


def _public(folder: Path) -> tuple[list[ExtractedText], list[str], str]:
    texts = [
        ExtractedText(row["title"] or None, tuple(map(Block, filter(str.strip, row["text"].split("\n")))))
        for file in sorted(folder.glob("*.passages.jsonl"))
        for row in _rows(file)
    ]
    english = ("covid_faq", "covidqa_longdoc", "pubmedqa", "xquad_en")
    files = [file for name in english for file in sorted(folder.glob(f"{name}.*questions.jsonl"))]
    questions = dict.fromkeys(row["question"] for file in files for row in _rows(file))
    return texts, list(questions), "XQuAD, PubMedQA and COVID-QA"


def _examples() -> tuple[list[ExtractedText], list[str], str]:
    folder = ROOT / "examples" / "documents"
    asked = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    extractor = IsolatedExtractor()
    texts = [
        extractor.extract(file.read_bytes(), filename=file.name, content_type="")
        for file in sorted(folder.iterdir())
        if file.suffix in _EXAMPLES
    ]
    return texts, [row["question"] for row in asked["answerable"]], "examples/documents"


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _unit(vector: npt.NDArray[np.floating[Any]]) -> Vectors:
    return (vector / np.linalg.norm(vector)).astype(np.float32)
