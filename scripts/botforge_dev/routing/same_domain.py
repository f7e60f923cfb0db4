"""``python -m botforge_dev.routing.same_domain FOLDER``: bots of one domain, laid out as ``evaluate routing`` reads it.

Each message of ``data/same_domain.toml`` goes to the bot of its domain, which has all of the domain's tools.
"""

import json
import sys
from pathlib import Path
from typing import Any

from botforge_dev.routing.corpus import ACT, ASK, SAME_DOMAIN, authored

SPLIT = "test"


def write(folder: Path) -> None:
    """``test.jsonl``, ``test.bot_tools.jsonl`` and ``tools.jsonl``. ``hard``: an action asked for with a question mark,
    or a question without one."""
    sentences, tools = authored(SAME_DOMAIN, "same_domain")
    messages: list[dict[str, Any]] = []
    bots: list[dict[str, Any]] = []
    for number, sentence in enumerate(sentences):
        name, bot = f"same-domain-{number:03}", list(sentence.bot or ())
        messages.append({
            "id": name, "text": sentence.text, "label": ACT if sentence.acts else ASK,
            "source": bot[0].split(":", 1)[1].split(".", 1)[0], "hard": sentence.acts == sentence.text.endswith("?"),
        })  # fmt: skip
        bots.append({"id": name, "bot_tools": bot})
    described = [{"key": tool.key, "name": tool.name, "description": tool.description} for tool in tools]
    folder.mkdir(parents=True, exist_ok=True)
    for file, rows in ((f"{SPLIT}.jsonl", messages), (f"{SPLIT}.bot_tools.jsonl", bots), ("tools.jsonl", described)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
