"""What the page's own scripts say, while files are checked and sent."""

from app.language import Words


def script_words(t: Words) -> dict[str, str | dict[str, str]]:
    """By name the text; where it counts, a text for each of the language's plural categories (CLDR)."""
    return {
        "check_cells": t.forms(
            "Row {row} has {found} cell; {expected} are needed.",
            "Row {row} has {found} cells; {expected} are needed.",
        ),
        "check_columns": t.forms(
            "The header line has {found} column; {expected} are needed.",
            "The header line has {found} columns; {expected} are needed.",
        ),
        "check_cp932": t("Not UTF-8: it has to be Shift_JIS (CP932)."),
        "check_customer_again": t("Row {row} names a customer of a row above."),
        "check_deleted": t("Row {row} is deleted; all cells after DEL must be empty."),
        "check_duplicate": t("Row {row} repeats the row number {found}."),
        "check_empty": t("The file is empty."),
        "check_few": t.forms(
            "{found} row; fewer than {expected} will be rejected.",
            "{found} rows; fewer than {expected} will be rejected.",
        ),
        "check_excel": t(
            "This is a spreadsheet (Excel), not CSV: save it as “CSV UTF-8” and choose that file."
        ),
        "check_extra": t("Not among the columns: {names}."),
        "check_good": t.forms("{rows} row, {columns} columns", "{rows} rows, {columns} columns"),
        "check_good_guess": t.forms(
            "{rows} row, {answered} of them answered", "{rows} rows, {answered} of them answered"
        ),
        "check_good_lines": t.forms(
            "{rows} line below the header line", "{rows} lines below the header line"
        ),
        "check_guess_header": t("The first line must be original_row."),
        "check_half": t("{found} rows are deleted; at most {expected} may be."),
        "check_index": t(
            "The first column holds row labels: write the file with index=False (in pandas, to_csv(…, index=False))."
        ),
        "check_kept": t.forms(
            "The secret keeps {found} row, but the release has {expected}.",
            "The secret keeps {found} rows, but the release has {expected}.",
        ),
        "check_large": t("{found} MB; at most {expected} MB are taken."),
        "check_length": t.forms(
            "{found} line below the header line; {expected} are needed.",
            "{found} lines below the header line; {expected} are needed.",
        ),
        "check_missing": t("Missing columns: {names}."),
        "check_months_header": t(
            "The first line must be customer and the months, such as 2011-01, in order."
        ),
        "check_name": t("Column {row} is “{found}”; it must be “{expected}”."),
        "check_nul": t("The file holds a NUL character."),
        "check_number": t("Row {row} is not a row number."),
        "check_pseudonym": t("Row {row}: a pseudonym has only A–Z, a–z, 0–9, _ and -."),
        "check_quote": t("A quotation mark is opened and never closed."),
        "check_range": t("Row {row} is outside {found} to {expected}."),
        "check_reading": t("Checking…"),
        "check_rows": t.forms(
            "{found} row; {fewest} to {expected} are possible.",
            "{found} rows; {fewest} to {expected} are possible.",
        ),
        "check_secret_header": t("The first line must be original_row or anonymized_row."),
        "check_share": t("Row {row} is not a number from 0 to 1."),
        "check_swapped": t("This looks like the other file of the release: were the two exchanged?"),
        "check_two_months": t("Row {row}: the pseudonym stands above in another month."),
        "check_zero": t("Rows seem to be counted from 0; they count from 1, so add 1 to each number."),
        "check_utf8": t("The file is not UTF-8 text."),
        "send_again": t("The connection broke. Send again: nothing is taken in twice."),
        "send_checking": t("Sent; the server is reading it…"),
        "send_fix": t("Correct the marked files first."),
        "send_follow": t("Follow the scoring in the list below"),
        "send_stopped": t("Sending was stopped."),
        "send_twice": t(
            "Your team sent this very release before ({when}). With the same secret it is scored the same, and it uses up an attempt."
        ),
        "sending": t("Sending {sent} of {all} MB"),
    }
