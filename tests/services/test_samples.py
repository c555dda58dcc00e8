"""The first rows of the originals' files: read of a head that may end anywhere."""

import pytest

from app.config import Settings
from app.services.originals import samples
from app.storage import store

pytestmark = pytest.mark.full

FIRST = samples.Sample(("名前", "x"), (("東京", "1"), ("大阪", "2"), ("京都", "3")))
LINE = "東京,1\n"


def sample(content: bytes) -> samples.Sample:
    return samples.of_file(store().put(content))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932"])
def test_header_and_first_rows_are_read_in_the_encodings_of_uploads(
    settings: Settings, encoding: str
) -> None:
    assert sample("名前,x\n東京,1\n大阪,2\n京都,3\n神戸,4\n".encode(encoding)) == FIRST


@pytest.mark.parametrize("shift", range(3))
def test_a_head_that_ends_within_a_character_is_read_up_to_it(settings: Settings, shift: int) -> None:
    content = ("a" * shift + "名前,x\n" + LINE * samples.HEAD).encode()
    found = sample(content)
    assert found.header == ("a" * shift + "名前", "x")
    assert found.rows == (("東京", "1"),) * samples.ROWS


def test_a_cut_line_is_not_taken_for_a_row(settings: Settings) -> None:
    long = "y" * samples.HEAD
    assert sample(f"a,b\n1,2\n3,{long}\n5,6\n".encode()) == samples.Sample(("a", "b"), (("1", "2"),))
    assert sample(b"a,b\n1,2") == samples.Sample(("a", "b"), (("1", "2"),))
