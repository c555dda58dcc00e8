"""One submission: its receipt, its measures, its attackers, and how far its individuals moved."""

WORDS: dict[str, dict[str, str]] = {
    "attackers_note": {
        "en": "Share of the individuals that an attacker finds; 0 is best. Beside it how sure the number is (a 95% interval, or ± one standard deviation where the attacker picks at random) and what guessing at random would find. The largest rate among those that count is the risk E.",
        "ja": "攻撃者が再識別した個人の割合です（0 が最良）。幅（95% 信頼区間、無作為に選ぶ攻撃者では ± 標準偏差）と、無作為に推測した場合の値を併記します。算入される攻撃者のうち最大の値がリスク E です。",
    },
    "baseline": {"en": "At random", "ja": "無作為な推測"},
    "commitment": {"en": "Commitment of the secret", "ja": "秘密ファイルのコミットメント"},
    "commitment_note": {
        "en": "SHA-256 of a salt and your secret; both are published at the reveal, so that everybody can check that it was not exchanged.",
        "ja": "ソルトと秘密ファイルを並べたものの SHA-256 です。終了後に両方が公開され、差し替えがないことを誰でも確認できます。",
    },
    "contribution": {"en": "Adds to U", "ja": "U への寄与"},
    "correct": {"en": "Found", "ja": "的中"},
    "cost_attackers": {
        "en": "{rate} of the individuals are found by {names}.",
        "ja": "「{names}」が個人の {rate} を再識別しました。",
    },
    "cost_both": {
        "en": "Risk and utility loss cost you the same.",
        "ja": "リスクと有用性損失は同じ大きさです。",
    },
    "cost_everybody": {"en": "Everybody is found by {names}.", "ja": "「{names}」が全員を再識別しました。"},
    "cost_measure": {
        "en": "Of the utility loss {utility}, most comes from “{name}”: {adds}.",
        "ja": "有用性損失 {utility} のうち最も大きいのは「{name}」の {adds} です。",
    },
    "cost_nothing": {
        "en": "Nobody is found and nothing is lost.",
        "ja": "再識別された個人はなく、有用性の損失もありません。",
    },
    "cost_risk": {"en": "Risk costs you most.", "ja": "最も影響が大きいのはリスクです。"},
    "cost_utility": {
        "en": "Lost utility costs you most.",
        "ja": "最も影響が大きいのは有用性の損失です。",
    },
    "counts": {"en": "Counts", "ja": "算入"},
    "counts_no": {"en": "only reported", "ja": "参考値"},
    "counts_this": {"en": "sets E", "ja": "E となる値"},
    "counts_yes": {"en": "yes", "ja": "算入"},
    "direction": {"en": "Better", "ja": "良い方向"},
    "distances_beyond": {"en": "Beyond the threshold", "ja": "しきい値を超える個人"},
    "distances_none": {"en": "No distances are known.", "ja": "距離の記録がありません。"},
    "distances_said": {
        "en": "{count} individuals, at distances from {least} to {largest}.",
        "ja": "{count} 人の距離は {least}〜{largest} です。",
    },
    "distances_title": {
        "en": "Individuals by their distance to their own original",
        "ja": "本人の元データからの距離の分布",
    },
    "distances_y": {"en": "Individuals", "ja": "人数"},
    "downloads": {"en": "The release, as it was sent", "ja": "匿名化データ（送信時のまま）"},
    "error_note": {
        "en": "This is our fault, not yours: the submission does not count against your quota. The organizers can have it scored again.",
        "ja": "システム側の問題です。この提出は「有効な提出」に数えられません。主催者は再度採点できます。",
    },
    "excessive": {"en": "Excessive anonymization", "ja": "過剰匿名化の検査"},
    "excessive_approach_1": {
        "en": "Rejected if the data of any individual lie within {threshold} of somebody else’s original ({distance}).",
        "ja": "他人の元データから {threshold} 以内にある個人が 1 人でもいると却下されます（{distance}）。",
    },
    "excessive_approach_1_kept": {
        "en": "No individual lies that close to somebody else’s original.",
        "ja": "この提出に、そこまで他人に近い個人はいません。",
    },
    "excessive_average": {
        "en": "Rejected if the mean distance of individuals to their own originals ({distance}) exceeds {threshold}.",
        "ja": "本人の元データからの距離（{distance}）の平均が {threshold} を超えると却下されます。",
    },
    "excessive_deleted": {
        "en": "A deleted individual counts as 1.",
        "ja": "削除された個人の距離は 1 とみなします。",
    },
    "excessive_far": {
        "en": "The {which} distance is {value}: {share}% of what is allowed.",
        "ja": "距離の{which}は {value}（上限の {share}%）です。",
    },
    "excessive_near": {
        "en": "The {which} distance is {value}: {share}% of what is allowed. Little more change would be rejected.",
        "ja": "距離の{which}は {value}（上限の {share}%）です。これ以上変えると却下されるおそれがあります。",
    },
    "excessive_no_limit": {
        "en": "This competition has no threshold: nothing is rejected for it.",
        "ja": "しきい値が設定されていないため、この検査で却下されることはありません。",
    },
    "excessive_over": {
        "en": "The {which} distance is {value}: {share}% of what is allowed. Change the data of fewer individuals, or change them less.",
        "ja": "距離の{which}は {value}（上限の {share}%）です。変更する個人を減らすか、変更を小さくしてください。",
    },
    "excessive_strict": {
        "en": "Rejected if the distance of any individual to their own original ({distance}) exceeds {threshold}.",
        "ja": "本人の元データからの距離（{distance}）が {threshold} を超える個人が 1 人でもいると却下されます。",
    },
    "fingerprint": {"en": "What it looks like", "ja": "手法の推定"},
    "fingerprint_evidence": {"en": "Evidence for the closest", "ja": "最も似ている手法の根拠"},
    "fingerprint_fits": {"en": "Evidence that fits", "ja": "一致する根拠の割合"},
    "fingerprint_here": {"en": "Here", "ja": "この提出"},
    "fingerprint_methods": {"en": "Methods", "ja": "手法"},
    "fingerprint_note": {
        "en": "Which sample methods leave the same measures changed and unchanged. Only your team and the organizers see this.",
        "ja": "どの指標が変化し、どの指標が変化しないかをもとに、似ているサンプル手法を推定します。あなたのチームと主催者だけが見られます。",
    },
    "fingerprint_untouched": {"en": "Untouched original", "ja": "元データのまま"},
    "interval": {"en": "95% interval or ± sd", "ja": "95% 信頼区間または ± 標準偏差"},
    "interval_high": {"en": "High", "ja": "上端"},
    "interval_low": {"en": "Low", "ja": "下端"},
    "intervals_none": {"en": "No attacker was run.", "ja": "攻撃者の結果がありません。"},
    "intervals_said": {
        "en": "Of {count} attackers “{name}” finds most: {rate} of the individuals.",
        "ja": "{count} 種の攻撃者のうち、最も多く再識別したのは「{name}」です（{rate}）。",
    },
    "intervals_title": {"en": "What each attacker finds", "ja": "攻撃者ごとの再識別率"},
    "largest": {"en": "Largest", "ja": "最大"},
    "mean": {"en": "Mean", "ja": "平均"},
    "list_and_more": {"en": " and {count} more", "ja": " ほか {count} 手法"},
    "list_comma": {"en": ", ", "ja": "、"},
    "measure": {"en": "Measure", "ja": "指標"},
    "measures_note": {
        "en": "A measure that weighs in U is divided by its scale (its value on data that keep nothing but each column’s own distribution), cut at 1, and weighted.",
        "ja": "重みのある指標は、尺度（各列の分布だけを残したデータでの値）で割り、1 を上限とし、重み付けして U に加えます。",
    },
    "note_assignment_late": {
        "en": "With {rows} rows (more than {limit}), only near candidates are compared: {late} rows whose nearest {nearest} were taken got what was left, {without} of them no answer.",
        "ja": "元データが {rows} 行（{limit} 行超）のため近い候補だけを比べました。最も近い {nearest} 行がすべて使われていた {late} 行は残りから対応させました（うち {without} 行は無回答）。",
    },
    "note_assignment_exact": {
        "en": "With {rows} rows (more than {limit}), only near candidates are compared; the total distance is still the least possible.",
        "ja": "元データが {rows} 行（{limit} 行超）のため近い候補だけを比べましたが、距離の合計は最小です。",
    },
    "note_assignment": {
        "en": "The assignment was found by the nearest candidates alone.",
        "ja": "近い候補だけを使って対応を求めました。",
    },
    "quota_left": {"en": "Quota left after it", "ja": "受付後の残り"},
    "rate": {"en": "Rate", "ja": "再識別率"},
    "receipt": {"en": "Receipt", "ja": "受領証"},
    "receipt_id": {"en": "Submission number", "ja": "提出番号"},
    "rejected_note": {
        "en": "A rule of the contest rejects this submission. It has no rank; all its measures are below.",
        "ja": "コンテストのルールにより却下されました。順位は付きませんが、すべての指標を以下に示します。",
    },
    "rows": {"en": "Rows", "ja": "行数"},
    "said_deleted_rows": {
        "en": "Individuals were deleted, which this competition does not allow.",
        "ja": "このコンテストでは個人を削除できません。",
    },
    "said_deleted_rows_distance": {
        "en": "No individual may be deleted, because the distance ({distance}) has no upper end.",
        "ja": "距離（{distance}）に上限がないため、個人を削除することはできません。",
    },
    "said_excessive_anonymization": {
        "en": "The release is too far from the original.",
        "ja": "元データから離れすぎています。",
    },
    "said_file_missing_file": {
        "en": "{file} is still missing; until then nobody sees the data.",
        "ja": "{file} がまだ登録されていません。登録されるまで元データは公開されません。",
    },
    "said_file_missing": {
        "en": "A file of the original data is still missing; until then nobody sees the data.",
        "ja": "元データのファイルがそろっていません。そろうまで公開されません。",
    },
    "said_excessive_anonymization_near": {
        "en": "Individuals that lie within {limit} of somebody else’s original ({distance}): {found}; there may be none.",
        "ja": "他人の元データから {limit} 以内にある個人が {found} 人います（{distance}）。1 人もいてはなりません。",
    },
    "said_excessive_anonymization_far": {
        "en": "The {which} distance of individuals to their own originals ({distance}) is {found}; at most {limit} is allowed.",
        "ja": "本人の元データからの距離（{distance}）の{which}が {found} で、上限の {limit} を超えています。",
    },
    "said_read_as_cp932": {
        "en": "The file is not UTF-8; it was read as Shift_JIS (CP932).",
        "ja": "ファイルは UTF-8 ではないため、Shift_JIS（CP932）として読み込みました。",
    },
    "said_read_as_cp932_file": {
        "en": "{file}.csv is not UTF-8; it was read as Shift_JIS (CP932).",
        "ja": "{file}.csv は UTF-8 ではないため、Shift_JIS（CP932）として読み込みました。",
    },
    "said_respelled": {
        "en": "Some numbers are spelled differently from the original’s (such as 1.0 for 1); these cells count as changed.",
        "ja": "元データと表記の異なる数値があります（1 と 1.0 など）。これらのセルは変更とみなされます。",
    },
    "said_respelled_column": {
        "en": "{column}: some numbers are spelled differently from the original’s (such as 1.0 for 1); these cells count as changed.",
        "ja": "{column} 列に元データと表記の異なる数値があります（1 と 1.0 など）。これらのセルは変更とみなされます。",
    },
    "said_rows_in_original_order": {
        "en": "Most rows stand in the order of the original: guessing “row j is row j” finds them.",
        "ja": "多くの行が元データの順序のままです。「j 行目は j 行目」という推測で見つかります。",
    },
    "said_sent_before": {
        "en": "Your team has sent this very release before.",
        "ja": "同じ匿名化データを、あなたのチームはすでに提出しています。",
    },
    "said_sent_before_times": {
        "en": "Your team has sent this very release {times} times before.",
        "ja": "同じ匿名化データを、あなたのチームはすでに {times} 回提出しています。",
    },
    "said_too_few_rows": {"en": "Too few individuals are left.", "ja": "残された個人が少なすぎます。"},
    "said_too_few_rows_rows": {
        "en": "{found} individuals are left; at least {needed} must be.",
        "ja": "残された個人は {found} 人です（{needed} 人以上を残す必要があります）。",
    },
    "scale": {"en": "Scale", "ja": "尺度"},
    "scorer": {"en": "Scored by version", "ja": "採点プログラムのバージョン"},
    "sha256_of": {"en": "SHA-256 of {file}", "ja": "{file} の SHA-256"},
    "step": {"en": "Progress", "ja": "進行状況"},
    "strip_none": {"en": "No other values yet", "ja": "比較できる値がまだありません"},
    "strip_said": {
        "en": "{count} teams: from {least} to {largest}, median {median}.",
        "ja": "{count} チーム：{least}〜{largest}、中央値 {median}。",
    },
    "strip_said_own": {"en": "This one: {own}.", "ja": "この提出：{own}。"},
    "strip_title": {"en": "Among all teams", "ja": "全チームの中での位置"},
    "threshold": {"en": "Threshold", "ja": "しきい値"},
    "untouched": {"en": "Unchanged", "ja": "変更なし"},
    "value": {"en": "Value", "ja": "値"},
    "waiting_for_rules": {
        "en": "It waits: the service has a newer scorer than the one that counts here. The organizers have been asked "
        "to have everything scored again; nothing is lost.",
        "ja": "採点を待っています。この大会で順位に使う版より新しい採点の版が導入されたため、主催者による再採点が"
        "必要です。提出は失われません。",
    },
    "waiting": {
        "en": "This page refreshes itself until the submission is scored.",
        "ja": "採点が終わるまで自動で更新されます。",
    },
    "which_largest": {"en": "largest", "ja": "最大"},
    "which_mean": {"en": "mean", "ja": "平均"},
}
