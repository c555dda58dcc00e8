"""What the page says of a file before it is sent, against what the server would say: an attempt is at stake."""

import base64
import json
from typing import Any

from playwright.sync_api import Browser

from app.contest import read_file
from app.errors import LISTED, Problem
from tests.contest import two_phase_file
from tests.web.browser.files_to_break import Broken, broken

SEEDS = 60
CHECKED = """async (files) => {
  const { checkedAs } = await import("/static/check.js");
  const checked = [];
  for (const { kind, content, expected } of files) {
    const bytes = Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0));
    for (const columns of Object.values(expected.ids ?? {}))
      for (const [name, ids] of Object.entries(columns)) columns[name] = new Set(ids);
    const [{ found, more = 0 }] = await checkedAs(kind, new File([bytes], "f.csv"), expected);
    checked.push({ found, more });
  }
  return checked;
}"""
WHOLE = {"encoding", "no_header", "header", "secret_header", "control_character"}
"""Codes of what is wrong with a file as a whole, for which the page has words of its own."""
NUMBERS = {"too_many_rows", "too_few_rows", "no_rows", "wrong_length", "missing_row"}
NUMBERS_HERE = {"check_rows", "check_length", "check_kept", "check_zero"}
CODES = {
    "cell_not_a_birthday": "not_a_date", "cell_empty_cell": "missing_value", "check_number": "not_a_row_number",
    "check_range": "out_of_range", "check_duplicate": "duplicate_row", "check_guess_header": "guess_header",
    "check_index": "guess_header", "check_one_column": "guess_header", "cell_decimal_comma": "not_a_number",
}  # fmt: skip

Place = tuple[str, Any, Any, Any, Any]


def place_of(problem: Problem, *, lines: bool) -> Place:
    code = "number" if problem.code in NUMBERS else problem.code
    line = None if code == "guess_header" else problem.line
    return code, problem.row, None if lines else problem.column, line, problem.value


def place_here(word: str, values: dict[str, Any]) -> Place:
    code = "number" if word in NUMBERS_HERE else CODES.get(word, word.removeprefix("cell_"))
    return code, values.get("row"), values.get("column"), values.get("line"), values.get("value")


def check_alike(file: Broken, found: list[list[Any]], more: int) -> bool:
    """Whether something is wrong in rows, and the page has said the same of it."""
    problems, total = file.problems()
    here = [(word, values) for severity, word, values in found if severity == "bad"]
    if problems and not here:
        # Whether it is Shift_JIS takes a judgement that the page leaves to the server, and says so.
        assert [word for _, word, _ in found] == ["check_cp932"], file
        assert problems[0].code == "encoding", file
        return False
    assert bool(problems) == bool(here), (file, problems, found)
    codes = {problem.code for problem in problems}
    if not problems or (codes & WHOLE and problems[0].row is None) or here[0][0] == "check_zero":
        return False
    if problems[0].code == "encoding":
        return False
    lines = file.kind in {"rows", "permutation"}
    assert [place_here(*each) for each in here] == [place_of(each, lines=lines) for each in problems], file
    assert len(here) + more == total, file
    return True


def checked(browser: Browser, site: str, files: list[Broken]) -> list[dict[str, Any]]:
    page = browser.new_context(locale="en").new_page()
    page.goto(f"{site}/competitions")
    found = page.evaluate(
        CHECKED,
        [
            {
                "kind": file.kind,
                "content": base64.b64encode(file.content).decode(),
                "expected": json.loads(json.dumps(file.expected)),
            }
            for file in files
        ],
    )
    page.context.close()
    return list(found)


def test_the_page_says_of_a_file_what_the_server_would(browser: Browser, site: str) -> None:
    rules = read_file(two_phase_file("small"))
    files = [file for seed in range(SEEDS) for file in broken(seed, rules)]
    files += [many(file) for file in broken(SEEDS, rules) if file.kind in {"rows", "scores"}]
    alike = [
        check_alike(file, each["found"], each["more"])
        for file, each in zip(files, checked(browser, site, files), strict=True)
    ]
    assert sum(alike) > SEEDS  # most are refused for what stands in rows
    assert alike[-1]


def many(file: Broken) -> Broken:
    """More problems than are listed."""
    head = b"original_row\n" if file.kind == "rows" else b"score\n"
    return Broken(file.kind, head + b"x\n9\n" * (LISTED + 3), file.expected, file.read)
