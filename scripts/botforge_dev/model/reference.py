"""A few texts with the vectors that the original model gives them: so parity is tested without the original."""

import base64
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from botforge_dev.build.layout import ROOT

REFERENCE_FILE = ROOT / "tests" / "contracts" / "reference_vectors.json"

REFERENCE_TEXTS = (
    "",
    "What is the capital of France?",
    "The warranty does not cover damage that was caused by water.",
    "naïve café, Straße, İstanbul, ﬁne",
    "Как вернуть товар в течение 14 дней?",
    "كيف يمكنني استرداد المبلغ؟",
    "退款需要多长时间？",
    "धनवापसी में कितना समय लगता है?",
    "😀👩‍👩‍👧‍👦🏳️‍🌈",
    "[CLS] not a special token [SEP]",
    "\x00\u200b\ufeff \t\n",
    "def embed(texts: Sequence[str]) -> list[Embedding]: ...",
    "https://example.com/a?b=c&d=%20#e user@example.com 1,234.56 € −40 °C",
    "x" * 300,
    "A sentence of nine words that fills a chunk. " * 20,
    "A text that is far longer than what the model reads of it. " * 100,
)


@dataclass(frozen=True, slots=True)
class Reference:
    text: str
    truncated: bool
    vector: tuple[float, ...]  # 384 values, unit length


def write_reference(references: Sequence[Reference], producer: str) -> None:
    """``producer`` says what made the vectors, with its version."""
    content = {
        "model": "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)",
        "producer": producer,
        "encoding": "base64 of 384 little-endian float32",
        "references": [
            {
                "text": reference.text,
                "truncated": reference.truncated,
                "vector": base64.b64encode(struct.pack(f"<{len(reference.vector)}f", *reference.vector)).decode(),
            }
            for reference in references
        ],
    }
    REFERENCE_FILE.write_text(json.dumps(content, indent=1, ensure_ascii=True) + "\n", encoding="utf-8")


def read_reference(path: Path = REFERENCE_FILE) -> list[Reference]:
    content = json.loads(path.read_text(encoding="utf-8"))
    return [
        Reference(entry["text"], entry["truncated"], _unpacked(base64.b64decode(entry["vector"])))
        for entry in content["references"]
    ]


def _unpacked(value: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(value) // 4}f", value)
