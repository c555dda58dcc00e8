"""The first rows of an original file, read from its first bytes, which may end anywhere."""

import pytest

from app.config import Settings
from app.core.storage import get_store
from app.originals import samples

pytestmark = pytest.mark.full

EXPECTED = samples.FileSample(("名前", "x"), (("東京", "1"), ("大阪", "2"), ("京都", "3")))
LINE = "東京,1\n"


def read_sample(content: bytes) -> samples.FileSample:
    return samples.read_sample(get_store().save(content))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932"])
def test_samples_are_read_in_every_accepted_encoding(settings: Settings, encoding: str) -> None:
    assert read_sample("名前,x\n東京,1\n大阪,2\n京都,3\n神戸,4\n".encode(encoding)) == EXPECTED


def test_column_name_with_a_line_break_is_shown_as_the_parser_reads_it(settings: Settings) -> None:
    sample = read_sample('"年齢\n（歳）",x\r\n"a\nb",1\r\n'.encode())
    assert sample == samples.FileSample(("年齢 （歳）", "x"), (("a\nb", "1"),))


@pytest.mark.parametrize("shift", range(3))
def test_character_cut_at_the_end_of_the_sample_is_dropped(settings: Settings, shift: int) -> None:
    content = ("a" * shift + "名前,x\n" + LINE * samples.HEAD_BYTES).encode()
    result = read_sample(content)
    assert result.header == ("a" * shift + "名前", "x")
    assert result.rows == (("東京", "1"),) * samples.SAMPLE_ROWS


def test_line_cut_at_the_end_of_the_sample_is_dropped(settings: Settings) -> None:
    long_cell = "y" * samples.HEAD_BYTES
    assert read_sample(f"a,b\n1,2\n3,{long_cell}\n5,6\n".encode()) == samples.FileSample(
        ("a", "b"), (("1", "2"),)
    )
    assert read_sample(b"a,b\n1,2") == samples.FileSample(("a", "b"), (("1", "2"),))
