"""Ids and keys: whatever is written can be read back, and nothing else is read."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botforge.domain.ids import BotId, ChunkRef, DocumentId, ObjectKey, UserId

uuids = st.uuids()
numbers = st.integers(min_value=0, max_value=2**63 - 1)
# A path as any S3 key may spell it; one that ends with a slash is a folder's placeholder.
paths = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda path: not path.endswith("/"))
ONE, TWO = UUID(int=0xABC), UUID(int=2)


@given(document=uuids, generation=numbers, ordinal=numbers)
def test_a_chunk_s_id_is_read_back_as_it_was_written(document: UUID, generation: int, ordinal: int) -> None:
    ref = ChunkRef(DocumentId(document), generation, ordinal)

    assert ChunkRef.parse(str(ref)) == ref


@given(text=st.text(max_size=80))
def test_a_text_is_no_chunk_s_id_unless_it_is_written_just_so(text: str) -> None:
    try:
        ref = ChunkRef.parse(text)
    except ValueError:
        return
    assert str(ref) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"{ONE}",
        f"{ONE}:1",
        f"{ONE}:1:2:3",
        f"{ONE}:x:1",
        f"{str(ONE).upper()}:1:2",
        f"{{{ONE}}}:1:2",
        f"{ONE.hex}:1:2",
        f"{ONE}: 1:2",
        f"{ONE}:+1:2",
        f"{ONE}:01:2",
        f"{ONE}:1_0:2",
        f"{ONE}:١:2",
        f"{ONE}:-1:2",
        f"{ONE}:1:-2",
    ],
)
def test_what_only_resembles_a_chunk_s_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        ChunkRef.parse(text)


@given(user=uuids, bot=uuids, path=paths)
def test_an_object_key_is_read_back_as_it_was_written(user: UUID, bot: UUID, path: str) -> None:
    key = ObjectKey(UserId(user), BotId(bot), path)

    assert ObjectKey.parse(str(key)) == key


@given(text=st.text(max_size=120) | st.tuples(uuids, uuids, st.text()).map(lambda parts: "/".join(map(str, parts))))
def test_a_text_is_no_object_key_unless_it_is_written_just_so(text: str) -> None:
    try:
        key = ObjectKey.parse(text)
    except ValueError:
        return
    assert str(key) == text
    assert key.path


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "a.txt",
        f"{ONE}/a.txt",
        f"{ONE}/{TWO}",
        f"{ONE}/{TWO}/",
        f"{ONE}/{TWO}/folder/",
        f"/{ONE}/{TWO}/a.txt",
        f"{ONE}//{TWO}/a.txt",
        f"{str(ONE).upper()}/{TWO}/a.txt",
        f"{ONE.hex}/{TWO}/a.txt",
        f"{{{ONE}}}/{TWO}/a.txt",
        f"urn:uuid:{ONE}/{TWO}/a.txt",
        f" {ONE}/{TWO}/a.txt",
    ],
)
def test_what_only_resembles_an_object_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        ObjectKey.parse(text)


@given(user=uuids, bot=uuids, other=uuids, path=paths)
def test_no_path_leads_into_another_namespace(user: UUID, bot: UUID, other: UUID, path: str) -> None:
    key = ObjectKey.parse(f"{user}/{bot}/../{other}/{path}")

    assert (key.user_id, key.bot_id) == (user, bot)


@given(path=paths)
def test_a_file_name_is_what_follows_the_last_slash(path: str) -> None:
    name = ObjectKey(UserId(ONE), BotId(TWO), path).filename

    assert path.endswith(name)
    assert "/" not in name
    assert name
