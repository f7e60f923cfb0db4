"""From samples to weights, and how well they hold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from botforge.domain.chunk import Candidate
from botforge.domain.fusion import best_sentence, cosine_of, fuse
from botforge.domain.ids import ChunkRef, DocumentId
from botforge.domain.relevance import HYBRID, Weights, relevance
from botforge_dev.calibration.logistic import calibration_error, fit
from botforge_dev.calibration.samples import Sample
from botforge_dev.evaluation.metrics import first_occurrences, mean, ndcg_at, recall_at

_REF = ChunkRef(DocumentId(UUID(int=0)), 1, 0)  # rankings here are told apart by document alone
# These sets are about one subject and answer some of each other's questions: no label says which.
RELATED = frozenset({"covid_faq", "covidqa_longdoc"})
ALONE = frozenset({"one", "other"})
_K = 60  # Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet…" (SIGIR 2009)

Order = Callable[[Sequence[Candidate]], Sequence[Candidate]]


def candidates_of(sample: Sample, *, dense: bool = True) -> list[Candidate]:
    """What the product would rank; ``dense=False``: as if the vector index had been away."""
    return [
        Candidate(
            _REF, one.document, "", None, (), None,
            cosine=one.cosine if dense else None,
            lexical_rank=one.lexical_rank,
            lexical_coverage=one.coverage,
            sentence_cosines=() if one.sentence is None or not dense else (one.sentence,),
        )
        for one in sample.found
        if dense or one.lexical_rank is not None
    ]  # fmt: skip


def floor_of(candidates: Sequence[Candidate]) -> float | None:
    """As ``fusion.cosine_floor``: every hit of dense search is among the candidates here."""
    return min((one.cosine for one in candidates if one.cosine is not None), default=None)


@dataclass(frozen=True, slots=True)
class Best:
    """The passage that the product would put first for a sample."""

    sample: Sample
    cosine: float
    sentence: float
    coverage: float
    right: bool  # it comes from the gold document

    def relevance(self, weights: Weights) -> float:
        stand_in = Candidate(_REF, "", "", None, (), None, self.cosine, None, self.coverage, (self.sentence,))
        return relevance(stand_in, floor=0.0, weights=weights)


def best_of(sample: Sample, *, dense: bool = True) -> Best:
    candidates = candidates_of(sample, dense=dense)
    if not candidates:
        return Best(sample, 0.0, 0.0, 0.0, right=False)
    floor = floor_of(candidates)
    best = fuse(candidates, floor=floor)[0]
    return Best(
        sample, cosine_of(best, floor), best_sentence(best, floor), best.lexical_coverage, best.path == sample.gold
    )


def foreign(sample: Sample) -> bool:
    return (
        sample.gold is None and sample.asked_of not in ALONE and not {sample.question_set, sample.asked_of} <= RELATED
    )


def trained(bests: Sequence[Best], *, dense: bool = True) -> Weights:
    """Weights in which every set, and within it answerable and foreign questions, count alike."""
    used = [best for best in bests if best.sample.asked_of not in ALONE and (best.sample.gold or foreign(best.sample))]
    groups: dict[tuple[str, bool], int] = {}
    for best in used:
        group = (best.sample.question_set, best.sample.gold is not None)
        groups[group] = groups.get(group, 0) + 1
    shares = [len(used) / groups[best.sample.question_set, best.sample.gold is not None] for best in used]
    features = [(best.cosine, best.sentence, best.coverage) if dense else (best.coverage,) for best in used]
    bias, *slopes = fit(features, [best.right for best in used], shares)
    return Weights(bias, *slopes) if dense else Weights(bias, 0.0, 0.0, *slopes)


def ranking_table(samples: Sequence[Sample], names: Sequence[str]) -> list[str]:
    orders: Mapping[str, Order] = {
        "dense alone": _dense,
        "lexical alone": _lexical,
        "reciprocal ranks": _reciprocal,
        **{f"cosine + {weight} coverage": _passages(weight) for weight in (0.15, 0.25, 0.4)},
        **{f"cosine + sentence + {weight} coverage": _weighted(weight) for weight in (0.3, 0.4, 0.5, 0.6, 0.8)},
    }
    lines = ["| ranking | " + " | ".join(names) + " | mean nDCG@10 |", "|---" * (len(names) + 2) + "|"]
    for label, order in orders.items():
        cells: list[str] = []
        gains: list[float] = []
        for name in names:
            own = [sample for sample in samples if sample.question_set == name == sample.asked_of]
            ranked = [first_occurrences(one.path for one in order(candidates_of(sample))) for sample in own]
            gold = [{str(sample.gold)} for sample in own]
            figures = [
                mean(measure(ranking, right, cutoff) for ranking, right in zip(ranked, gold, strict=True))
                for measure, cutoff in ((recall_at, 1), (recall_at, 5), (ndcg_at, 10))
            ]
            gains.append(figures[2])
            cells.append(" / ".join(f"{figure:.3f}" for figure in figures))
        lines.append(f"| {label} | " + " | ".join(cells) + f" | {mean(gains):.3f} |")
    return lines


def relevance_table(samples: Sequence[Sample], names: Sequence[str], threshold: float) -> list[str]:
    """For each set with weights made without it, and for the shipped weights over all."""
    bests = [best_of(sample) for sample in samples]
    lines = [
        "| set | answered | abstained on others | calibration error | answered, alone | abstained, other alone |",
        "|---|---|---|---|---|---|",
    ]
    for name in names:
        others = [best for best in bests if name not in {best.sample.question_set, best.sample.asked_of}]
        held_out = [best for best in bests if best.sample.question_set == name]
        lines.append(_row(f"{name}, held out", held_out, trained(others), threshold))
    return [*lines, _row("all, weights as shipped", bests, HYBRID, threshold)]


def _row(label: str, bests: Sequence[Best], weights: Weights, threshold: float) -> str:
    def share(chosen: Callable[[Sample], bool], *, passing: bool) -> str:
        passes = [best.relevance(weights) >= threshold for best in bests if chosen(best.sample)]
        return f"{mean(float(one is passing) for one in passes):.3f}"

    judged = [best for best in bests if best.sample.question_set == best.sample.asked_of or foreign(best.sample)]
    error = calibration_error([best.relevance(weights) for best in judged], [best.right for best in judged])
    return (
        f"| {label} | {share(lambda one: one.question_set == one.asked_of, passing=True)} "
        f"| {share(foreign, passing=False)} | {error:.3f} "
        f"| {share(lambda one: one.asked_of == 'one', passing=True)} "
        f"| {share(lambda one: one.asked_of == 'other', passing=False)} |"
    )


def reliability(samples: Sequence[Sample]) -> list[str]:
    """Relevance as shipped against how often the passage is right, in ten bins."""
    bests = [best_of(sample) for sample in samples]
    judged = [best for best in bests if best.sample.question_set == best.sample.asked_of or foreign(best.sample)]
    lines = ["| relevance | passages | mean relevance | right |", "|---|---|---|---|"]
    for bin_ in range(10):
        inside = [best for best in judged if min(int(best.relevance(HYBRID) * 10), 9) == bin_]
        if inside:
            told = mean(best.relevance(HYBRID) for best in inside)
            right = mean(float(best.right) for best in inside)
            lines.append(f"| {bin_ / 10:.1f}–{(bin_ + 1) / 10:.1f} | {len(inside)} | {told:.2f} | {right:.2f} |")
    return lines


def _dense(candidates: Sequence[Candidate]) -> list[Candidate]:
    found = [(one.cosine, one) for one in candidates if one.cosine is not None]
    return [one for _, one in sorted(found, key=lambda pair: -pair[0])]


def _lexical(candidates: Sequence[Candidate]) -> list[Candidate]:
    found = [(one.lexical_rank, one) for one in candidates if one.lexical_rank is not None]
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _reciprocal(candidates: Sequence[Candidate]) -> list[Candidate]:
    scores = {id(one): 0.0 for one in candidates}
    for ranking in (_dense(candidates), _lexical(candidates)):
        for rank, one in enumerate(ranking, start=1):
            scores[id(one)] += 1 / (_K + rank)
    return sorted(candidates, key=lambda one: -scores[id(one)])


def _passages(weight: float) -> Order:
    """Without the sentences: each passage's own cosine stands in for its best sentence's."""

    def order(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        whole = [replace(one, sentence_cosines=()) for one in candidates]
        return fuse(whole, floor=floor_of(candidates), coverage_weight=2 * weight)

    return order


def _weighted(weight: float) -> Order:
    return lambda candidates: fuse(candidates, floor=floor_of(candidates), coverage_weight=weight)
