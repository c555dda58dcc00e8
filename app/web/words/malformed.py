"""What is wrong in an uploaded file, by the problem's code."""

WORDS: dict[str, dict[str, str]] = {
    "bad_blank_line": {"en": "A blank line.", "ja": "空行があります。"},
    "bad_cell_too_long": {
        "en": "More than 1,000 characters in a cell.",
        "ja": "セルが 1,000 文字を超えています。",
    },
    "bad_control_character": {
        "en": "A line break or control character in a cell.",
        "ja": "セルに改行または制御文字があります。",
    },
    "bad_duplicate_customer": {
        "en": "The id is that of a row above.",
        "ja": "この顧客 ID は上の行ですでに使われています。",
    },
    "bad_duplicate_row": {
        "en": "Repeats a row number used above.",
        "ja": "行番号が上の行と重複しています。",
    },
    "bad_encoding": {
        "en": "The text is neither UTF-8 nor Shift_JIS.",
        "ja": "文字コードが UTF-8 でも Shift_JIS でもありません。",
    },
    "bad_guess_header": {
        "en": "The first line must be original_row.",
        "ja": "1 行目は original_row としてください。",
    },
    "bad_header": {"en": "The header is not the expected one.", "ja": "ヘッダーが想定と異なります。"},
    "bad_missing_file": {
        "en": "No file was chosen, or it is empty.",
        "ja": "ファイルが選ばれていないか、空です。",
    },
    "bad_missing_row": {
        "en": "The number of kept rows is not that of the anonymized table.",
        "ja": "残した行の数が匿名化表の行数と一致しません。",
    },
    "bad_missing_value": {"en": "A value is missing.", "ja": "値がありません。"},
    "bad_negative_price": {"en": "A price is 0 or more.", "ja": "単価は 0 以上にしてください。"},
    "bad_no_header": {"en": "The file has no header line.", "ja": "ヘッダー行がありません。"},
    "bad_no_rows": {"en": "The table has no rows.", "ja": "データ行がありません。"},
    "bad_not_a_date": {"en": "Not a date such as 2011-01-05.", "ja": "日付(例: 2011-01-05)ではありません。"},
    "bad_not_a_number": {"en": "Not a decimal number.", "ja": "10 進数の数値ではありません。"},
    "bad_not_a_quantity": {"en": "Not a positive whole number.", "ja": "正の整数ではありません。"},
    "bad_not_a_row_number": {"en": "Not a row number.", "ja": "行番号ではありません。"},
    "bad_not_a_time": {"en": "Not a time such as 08:45.", "ja": "時刻(例: 08:45)ではありません。"},
    "bad_not_finite": {"en": "Too large a number.", "ja": "数値が大きすぎます。"},
    "bad_out_of_range": {
        "en": "There is no such row number.",
        "ja": "範囲外の行番号です。",
    },
    "bad_ragged_row": {"en": "Too few or too many cells in a row.", "ja": "列数が合わない行があります。"},
    "bad_repeated_part": {"en": "Sent twice.", "ja": "二重に送信されました。"},
    "bad_secret_header": {
        "en": "The first line must be original_row or anonymized_row.",
        "ja": "1 行目は original_row または anonymized_row としてください。",
    },
    "bad_text_after_quote": {
        "en": "Text follows the closing quotation mark of a cell.",
        "ja": "引用符を閉じた後に文字があります。",
    },
    "bad_too_large": {"en": "Too large a quantity.", "ja": "数量が大きすぎます。"},
    "bad_too_many_rows": {"en": "Too many rows.", "ja": "行数が多すぎます。"},
    "bad_unclosed_quote": {
        "en": "A quotation mark is opened and never closed.",
        "ja": "引用符が閉じられていません。",
    },
    "bad_unknown_customer": {
        "en": "The customers file has no such id.",
        "ja": "顧客ファイルにない顧客 ID です。",
    },
    "bad_wrong_length": {"en": "The number of lines does not fit.", "ja": "行数が合いません。"},
}
