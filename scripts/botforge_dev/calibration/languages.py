"""``python -m botforge_dev.calibration.languages --data FOLDER [--split dev]``: questions in another language.

Asks ``xquad_en``'s passages its questions in translation, through the product's embedding and search: as they are, and
with a translation where the product would ask an LLM for one. The English original stands in for the LLM's work, so
what it gives is an upper bound. Prints the tables of ``docs/retrieval.md``.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from botforge.domain.bot import DEFAULT_SIMILARITY_THRESHOLD
from botforge.domain.fusion import fuse
from botforge.domain.language import in_another_language, in_one_language
from botforge.domain.relevance import relevance
from botforge_dev.calibration.laboratories import laboratory
from botforge_dev.calibration.samples import Found, Sample
from botforge_dev.calibration.study import candidates_of, floor_of
from botforge_dev.evaluation.datasets import question_sets, read_lines
from botforge_dev.evaluation.metrics import first_occurrences, mean

_ORIGINAL = "xquad_en"
LANGUAGES = {"English": "en", "German": "de", "Spanish": "es", "Arabic": "ar", "Chinese": "zh", "Hindi": "hi"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the product would have answered it."""

    ranking: tuple[str, ...]  # documents of the passages that are relevant enough, best first
    nearest: str | None  # the document of the most relevant passage
    relevance: float  # of that passage

    def finds(self, gold: str, cutoff: int) -> bool:
        return gold in self.ranking[:cutoff]


def judged(found: Sequence[Found], threshold: float = DEFAULT_SIMILARITY_THRESHOLD) -> Asked:
    candidates = candidates_of(Sample("", "", None, tuple(found)))
    floor = floor_of(candidates)
    ranked = [(candidate.path, relevance(candidate, floor=floor)) for candidate in fuse(candidates, floor=floor)]
    nearest = max(ranked, key=lambda pair: pair[1], default=(None, 0.0))
    ranking = first_occurrences(path for path, relevant in ranked if relevant >= threshold)
    return Asked(tuple(ranking), *nearest)


def better(first: Asked, second: Asked) -> Asked:
    """What the product keeps of two searches: the one whose best passage is more relevant."""
    return second if second.relevance > first.relevance else first


def row(
    label: str,
    texts: Sequence[str],
    asked: Sequence[Asked],
    originals: Sequence[Asked],
    gold: Sequence[str],
    passages: Mapping[str, str],
) -> str:
    """A line of the table. ``originals``: the same questions in English, in the same order."""
    nearest = [passages.get(one.nearest or "", "") for one in asked]
    asks = [
        not one.ranking and not in_one_language(text, passage)
        for text, one, passage in zip(texts, asked, nearest, strict=True)
    ]
    plainly = [in_another_language(text, passage) for text, passage in zip(texts, nearest, strict=True)]
    paired = list(zip(asked, originals, strict=True))
    mended = [better(one, original) if ask else one for (one, original), ask in zip(paired, asks, strict=True)]
    more = [
        better(one, original) if ask or plain else one
        for (one, original), ask, plain in zip(paired, asks, plainly, strict=True)
    ]

    def recalls(chosen: Sequence[Asked]) -> str:
        pairs = list(zip(chosen, gold, strict=True))
        return " / ".join(f"{mean(float(one.finds(right, cutoff)) for one, right in pairs):.3f}" for cutoff in (1, 5))

    in_vain = mean(float(not one.ranking) for one in asked)
    return (
        f"| {label} | {in_vain:.3f} | {recalls(asked)} | {mean(map(float, asks)):.3f} | {recalls(mended)} "
        f"| {recalls(more)} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Judges questions in other languages than the documents'.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--split", default="dev")
    chosen = parser.parse_args()
    (data,) = [one for one in question_sets(chosen.data, chosen.split) if one.name == _ORIGINAL]
    gold = {question.id: next(iter(question.gold)) for question in data.questions}
    passages = {passage.id: passage.text for passage in data.passages}
    print(
        "| language | finds nothing | as it is | asks the LLM | translated if nothing is found "
        "| and if plainly in another language |\n|---|---|---|---|---|---|"
    )
    with laboratory() as opened:
        ask = opened.asked(data)
        english = {
            question.id: judged(found)
            for question, found in zip(data.questions, ask([one.text for one in data.questions]), strict=True)
        }
        for name, code in LANGUAGES.items():
            rows = read_lines(chosen.data / f"xquad_{code}.{chosen.split}.questions.jsonl")
            texts = [str(one["question"]) for one in rows]
            ids = [str(one["id"]) for one in rows]
            asked = [judged(found) for found in ask(texts)]
            originals = [english[one] for one in ids]
            print(row(name, texts, asked, originals, [gold[one] for one in ids], passages), flush=True)


if __name__ == "__main__":
    main()
