"""The kit: its contents, the commands in its README, and its caching."""

import io
import json
import re
import shlex
import zipfile
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from markdown_it import MarkdownIt

from anoncup.cli.check_kit import compute_file_digest
from anoncup.competition.parser import parse_competition
from anoncup.plugins import TRACKS
from anoncup.runner import originals
from anoncup.tables.csv_text import write_csv
from app.core import wheels
from app.core.locale.language import LANGUAGES
from app.originals import kits
from tests.support.arena import API, Arena, build_competition_toml
from tests.support.kit_commands import list_kit_commands
from tests.support.shell_commands import run_program
from tests.support.shop_contest import shop
from tests.support.two_rounds import create_two_rounds

pytestmark = pytest.mark.full

__all__ = ["shop"]


def get_kit(arena: Arena, headers: dict[str, str] | None = None) -> Response:
    response: Response = arena.client.get(f"{API}/competitions/{arena.slug}/kit.zip", headers=headers or {})
    return response


def unpack_kit(response: Response) -> dict[str, bytes]:
    assert response.status_code == 200, response.text
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def write_files(files: dict[str, bytes], folder: Path) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def find_commands(readme: str, verb: str) -> list[str]:
    """Return the commands in the README without ``uvx``, one per language."""
    return [command for _, command in list_kit_commands(readme) if command.startswith(f"{verb} ")]


def assert_example_accepted(files: dict[str, bytes], folder: Path) -> None:
    """Run ``check`` and ``score`` as written in the README, but of the example; both must accept it."""
    write_files(files, folder)
    readme = files["README.md"].decode()
    for verb in ("check", "score"):
        english, japanese = find_commands(readme, verb)
        assert english == japanese
        result = run_program(*shlex.split(english.replace(" mine/", " example/")), "--json", cwd=folder)
        assert result.returncode == 0, result.stderr
        assert json.loads(result.stdout)["verdict"] == "accepted"
    result = run_program("check-kit", cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"the kit is complete: {len(files) - 1} files\nthis machine computes ")


def test_microdata_kit_has_an_example_that_its_commands_accept(arena: Arena, tmp_path: Path) -> None:
    files = unpack_kit(get_kit(arena))
    assert list(files) == [
        *("README.md", "competition.toml", "notebook.ipynb", "example/anonymized.csv"),
        *("example/secret.csv", "example/score.json", "original/original.csv", "SHA256SUMS"),
    ]
    assert files["original/original.csv"] == write_csv(arena.table)
    assert files["competition.toml"] == arena.get("/competitions/small/competition.toml").content
    assert b"[scales]" in files["competition.toml"]
    readme = files["README.md"].decode()
    assert "    sex,age,income,rent\n" in readme
    assert readme.count("    original_row\n    17\n") == len(LANGUAGES)
    assert readme.splitlines()[2] == "日本語の説明は、英語の説明の後にあります。"
    assert ("# Small cup\n" in readme, "# 小さな杯\n" in readme) == (True, True)
    assert_example_accepted(files, tmp_path)


def test_readme_shows_titles_and_column_names_as_text() -> None:
    title, names = "<b>A</b> [cup](https://x.org) *1*", ["a\r# b", "<img src=x>\n</pre>", "`c` | *d*", "&lt;"]
    rules = replace(parse_competition(build_competition_toml()), title={"en": title})
    header = kits._read_header('"' + '","'.join(names) + '"\r\n1,2,3,4\r\n')
    headers = {"anonymized": header, "secret": "original_row"}
    readme = kits.build_readme(rules, TRACKS[rules.track], headers, ["original"], "http://localhost")
    html = MarkdownIt("commonmark").render(readme)
    texts = re.findall("<(?:h1|pre><code)>(.*?)</", html, re.DOTALL)
    assert (html.count("<h1>"), unescape(texts[0])) == (len(LANGUAGES), title)
    header_text = unescape(next(text for text in texts if "src=x" in text))
    assert header_text.replace("\n", "") == header.replace("\r", "").replace("\n", "")
    assert not {"<b>", '<a href="https://x.org', "<img"} & set(re.findall(r"<[^>]*", html))


@pytest.mark.parametrize("more", ['rule = "average"', 'rule = "strict"'])
def test_example_only_reorders_rows_if_any_change_is_excessive(
    client: TestClient, tmp_path: Path, more: str
) -> None:
    arena = Arena.create(client, threshold=0.0, extra_toml=more)
    files = unpack_kit(get_kit(arena))
    original, example = (
        files[name].splitlines() for name in ("original/original.csv", "example/anonymized.csv")
    )
    assert sorted(original[1:]) == sorted(example[1:])
    assert original != example
    assert_example_accepted(files, tmp_path)


def test_kit_has_stable_bytes(arena: Arena) -> None:
    first = get_kit(arena)
    assert get_kit(arena).content == first.content
    assert int(first.headers["content-length"]) == len(first.content)
    assert first.headers["content-disposition"] == 'attachment; filename="small-kit.zip"'
    kits._load_example.cache_clear()
    assert get_kit(arena).content == first.content


def test_kit_names_the_service_and_the_wheel_there(arena: Arena) -> None:
    for host in ("localhost", "localhost:9"):
        readme = unpack_kit(get_kit(arena, {"Host": host}))["README.md"].decode()
        assert readme.count(f"http://{host}/competitions/small\n") == len(LANGUAGES)
        assert find_commands(readme, "login") == [f"login --url http://{host}"] * len(LANGUAGES)
        requirement = wheels.pack_library().build_requirement(f"http://{host}", extra="[score]")
        for command in (
            f'pip install "{requirement}"',
            f'uvx --from jupyterlab --with "{requirement}" jupyter-lab',
        ):
            assert readme.count(f"    {command}") == len(LANGUAGES)


@pytest.mark.parametrize(
    ("file", "change", "expected_code"),
    [
        ("original/original.csv", lambda content: content + b"\n", "damaged_kit"),
        ("example/secret.csv", None, "damaged_kit"),
        ("SHA256SUMS", lambda content: content.replace(b"original/", b"../../"), "wrong_manifest"),
        ("SHA256SUMS", None, "no_manifest"),
    ],
)
def test_damaged_kit_is_detected(
    arena: Arena, tmp_path: Path, file: str, change: Callable[[bytes], bytes] | None, expected_code: str
) -> None:
    folder = write_files(unpack_kit(get_kit(arena)), tmp_path)
    if change is None:
        (folder / file).unlink()
    else:
        (folder / file).write_bytes(change((folder / file).read_bytes()))
    result = run_program("check-kit", str(folder), "--json", cwd=tmp_path)
    assert (result.returncode, json.loads(result.stdout)["code"]) == (2, expected_code)


def test_other_scores_than_those_of_the_service_are_detected(arena: Arena, tmp_path: Path) -> None:
    folder = write_files(unpack_kit(get_kit(arena)), tmp_path)
    score = json.loads((folder / "example/score.json").read_text("utf-8"))
    score["measures"]["mean_mae"]["value"] *= 1 + 1e-9
    score["attackers"]["euc1"]["correct"] += 1
    score["attackers"]["of_another_version"] = {"rate": 0.5}
    changed = json.dumps(score).encode()
    digests = (folder / "SHA256SUMS").read_text("utf-8")
    old_digest = compute_file_digest(folder / "example/score.json")
    (folder / "example/score.json").write_bytes(changed)
    (folder / "SHA256SUMS").write_text(digests.replace(old_digest, sha256(changed).hexdigest()), "utf-8")
    result = run_program("check-kit", "--json", cwd=folder)
    problem = json.loads(result.stdout)
    assert (result.returncode, problem["code"], problem["values"]["count"]) == (2, "different_scores", 3)
    differences = [text.partition(":")[0] for text in problem["values"]["differences"]]
    assert differences == [
        "measures.mean_mae.value",
        "attackers.euc1.correct",
        "attackers.of_another_version.rate",
    ]


def test_large_original_has_a_kit_without_scores(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(originals, "_MAX_SCORED_ROWS", 39)
    files = unpack_kit(get_kit(arena))
    assert "example/score.json" not in files
    result = run_program("check-kit", cwd=write_files(files, tmp_path))
    assert (result.returncode, "too large for a kit with scores" in result.stdout) == (0, True)


def test_kit_of_a_round_names_the_round(client: TestClient) -> None:
    arena = create_two_rounds(client)["final"].arena
    response = get_kit(arena)
    assert response.headers["content-disposition"] == 'attachment; filename="small.final-kit.zip"'
    readme = unpack_kit(response)["README.md"].decode()
    assert "# Small cup – Final\n" in readme
    assert find_commands(readme, "submit")[0].startswith("submit small.final --wait ")


def test_kit_requires_original_data(shop: Arena) -> None:
    response = shop.get("/competitions/cup-2016/kit.zip")
    assert (response.status_code, response.json()["code"]) == (404, "no_original")
