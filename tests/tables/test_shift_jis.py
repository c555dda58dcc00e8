"""Japanese tables in CP932 are read, and tables in other encodings are never mistaken for CP932."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anoncup.errors import InvalidUpload
from anoncup.tables.csv_text import decode_upload
from anoncup.tables.shift_jis import NotShiftJis, decode_shift_jis
from tests.support.hypothesis_profiles import limit_examples

pytestmark = pytest.mark.full

thorough_examples = limit_examples(400)

WESTERN_TEXTS = (
    "état été élève ça là être garçon Noël cœur œuvre naïf l’âge où français",
    "Müller schön Straße größer Äpfel Österreich übel Mädchen",
    "niño mañana año José corazón él más qué María Núñez ¿Qué señor",
    "São ação informações você às coração João não avó",
    "città perché è più università lunedì",
    "år över små Malmö Åsa själv kött även",
    "øl få København blåbær ærlig søster",
    "hétérogène café crème façade Zoë Chloé",
    "það fjörður Íslandi þýðing æði óður",
    "km² m³ 25°C 1ª nº § £ ½ «École» 10–20 Children’s don’t ’t ’s don’t",
)
JAPANESE_TEXTS = (
    "女 性別 職業 都道府県 東京都 大阪府 北海道 神奈川県 農林漁業 無職 単身世帯 持ち家 借家 紅茶 地域 大卒",
    "会社員 自営業 パート・アルバイト 製造業 情報通信業 医療、福祉 ～ １０代 ２０代 ㈱山本 №１ ①非該当 不詳",
    "佐藤 髙橋 齋藤 草彅 鴎外 Tシャツ LEDライト A型 B級品 e-文書 表示 ソフト 能力 の 表 無",
    "年齢 年収 鈴木 収入 主婦",
)
UNCERTAIN_JAPANESE_TEXTS = ("男 渡邊 﨑田 有 値 ｱﾙﾊﾞｲﾄ ﾊﾟｰﾄ ｶﾀｶﾅ ﾃｽﾄ",)
"""Words whose bytes could be letters and punctuation of Western code pages."""


def sample_words(texts: tuple[str, ...]) -> st.SearchStrategy[str]:
    all_words = [word for text in texts for word in text.split()]
    return st.sampled_from(all_words)


def list_case_variants(word: str) -> list[str]:
    return [word, word.lower(), word.upper(), word.capitalize()]


@st.composite
def european_tables(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a table with words of one language and the code page that encodes it."""
    words = draw(st.lists(sample_words((draw(st.sampled_from(WESTERN_TEXTS)),)), min_size=1))
    code_page = draw(st.sampled_from(["latin-1", "cp1252", "iso8859-15"]))
    cells = [draw(st.sampled_from(list_case_variants(word))) for word in words]
    header = draw(st.sampled_from(["q,s\n", "année,s\n"]))
    text = header + "".join(f"{cell},{len(cell)}.5\n" for cell in cells)
    return text.encode(code_page, errors="ignore").decode(code_page), code_page


@thorough_examples
@given(european_tables())
@example(("q,s\nÑ,1\n", "latin-1"))
@example(("q,s\n’t,1\n’n,2\n", "cp1252"))
@example(("q,s\nÅÄÖ,1\n", "latin-1"))
@example(("q,s\nça,1\nétés,2\n", "latin-1"))
@example(("q,s\nAÇÕES,1\n", "latin-1"))
@example(("q,s\nit’s,1\nChildren’s,2\n", "cp1252"))
@example(("q,s\n25°C,4.5\n", "latin-1"))
@example(("q,s\nl’œuvre,1\n", "cp1252"))
@example(("q,s\nwait…”,1\n“go”,2\n", "cp1252"))
def test_european_tables_are_refused_or_unchanged(table: tuple[str, str]) -> None:
    text, code_page = table
    if text.isascii():
        assert decode_upload(text.encode(code_page), "a.csv") == (text.encode(), [])
        return
    with pytest.raises(InvalidUpload) as excinfo:
        decode_upload(text.encode(code_page), "a.csv")
    assert [problem.code for problem in excinfo.value.problems] == ["encoding"]


@thorough_examples
@given(
    st.lists(sample_words(JAPANESE_TEXTS), min_size=3, max_size=20, unique=True),
    st.lists(sample_words(UNCERTAIN_JAPANESE_TEXTS), max_size=3, unique=True),
)
def test_japanese_tables_are_read_with_a_remark(words: list[str], uncertain_words: list[str]) -> None:
    text = "q,s\n" + "".join(f"{word},{row}\n" for row, word in enumerate([*uncertain_words, *words]))
    content, remarks = decode_upload(text.encode("cp932"), "a.csv")
    assert content == text.encode()
    assert [remark.code for remark in remarks] == ["read_as_cp932"]


@pytest.mark.parametrize(
    "text",
    [
        *(f"q,s\n{cell},1\n" for cell in ["表", "東京", "Tシャツ", "の", "１０", "①", "女", "年齢"]),
        "性別,年齢,年収\n男,30,500\n男,40,400\n",
        "男,年齢\n1,20\n",
        *(
            "年,月,日\n2020,1,2",
            "年,月,額\n1,2,3\n",
            "店,品\n1,2\n",
            "月額,時間\n1,2\n",
            "車種,時間,月額\n1,2,3\n",
        ),
        "q,s\n男,1\n品,2\n男,3\n",
        "氏名,年齢\nﾔﾏﾀﾞ ﾀﾛｳ,30\nｽｽﾞｷ ﾊﾅｺ,40\nｻﾄｳ ｼﾞﾛｳ,50\n",
        "GDP,s\nATM利用,1\n手数料,2\np値,3\n",
    ],
)
def test_short_japanese_tables_are_recognized(text: str) -> None:
    assert decode_shift_jis(text.encode("cp932")) == text


@pytest.mark.parametrize("code", [b"\xfb\xfc", b"\xfa\xb1", b"\xfa\x40", b"\x87\x90"])
def test_second_codes_that_windows_writes_are_read(code: bytes) -> None:
    """Python writes these characters with other bytes than Excel does."""
    character = code.decode("cp932")
    assert character.encode("cp932") != code
    content = "住居,年齢\n低層,1\n".encode("cp932") + code + "層,2\n".encode("cp932")
    assert decode_shift_jis(content) == f"住居,年齢\n低層,1\n{character}層,2\n"


@pytest.mark.parametrize(
    "cell", [*"".join(UNCERTAIN_JAPANESE_TEXTS).split(), "男,値", "月,渡邊", "月,ﾃｽﾄ", "年,A群"]
)
def test_words_that_may_be_western_are_refused(cell: str) -> None:
    with pytest.raises(NotShiftJis):
        decode_shift_jis(f"q,s\n{cell},1\n".encode("cp932"))


@pytest.mark.parametrize(
    ("text", "code_page"),
    [
        ("Łódź już być", "cp1250"),
        ("příští ještě", "cp1250"),
        ("še šo ťi že Šo", "cp1250"),
        ("śr św ŚR", "cp1250"),
        ("’t ’n ’k", "cp1252"),
        ("KÜÇÜK DÜŞÜŞ", "cp1254"),
        ("МОСКВА СЕВЕР ВОЛГА", "cp1251"),
        ("москва север волга", "koi8-r"),
        ("ΑΘΗΝΑ ΠΑΤΡΑ", "cp1253"),
        ("です ます ひらがな カタカナ", "euc-jp"),
        ("ﾔﾏﾀﾞ ﾀﾛｳ ｱﾙﾊﾞｲﾄ", "euc-jp"),
        ("château crème même Sénégal", "mac-roman"),
        ("École Île", "mac-roman"),
        ("état âgé MÉXICO Süd", "cp850"),
        ("性别 男 女 北京 上海 广东", "gbk"),
        ("性別 烏克蘭 東非 中古英文 肯亞", "gbk"),
        ("性別 年齡 男 女 臺北 高雄", "big5"),
        ("성별 남자 여자 서울 부산", "euc-kr"),
    ],
)
def test_other_code_pages_are_refused(text: str, code_page: str) -> None:
    """No table of the first words is read, however short it is."""
    lines = [f"{word},1" for word in text.split()]
    for length in range(1, len(lines) + 1):
        with pytest.raises(NotShiftJis):
            decode_shift_jis("\n".join(["q,s", *lines[:length], ""]).encode(code_page))


@pytest.mark.parametrize("damage", [b"\xe3\x81", b"\xe9t"])
def test_damaged_utf8_is_not_read_as_shift_jis(damage: bytes) -> None:
    content = "あい,1\n".encode() * 20 + damage + b",2\n"
    assert content.decode("cp932").startswith("縺ゅ＞,1")
    with pytest.raises(NotShiftJis):
        decode_shift_jis(content)


@thorough_examples
@given(st.binary(), st.sampled_from([b"", "性別,年齢\n女,1\n東京都,2\n大阪府,3\n".encode("cp932")]))
def test_decoding_keeps_numbers_and_separators(content: bytes, prefix: bytes) -> None:
    try:
        text = decode_shift_jis(prefix + content)
    except NotShiftJis:
        return
    plain_bytes = b'0123456789,.+-"\r\n '
    assert bytes(byte for byte in prefix + content if byte in plain_bytes).decode() == "".join(
        character for character in text if character.isascii() and character.encode() in plain_bytes
    )
    assert len(text.encode("cp932")) == len(prefix + content)
