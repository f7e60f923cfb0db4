"""Links in sources: whoever reads an answer can open what it rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from botforge.domain.answer import Link, Source
from botforge.domain.errors import ObjectStoreUnavailable
from botforge.domain.ids import ObjectKey
from botforge.domain.query import Query
from botforge.ports.links import Links


@dataclass(frozen=True, slots=True)
class SourceLinks:
    links: Links

    def linked(self, query: Query, sources: Sequence[Source]) -> tuple[tuple[Source, ...], Mapping[str, str]]:
        """The sources, each with a link; as they are, and why, if none can be signed. One link a document."""
        made: dict[str, Link] = {}
        linked: list[Source] = []
        try:
            for source in sources:
                path = source.passage.candidate.path
                if path not in made:
                    made[path] = self.links.link(ObjectKey(query.user_id, query.bot_id, path))
                linked.append(replace(source, link=made[path]))
        except ObjectStoreUnavailable as error:
            return tuple(sources), {"links": error.code}
        return tuple(linked), {}
