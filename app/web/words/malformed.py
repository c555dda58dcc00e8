"""What is wrong in an uploaded file, by the problem's code."""

WORDS: dict[str, dict[str, str]] = {
    "bad_blank_line": {"en": "This line is blank.", "ja": "空行です。"},
    "bad_cell_too_long": {"en": "A cell is too long.", "ja": "セルの文字数が多すぎます。"},
    "bad_columns_order": {
        "en": "The competition must list the columns in the order of the file.",
        "ja": "設定ファイルの列の順序がデータの列の順序と異なります。",
    },
    "bad_column_without_role": {
        "en": "The competition gives this column no role.",
        "ja": "この列の役割がコンテストの設定にありません。",
    },
    "bad_cell_too_long_most": {
        "en": "A cell has more than {most} characters.",
        "ja": "セルが {most} 文字を超えています。",
    },
    "bad_control_character": {
        "en": "A cell holds a line break or a control character.",
        "ja": "セルに改行または制御文字があります。",
    },
    "bad_control_character_file": {
        "en": "The file holds a NUL character.",
        "ja": "ファイルに NUL 文字があります。",
    },
    "bad_duplicate_customer": {
        "en": "The id is that of a row above.",
        "ja": "この顧客 ID は上の行ですでに使われています。",
    },
    "bad_duplicate_row": {
        "en": "The row number is that of a line above.",
        "ja": "この行番号は上の行ですでに使われています。",
    },
    "bad_encoding": {
        "en": "The text is neither UTF-8 nor surely Shift_JIS (CP932). Save the file as UTF-8.",
        "ja": "文字コードが UTF-8 ではなく、Shift_JIS（CP932）とも断定できません。UTF-8 で保存してください。",
    },
    "bad_encoding_request": {
        "en": "The names and texts of a form must be UTF-8.",
        "ja": "フォームの文字コードは UTF-8 としてください。",
    },
    "bad_encoding_file": {
        "en": "The file is not UTF-8 text.",
        "ja": "UTF-8 のテキストファイルではありません。",
    },
    "bad_guess_header": {
        "en": "The first line must be original_row.",
        "ja": "1 行目は original_row としてください。",
    },
    "bad_header": {
        "en": "The header line is not the one expected.",
        "ja": "ヘッダー行が指定のものと異なります。",
    },
    "bad_header_unreadable": {
        "en": "The header line cannot be read as CSV.",
        "ja": "ヘッダー行を CSV として読み取れません。",
    },
    "bad_header_twice": {
        "en": "The header line names “{name}” twice.",
        "ja": "ヘッダー行に列「{name}」が 2 回あります。",
    },
    "bad_header_single": {
        "en": "The header line names one column; at least two are needed.",
        "ja": "ヘッダー行の列が 1 つしかありません（2 列以上が必要です）。",
    },
    "bad_header_name": {
        "en": "Column {place} of the header line is “{written}”; it must be “{name}”.",
        "ja": "ヘッダー行の {place} 列目は「{written}」です（「{name}」としてください）。",
    },
    "bad_header_missing": {
        "en": "The header line lacks the column “{name}”.",
        "ja": "ヘッダー行に列「{name}」がありません。",
    },
    "bad_header_columns": {
        "en": "The header line has {found} columns; {needed} are needed.",
        "ja": "ヘッダー行の列数は {found} です（{needed} 列が必要です）。",
    },
    "bad_missing_file": {
        "en": "No file was chosen, or it is empty.",
        "ja": "ファイルが選ばれていないか、空です。",
    },
    "bad_missing_row": {
        "en": "The number of rows kept is not that of the release.",
        "ja": "残した行の数が匿名化データの行数と一致しません。",
    },
    "bad_missing_row_rows": {
        "en": "The secret keeps {found} rows, but the release has {needed}.",
        "ja": "秘密ファイルで残した行は {found} 行ですが、匿名化データは {needed} 行です。",
    },
    "bad_missing_value": {"en": "The cell is empty.", "ja": "値がありません。"},
    "bad_negative_price": {"en": "A price is 0 or more.", "ja": "単価は 0 以上にしてください。"},
    "bad_no_header": {"en": "The file has no header line.", "ja": "ヘッダー行がありません。"},
    "bad_no_rows": {"en": "The table has no rows.", "ja": "データ行がありません。"},
    "bad_no_rows_range": {
        "en": "The table has no rows; {fewest} to {most} are possible.",
        "ja": "データ行がありません（{fewest}〜{most} 行が必要です）。",
    },
    "bad_not_a_date": {
        "en": "Not a date such as 2011-01-05.",
        "ja": "日付（例：2011-01-05）ではありません。",
    },
    "bad_not_a_number": {"en": "Not a decimal number.", "ja": "10 進数の数値ではありません。"},
    "bad_not_a_number_anywhere": {
        "en": "No column holds numbers only, so none could be sensitive.",
        "ja": "数値だけの列がないため、機微属性にできる列がありません。",
    },
    "bad_not_a_quantity": {"en": "Not a positive whole number.", "ja": "正の整数ではありません。"},
    "bad_not_a_row_number": {"en": "Not a row number.", "ja": "行番号ではありません。"},
    "bad_not_a_time": {"en": "Not a time such as 08:45.", "ja": "時刻（例：08:45）ではありません。"},
    "bad_not_finite": {"en": "The number is too large.", "ja": "数値が大きすぎます。"},
    "bad_not_multipart": {
        "en": "The form did not come with its files. Send it from the page.",
        "ja": "ファイルを受け取れませんでした。このページのフォームから送信してください。",
    },
    "bad_out_of_range": {"en": "There is no such row.", "ja": "範囲外の行番号です。"},
    "bad_out_of_range_range": {
        "en": "A row number lies between {lowest} and {highest}.",
        "ja": "行番号は {lowest}〜{highest} の範囲としてください。",
    },
    "bad_ragged_row": {"en": "The row has too few or too many cells.", "ja": "列数が合いません。"},
    "bad_ragged_row_cells": {
        "en": "The row has {found} cells; {needed} are needed.",
        "ja": "列数は {found} です（{needed} 列が必要です）。",
    },
    "bad_repeated_part": {"en": "The same field was sent twice.", "ja": "同じ項目が二重に送信されました。"},
    "bad_secret_header": {
        "en": "The first line must be original_row or anonymized_row.",
        "ja": "1 行目は original_row または anonymized_row としてください。",
    },
    "bad_text_after_quote": {
        "en": "Text follows the closing quotation mark of a cell.",
        "ja": "引用符を閉じた後に文字があります。",
    },
    "bad_too_large": {"en": "The quantity is too large.", "ja": "数量が大きすぎます。"},
    "bad_too_large_most": {
        "en": "The quantity is at most {most}.",
        "ja": "数量は {most} 以下にしてください。",
    },
    "bad_too_many_rows": {"en": "The table has too many rows.", "ja": "行数が多すぎます。"},
    "bad_too_many_rows_range": {
        "en": "The table has {found} rows; {fewest} to {most} are possible.",
        "ja": "{found} 行です（{fewest}〜{most} 行としてください）。",
    },
    "bad_too_many_rows_most": {
        "en": "The file has more than {most} rows.",
        "ja": "行数が {most} を超えています。",
    },
    "bad_unclosed_quote": {
        "en": "A quotation mark is opened and never closed.",
        "ja": "引用符が閉じられていません。",
    },
    "bad_unknown_customer": {
        "en": "The table of customers has no such id.",
        "ja": "顧客表にない顧客 ID です。",
    },
    "bad_wrong_length": {"en": "The number of lines does not fit.", "ja": "行数が合いません。"},
    "fault_at_row_column": {"en": "Row {row}, {column}: ", "ja": "{row} 行目、{column} 列："},
    "fault_at_row": {"en": "Row {row}: ", "ja": "{row} 行目："},
    "fault_at_column": {"en": "{column}: ", "ja": "{column} 列："},
    "bad_wrong_length_many": {
        "en": "The file has many more lines than the tables have rows.",
        "ja": "行数が多すぎます。",
    },
    "bad_wrong_length_lines": {
        "en": "There are {found} lines below the header line; {needed} are needed.",
        "ja": "ヘッダー行の下は {found} 行です（{needed} 行が必要です）。",
    },
}
