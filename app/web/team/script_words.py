"""What the page's own scripts say, while files are checked and sent."""

from functools import partial

from app.language import ENGLISH, Words
from app.messages import Message
from app.scoring.files import MAX_CELL
from app.web.site.sentences import sentence

MOST_QUANTITY = 10**12
"""As static/cells.js has it."""


def script_words(t: Words) -> dict[str, str | dict[str, str]]:
    """By name the text; where it counts, a text for each of the language's plural categories (CLDR)."""
    say = partial(sentence, t=t)
    return {
        "cell_blank_line": say(Message("row {row} is a blank line")),
        "cell_ragged_row": t.forms(
            "Row {row} has {found} cell instead of {expected}.",
            "Row {row} has {found} cells instead of {expected}.",
        ),
        "cell_text_after_quote": say(Message("row {row}: text follows the closing quotation mark of a cell")),
        "cell_unclosed_quote": say(Message("row {row}: a quotation mark is opened and never closed")),
        "check_changed": t("The file has changed since it was chosen, or cannot be read: choose it again."),
        "check_columns": t.forms(
            "The header line has {found} column instead of {expected}.",
            "The header line has {found} columns instead of {expected}.",
        ),
        "check_cp932": t(
            "Not UTF-8, but perhaps Shift_JIS (CP932), in which it says “{text}”. Unless that is right, save it as “CSV UTF-8”."
        ),
        "check_customer_again": t("Row {row} names a customer of a row above."),
        "check_deleted": t("Row {row} is deleted; all cells after DEL must be empty."),
        "check_duplicate": t("Row {row} repeats a row number used above."),
        "check_empty": t("The file is empty."),
        "check_encoding": t("The file is neither UTF-8 nor Shift_JIS (CP932): save it as “CSV UTF-8”."),
        "check_few": t.forms(
            "{found} row; fewer than {expected} will be rejected.",
            "{found} rows; fewer than {expected} will be rejected.",
        ),
        "check_excel": say(
            Message("this is a spreadsheet (Excel), not CSV: save it as “CSV UTF-8” and choose that file")
        ),
        "check_extra": t("Not among the columns: {names}."),
        "check_good": t.forms("{rows} row, {columns}", "{rows} rows, {columns}"),
        "check_good_columns": t.forms("{found} column", "{found} columns"),
        "check_good_guess": t.forms(
            "{rows} row, {answered} of them answered", "{rows} rows, {answered} of them answered"
        ),
        "check_good_lines": t.forms(
            "{rows} line below the header line", "{rows} lines below the header line"
        ),
        "check_guess_header": t("The first line must be original_row."),
        "check_guess_zero": t("Rows seem to be counted from 0; they count from 1, and 0 leaves a row open."),
        "check_half": t("{found} rows are deleted; at most {expected} may be."),
        "check_index": say(
            Message(
                "the first column holds row labels: write the file without them, in pandas by to_csv(…, index=False)"
            )
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
        "check_line": t("line {line} of the file, counting the header line"),
        "check_many_lines": say(Message("the file has many more lines than the tables have rows")),
        "check_missing": t("Missing columns: {names}."),
        "check_months_header": t(
            "The first line must be customer and the months, such as 2011-01, in order."
        ),
        "check_name": t("Column {row} is “{found}”; it must be “{expected}”."),
        "check_more": t("More problems, not listed: {more}."),
        "check_no_header": say(Message("the file has no header line")),
        "check_no_answer": t("Every row is left open: this finds nobody."),
        "check_nul": t("The file holds a NUL character."),
        "check_number": t("Row {row} is not a row number."),
        "check_one_column": say(Message("the file has {found} columns; it must have one")),
        "check_range": t("Row {row} is outside {found} to {expected}."),
        "check_reading": t("Checking…"),
        "check_rows": t.forms(
            "{found} row; {fewest} to {expected} are possible.",
            "{found} rows; {fewest} to {expected} are possible.",
        ),
        "check_secret_header": t("The first line must be original_row or anonymized_row."),
        "check_semicolons": say(Message("the cells are separated by semicolons; they must be by commas")),
        "check_swapped": t("This looks like the other file of the release: were the two exchanged?"),
        "check_tabs": say(Message("the cells are separated by tabs; they must be by commas")),
        "check_two_months": t("Row {row}: the pseudonym stands above in another month."),
        "check_zero": t("Rows seem to be counted from 0; they count from 1, so add 1 to each number."),
        "check_unnamed": say(Message("the first line names none of the columns: it must be {names}")),
        "check_utf16": say(
            Message("the file was saved as UTF-16 (in Excel “Unicode Text”): save it as “CSV UTF-8”")
        ),
        "check_utf8": say(Message("the file is not UTF-8 text")),
        "check_zip": say(Message("this is a ZIP archive: unpack it and choose the CSV file in it")),
        "send_again": t("The connection broke. Try again: nothing is taken in twice."),
        "send_begun": t("Sending…"),
        "send_checking": t("Sent; the server is reading it…"),
        "send_fix": t("Correct the marked files first."),
        "send_look": t("What it is made of, and what would take it further"),
        "send_stopped": t("Sending was stopped. If all of it had arrived, it appears in the list below."),
        "send_taken": t("Your release has been received. Its score appears below."),
        "send_twice": t(
            "Your team sent this very release before ({when}). With the same secret it is scored the same, and it uses up an attempt."
        ),
        "sending": t("Sending {sent} of {all} MB"),
        **cell_words(t),
    }


def cell_words(t: Words) -> dict[str, str | dict[str, str]]:
    """What is wrong with a cell, as the server says it: by code, and the sentence around."""
    end = "." if t.language == ENGLISH else ""
    return {
        "aside": t(" ({text})"),
        "colon": t(": "),
        "check_cell": t("{column}, row {row}: {what}") + end,
        "cell_cell_too_long": t("more than {most} characters in a cell", most=MAX_CELL),
        "cell_control_character": t("a line break or control character in a cell"),
        "cell_decimal_comma": t("not a decimal number: write a point in the place of the comma"),
        "cell_duplicate_customer": t("the id is that of a row above"),
        "cell_empty_cell": t("the cell is empty"),
        "cell_missing_value": t("a number is missing"),
        "cell_negative_price": t("a price is 0 or more"),
        "cell_not_a_birthday": t("not a date such as 2011-01-05, and not empty"),
        "cell_not_a_date": t("not a date such as 2011-01-05"),
        "cell_not_a_number": t("not a decimal number"),
        "cell_not_a_pseudonym": t("not a pseudonym of A-Z, a-z, 0-9, _ and -"),
        "cell_not_a_quantity": t("not a positive whole number"),
        "cell_not_a_time": t("not a time such as 08:45"),
        "cell_not_finite": t("too large for a 64-bit number"),
        "cell_out_of_range": t("not from {least} to {most}"),
        "cell_too_large": t.say(Message("at most {most:,} of a good in a row", most=MOST_QUANTITY)),
        "cell_unknown_customer": t("customers has no such id"),
        "cell_unknown_value": t("not one of the column's values"),
    }
