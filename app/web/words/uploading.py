"""The form that takes a release in, and what the browser says of its files before they are sent."""

WORDS: dict[str, dict[str, str]] = {
    "check_cells": {
        "en": "Row {row} has {found} {found:cell|cells}; {expected} are needed.",
        "ja": "{row} 行目の列数は {found} です（{expected} 列が必要です）。",
    },
    "check_columns": {
        "en": "The header line has {found} {found:column|columns}; {expected} are needed.",
        "ja": "ヘッダー行の列数は {found} です（{expected} 列が必要です）。",
    },
    "check_cp932": {
        "en": "Not UTF-8: it has to be Shift_JIS (CP932).",
        "ja": "UTF-8 ではありません。Shift_JIS（CP932）である必要があります。",
    },
    "check_duplicate": {
        "en": "Row {row} repeats the row number {found}.",
        "ja": "{row} 行目の行番号 {found} は重複しています。",
    },
    "check_empty": {"en": "The file is empty.", "ja": "ファイルが空です。"},
    "check_few": {
        "en": "{found} {found:row|rows}; fewer than {expected} will be rejected.",
        "ja": "{found} 行です（{expected} 行未満は却下されます）。",
    },
    "check_excel": {
        "en": "This is a spreadsheet (Excel), not CSV: save it as “CSV UTF-8” and choose that file.",
        "ja": "Excel 形式のファイルです。「CSV UTF-8」形式で保存し直し、そのファイルを選んでください。",
    },
    "check_extra": {"en": "Not among the columns: {names}.", "ja": "余分な列：{names}。"},
    "check_good": {
        "en": "{rows} {rows:row|rows}, {columns} {columns:column|columns}",
        "ja": "{rows} 行、{columns} 列",
    },
    "check_good_guess": {
        "en": "{rows} {rows:row|rows}, {answered} of them answered",
        "ja": "{rows} 行、うち回答 {answered} 行",
    },
    "check_good_lines": {
        "en": "{rows} {rows:line|lines} below the header line",
        "ja": "ヘッダー行の下に {rows} 行",
    },
    "check_guess_header": {
        "en": "The first line must be original_row.",
        "ja": "1 行目は original_row としてください。",
    },
    "check_index": {
        "en": "The first column holds row labels: write the file with index=False (in pandas, to_csv(…, index=False)).",
        "ja": "先頭に行ラベルの列があります。index=False を付けて書き出してください。",
    },
    "check_kept": {
        "en": "The secret keeps {found} {found:row|rows}, but the release has {expected}.",
        "ja": "秘密ファイルで残した行は {found} 行ですが、匿名化データは {expected} 行です。",
    },
    "check_large": {
        "en": "{found} MB; at most {expected} MB are taken.",
        "ja": "{found} MB です（上限は {expected} MB）。",
    },
    "check_length": {
        "en": "{found} {found:line|lines} below the header line; {expected} are needed.",
        "ja": "ヘッダー行の下は {found} 行です（{expected} 行が必要です）。",
    },
    "check_missing": {"en": "Missing columns: {names}.", "ja": "足りない列：{names}。"},
    "check_name": {
        "en": "Column {row} is “{found}”; it must be “{expected}”.",
        "ja": "{row} 列目は「{found}」です（「{expected}」としてください）。",
    },
    "check_nul": {"en": "The file holds a NUL character.", "ja": "ファイルに NUL 文字があります。"},
    "check_number": {"en": "Row {row} is not a row number.", "ja": "{row} 行目は行番号ではありません。"},
    "check_quote": {
        "en": "A quotation mark is opened and never closed.",
        "ja": "引用符が閉じられていません。",
    },
    "check_range": {
        "en": "Row {row} is outside {found} to {expected}.",
        "ja": "{row} 行目は {found}〜{expected} の範囲外です。",
    },
    "check_reading": {"en": "Checking…", "ja": "確認中…"},
    "check_rows": {
        "en": "{found} {found:row|rows}; {fewest} to {expected} are possible.",
        "ja": "{found} 行です（{fewest}〜{expected} 行としてください）。",
    },
    "check_secret_header": {
        "en": "The first line must be original_row or anonymized_row.",
        "ja": "1 行目は original_row または anonymized_row としてください。",
    },
    "check_swapped": {
        "en": "This looks like the other file of the release: were the two exchanged?",
        "ja": "もう一方のファイルのようです。ファイルを取り違えていませんか。",
    },
    "check_zero": {
        "en": "Rows seem to be counted from 0; they count from 1, so add 1 to each number.",
        "ja": "行番号が 0 から始まっているようです。1 から数えるため、各番号に 1 を足してください。",
    },
    "check_utf8": {"en": "The file is not UTF-8 text.", "ja": "UTF-8 のテキストファイルではありません。"},
    "column_example": {"en": "First values", "ja": "先頭の値"},
    "column_name": {"en": "Column", "ja": "列"},
    "columns_expected": {"en": "Columns, and the first rows of the original", "ja": "列と元データの先頭"},
    "columns_expected_secret": {"en": "What it looks like", "ja": "書き方の例"},
    "comment_hint": {
        "en": "For your team only, such as the method used.",
        "ja": "チーム内のメモです（使った手法など）。",
    },
    "file_anonymized": {"en": "Release", "ja": "匿名化データ"},
    "file_choose": {"en": "Choose a file or drop it here", "ja": "ファイルを選択、またはここにドロップ"},
    "file_customers": {"en": "Release: customers (M′)", "ja": "匿名化データ：顧客（M′）"},
    "file_secret": {"en": "Secret", "ja": "秘密ファイル"},
    "file_transactions": {"en": "Release: purchases (T′)", "ja": "匿名化データ：購買レコード（T′）"},
    "no_data_yet": {
        "en": "The competition has no original data yet. Come back when they are published.",
        "ja": "元データがまだ公開されていません。公開後にもう一度ご覧ください。",
    },
    "rows_between": {
        "en": "CSV, {fewest} to {most} rows, at most {mb} MB",
        "ja": "CSV、{fewest}〜{most} 行、{mb} MB まで",
    },
    "rows_any": {"en": "CSV, any number of rows, at most {mb} MB", "ja": "CSV、行数は任意、{mb} MB まで"},
    "secret_hint": {
        "en": "Which row of the original each row of the release comes from; rows are counted from 1. It is sealed on receipt: nobody gets it back before the reveal.",
        "ja": "匿名化データの各行が元データの何行目かを示すファイルです（行は 1 から数えます）。受付時に封印され、公開の時まで誰にも渡されません。",
    },
    "secret_sample_anonymized_row": {
        "en": "or one line for each row of the original: the row it became, 0 if deleted",
        "ja": "または、元データの 1 行につき 1 行：匿名化データでの行番号（0 は削除）",
    },
    "secret_sample_original_row": {
        "en": "one line for each row of the release: the row of the original it comes from",
        "ja": "匿名化データの 1 行につき 1 行：元データでの行番号",
    },
    "send": {"en": "Send", "ja": "送信する"},
    "send_again": {
        "en": "The connection broke. Send again: nothing is taken in twice.",
        "ja": "接続が切れました。もう一度送信してください（二重に受け付けられることはありません）。",
    },
    "send_anyway": {"en": "Send again anyway", "ja": "それでも送信する"},
    "send_checking": {"en": "Sent; the server is reading it…", "ja": "送信完了。サーバーで確認しています…"},
    "send_fix": {
        "en": "Correct the marked files first.",
        "ja": "印の付いたファイルを先に直してください。",
    },
    "send_follow": {
        "en": "Follow the scoring in the list below",
        "ja": "下の一覧で採点の状況を見る",
    },
    "send_stop": {"en": "Stop sending", "ja": "送信を中止"},
    "send_stopped": {"en": "Sending was stopped.", "ja": "送信を中止しました。"},
    "send_twice": {
        "en": "Your team sent this very release before ({when}). With the same secret it is scored the same, and it uses up an attempt.",
        "ja": "同じ匿名化データを {when} に提出済みです。秘密ファイルも同じなら採点結果は変わらず、送信回数を 1 回使います。",
    },
    "sending": {"en": "Sending {sent} of {all} MB", "ja": "送信中 {sent} / {all} MB"},
    "upload": {"en": "Send a release", "ja": "匿名化データの提出"},
    "upload_disqualified": {
        "en": "Nothing is taken in from a disqualified team.",
        "ja": "失格中のチームからの提出は受け付けません。",
    },
    "upload_draft": {
        "en": "The anonymization phase has not begun; releases are taken in as soon as it does. Read the rules and get the data meanwhile.",
        "ja": "匿名化フェーズはまだ始まっていません。開始と同時に提出を受け付けます。それまでにルールを読み、元データを入手してください。",
    },
    "upload_more": {"en": "More problems, not listed: {more}.", "ja": "ほかに {more} 件の問題があります。"},
    "upload_over": {
        "en": "The anonymization phase is over: no more releases are taken in.",
        "ja": "匿名化フェーズは終了しました。提出の受付は締め切られています。",
    },
    "upload_paused": {
        "en": "The organizers have paused the phase. Nothing is taken in until they resume it; the deadline moves by as much, so no time is lost.",
        "ja": "主催者がフェーズを一時停止しています。再開まで提出は受け付けませんが、締切も停止した時間だけ延びるため、持ち時間は減りません。",
    },
    "upload_settling": {
        "en": "The deadline has passed: no more releases are taken in. What came in time is still being scored.",
        "ja": "締切を過ぎたため、提出の受付は終了しました。期限内の提出を採点しています。",
    },
    "upload_undated": {
        "en": "The anonymization phase has no date yet. Read the rules and get the data meanwhile.",
        "ja": "匿名化フェーズの日程はまだ決まっていません。それまでにルールを読み、元データを入手してください。",
    },
}
