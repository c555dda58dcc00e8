"""Submissions and their verdicts."""

WORDS: dict[str, dict[str, str]] = {
    "ahead": {"en": "scored before it", "ja": "件の採点待ち"},
    "attackers_note": {
        "en": "Share of rows an attacker finds again; 0 is best. Beside it the 95 % interval and what guessing at random would find.",
        "ja": "攻撃者が再識別した行の割合(0 が最良)。95% 信頼区間と無作為推測の期待値を併記します。",
    },
    "baseline": {"en": "At random", "ja": "無作為"},
    "comment": {"en": "Comment", "ja": "コメント"},
    "correct": {"en": "Found", "ja": "的中"},
    "excessive": {"en": "Excessive anonymization", "ja": "過剰匿名化の検査"},
    "excessive_note": {
        "en": "How far the released data of individuals are from their own originals. Beyond the threshold, the competition's rule rejects a release.",
        "ja": "公開データが本人の元データからどれだけ離れているか。しきい値を超えると、大会の規則により却下されます。",
    },
    "interval": {"en": "95 % interval", "ja": "95% 区間"},
    "largest": {"en": "Largest", "ja": "最大"},
    "mean": {"en": "Mean", "ja": "平均"},
    "measure": {"en": "Measure", "ja": "指標"},
    "no_submissions": {
        "en": "Your team has not submitted yet. Send a table and its secret through the API.",
        "ja": "あなたのチームの提出はまだありません。API から表と秘密ファイルを送信してください。",
    },
    "rate": {"en": "Rate", "ja": "再識別率"},
    "received": {"en": "Received", "ja": "受付時刻"},
    "rows": {"en": "Rows", "ja": "行数"},
    "said_deleted_rows": {"en": "Individuals are missing.", "ja": "削除された個人がいます。"},
    "said_excessive_anonymization": {"en": "Excessive anonymization.", "ja": "過剰匿名化です。"},
    "said_read_as_cp932": {
        "en": "The file is not UTF-8; it was read as Shift_JIS (CP932).",
        "ja": "UTF-8 ではないため、Shift_JIS(CP932)として読み込みました。",
    },
    "said_respelled": {
        "en": "Some numbers are spelled differently from the original’s; these cells count as changed.",
        "ja": "元と表記の異なる数値があります(1 と 1.0 など)。これらのセルは変更とみなされます。",
    },
    "said_rows_in_original_order": {
        "en": "Most rows stand in the order of the original: guessing “row j is row j” finds them.",
        "ja": "多くの行が元の順序のままです。「j 行目は j 行目」という推測で見つかります。",
    },
    "said_sent_before": {
        "en": "Your team has sent this very table before.",
        "ja": "同じ表がすでにあなたのチームから提出されています。",
    },
    "said_too_few_rows": {"en": "Too few rows are left.", "ja": "残された行が少なすぎます。"},
    "step": {"en": "Step", "ja": "進行"},
    "submission": {"en": "Submission", "ja": "提出"},
    "submissions": {"en": "Your team's submissions", "ja": "自チームの提出"},
    "threshold": {"en": "Threshold", "ja": "しきい値"},
    "value": {"en": "Value", "ja": "値"},
    "waiting": {
        "en": "This page refreshes itself until the submission is scored.",
        "ja": "採点が終わるまで自動で更新されます。",
    },
}
