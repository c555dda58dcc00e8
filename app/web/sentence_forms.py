"""The forms that sentences of the service have: by kind and code, the ending of the word and the pattern.

The word ``bad_header_columns`` says what the first form of ``bad_header`` finds, with the named values.
"""

Forms = dict[str, dict[str, str]]

IN_FILES: Forms = {
    "bad_cell_too_long": {"most": r".*more than (?P<most>\d+) characters in a cell"},
    "bad_control_character": {"file": r"the file contains a NUL byte"},
    "bad_encoding": {
        "file": r"the file is not UTF-8 text",
        "request": r"names and texts of a multipart request are UTF-8",
    },
    "bad_header": {
        "columns": r"the header has (?P<found>\d+) columns; (?P<needed>\d+) are needed",
        "name": r"column (?P<place>\d+) is (?P<written>.+); it must be (?P<name>.+)",
        "twice": r"the header names (?P<name>.+) twice",
        "missing": r"the header has no column (?P<name>.+)",
        "single": r"the header names one column; at least two are needed",
        "unreadable": r"the header line cannot be read: .*",
    },
    "bad_missing_row": {
        "rows": r"(?P<found>\d+) rows are kept, but the anonymized table has (?P<needed>\d+)"
    },
    "bad_no_rows": {"range": r"the table has 0 rows; (?P<fewest>\d+) to (?P<most>\d+) are possible"},
    "bad_not_a_number": {"anywhere": r"no column holds numbers only: none could be sensitive"},
    "bad_out_of_range": {"range": r"line \d+ of the \w+ is outside (?P<lowest>\d+) to (?P<highest>\d+)"},
    "bad_ragged_row": {"cells": r"row \w+ has (?P<found>\d+) cells; (?P<needed>\d+) are needed"},
    "bad_too_large": {"most": r".*at most (?P<most>[\d,]+) of a good in a row"},
    "bad_too_many_rows": {
        "range": r"the table has (?P<found>\d+) rows; (?P<fewest>\d+) to (?P<most>\d+) are possible",
        "most": r"the file has more than (?P<most>\d+) lines below its header",
    },
    "bad_wrong_length": {
        "lines": r"(?P<found>\d+) lines after \w+; (?P<needed>\d+) are needed.*",
        "many": r"the file has many more lines than the tables have rows",
    },
}

IN_RULES: Forms = {
    "invalid_attacker_never_counts": {"name": r"attackers\.(?P<key>.+) never counts towards E"},
    "invalid_column_in_both_roles": {"name": r"columns: (?P<key>.+) is listed in both roles"},
    "invalid_fixed": {"address": r"slug and track of a competition are fixed"},
    "invalid_measure_without_weight": {"name": r"measures\.(?P<key>.+) is reported only"},
    "invalid_missing_key": {"key": r"(?P<key>\S+) is missing"},
    "invalid_not_toml": {
        "place": r"not valid TOML: (?P<reason>.+) \(at line (?P<line>\d+), column (?P<place>\d+)\)",
        "end": r"not valid TOML: (?P<reason>.+) \(at end of document\)",
    },
    "invalid_phase_turned": {"phase": r"the (?P<phase>\w+) phase has ended and turned"},
    "invalid_unknown_attacker": {"name": r"attackers\.(?P<key>.+) is not an attacker of this track"},
    "invalid_unknown_column": {"name": r"(?P<key>.+): (?P<column>.+) is not such a column"},
    "invalid_unknown_key": {"key": r"(?P<key>.+) is not a key of the format"},
    "invalid_unknown_measure": {"name": r"(?P<key>.+) is not a measure of this track"},
    "invalid_wrong_type": {"key": r"(?P<key>.+) must be a table"},
    "invalid_wrong_value": {"key": r"(?P<key>\S+) must be (?P<expected>.+)"},
}

OF_RELEASES: Forms = {
    "note_assignment": {
        "exact": r"sparse assignment: (?P<rows>\d+) rows are more than dense_limit = (?P<limit>\d+); "
        r"the total cost is the least possible",
        "late": r"sparse assignment: (?P<rows>\d+) rows are more than dense_limit = (?P<limit>\d+); "
        r"(?P<late>\d+) rows whose nearest (?P<nearest>\d+) went to others were matched with what was left, "
        r"(?P<without>\d+) of them abstain",
    },
    "said_deleted_rows": {
        "distance": r"under the (?P<distance>\w+) distance, which has no bound, every individual must be kept"
    },
    "said_excessive_anonymization": {
        "far": r"the (?P<which>\w+) (?P<distance>\w+) distance of individuals is (?P<found>\S+); "
        r"at most (?P<limit>\S+) is allowed",
        "near": r"(?P<found>\d+) anonymized individuals lie within a (?P<distance>\w+) distance of "
        r"(?P<limit>\S+) of somebody else's original; none may",
    },
    "said_file_missing": {"file": r"(?P<file>\w+\.csv) is still to be uploaded.*"},
    "said_read_as_cp932": {"file": r"(?P<file>\w+) is not UTF-8; it was read as Shift_JIS \(CP932\)"},
    "said_respelled": {"column": r"(?P<column>.+): some numbers are spelled differently from .*"},
    "said_sent_before": {"times": r"your team has sent this very table (?P<times>[2-9]|\d{2,}) times before"},
    "said_too_few_rows": {"rows": r"(?P<found>\d+) rows are left; at least (?P<needed>\d+) must be"},
}

FORMS: Forms = IN_FILES | IN_RULES | OF_RELEASES

EXPECTED = {
    "a text of 1 to 200 characters, none of them a control character": "text",
    "true or false": "flag",
    "a finite number, 0 or more": "number",
    "a number from 0 to 1": "share",
    "a whole number from 1 to 1,000,000": "count",
    "a whole number from 0 to 8,760": "hours",
    "a list of column names": "names",
    "a list without repetitions": "different",
    "a date and time such as 2027-01-10T09:00:00+09:00": "moment",
    "1 to 63 lower-case letters, digits and inner hyphens": "slug",
    "the name of a time zone such as Asia/Tokyo": "zone",
    "a list of tables [[phases]]": "phases",
    "at most one anonymization and then one reidentification phase": "order",
    "windows that do not overlap": "apart",
    "a window that starts before it ends": "window",
}
"""What the reader of competition files asks of a value, and the word for it."""
