"""What the organizers read before they rule on a team or a submission."""

WORDS: dict[str, dict[str, str]] = {
    "problem_no_reason": {"en": "Give a reason.", "ja": "理由を入力してください。"},
    "rescored_change": {"en": "- {name}: {before} → {after}", "ja": "・{name}：{before} → {after}"},
    "rescored_look": {
        "en": "Boards and ranks show the new results.",
        "ja": "ボードと順位には新しい結果が表示されています。",
    },
    "rescored_none": {"en": "none", "ja": "なし"},
    "rescored_part": {"en": "- {name}", "ja": "・{name}"},
    "rescored_rules": {
        "en": "The rules have changed, and all submissions have been scored again:",
        "ja": "ルールを変更し、すべての提出を再採点しました。",
    },
    "ruling_board_anonymization": {"en": "Anonymization board:", "ja": "匿名化ボード："},
    "ruling_board_reidentification": {"en": "Re-identification board:", "ja": "再識別ボード："},
    "ruling_boards": {"en": "On the boards", "ja": "ボードへの影響"},
    "ruling_confirm_disqualify": {"en": "Disqualify", "ja": "失格にする"},
    "ruling_confirm_reinstate": {"en": "Reinstate", "ja": "失格を取り消す"},
    "ruling_done_again": {"en": "It can be disqualified again.", "ja": "再び失格にすることもできます。"},
    "ruling_guesses_back": {
        "en": "Guesses on them that count again: {n}, of {teams} teams.",
        "ja": "それに対する推測 {n} 件（{teams} チーム）が再び有効になります。",
    },
    "ruling_guesses_void": {
        "en": "Guesses on them that stop counting: {n}, of {teams} teams.",
        "ja": "それに対する推測 {n} 件（{teams} チーム）が無効になります。",
    },
    "ruling_look_disqualify": {"en": "See what disqualifying would do", "ja": "失格にした場合の影響を見る"},
    "ruling_look_reinstate": {"en": "See what reinstating would do", "ja": "失格取り消しの影響を見る"},
    "ruling_marked_final": {
        "en": "It is marked as a final and stays marked: unless the team marks another one instead, it has one target less.",
        "ja": "最終提出に選ばれており、選択はそのまま残ります。チームが選び直さなければ、攻撃対象が 1 つ減ります。",
    },
    "ruling_no_row": {"en": "No row changes.", "ja": "変わる行はありません。"},
    "ruling_no_target": {"en": "No target changes.", "ja": "変わる攻撃対象はありません。"},
    "ruling_others": {
        "en": "Other teams that get another rank: {n}.",
        "ja": "ほかに {n} チームの順位が変わります。",
    },
    "ruling_own_back": {
        "en": "The team’s own guesses count again: {n}.",
        "ja": "チーム自身の推測 {n} 件が再び有効になります。",
    },
    "ruling_own_void": {
        "en": "The team’s own guesses stop counting: {n}.",
        "ja": "チーム自身の推測 {n} 件が無効になります。",
    },
    "ruling_quota": {"en": "Quota that is used stays used.", "ja": "使用済みの提出枠は戻りません。"},
    "ruling_reason_unseen": {
        "en": "The service does not tell it the reason: tell the team yourself.",
        "ja": "理由は表示されないため、主催者からチームに伝えてください。",
    },
    "ruling_restored": {"en": "Targets that come back: {n}.", "ja": "攻撃対象 {n} 件が復活します。"},
    "ruling_row_comes": {"en": "A row comes back, without a rank.", "ja": "行が戻ります（順位なし）。"},
    "ruling_row_comes_ranked": {
        "en": "A row comes back, with rank {n}.",
        "ja": "行が戻ります（順位 {n} 位）。",
    },
    "ruling_row_goes": {
        "en": "The row disappears (it has no rank).",
        "ja": "行がなくなります（現在は順位なし）。",
    },
    "ruling_row_goes_ranked": {
        "en": "The row disappears (rank {n} now).",
        "ja": "行がなくなります（現在 {n} 位）。",
    },
    "ruling_row_moves": {
        "en": "The team keeps a row; its rank goes from {before} to {after}.",
        "ja": "行は残り、順位が {before} から {after} に変わります。",
    },
    "ruling_row_stays": {
        "en": "The team keeps its row and its rank ({before}).",
        "ja": "行も順位（{before}）も変わりません。",
    },
    "ruling_seen_back": {
        "en": "Its members see that it is in the contest again.",
        "ja": "失格の取り消しは、チームのページで分かります。",
    },
    "ruling_seen_out": {
        "en": "Its members see on their pages that it is disqualified.",
        "ja": "失格になったことはチームのページに表示されます。",
    },
    "ruling_sends_again": {
        "en": "It can send submissions and guesses again.",
        "ja": "再び提出や推測の送信ができるようになります。",
    },
    "ruling_sends_nothing": {
        "en": "It can send neither submissions nor guesses any more.",
        "ja": "提出も推測の送信もできなくなります。",
    },
    "ruling_targets": {"en": "Targets and guesses", "ja": "攻撃対象と推測への影響"},
    "ruling_team_itself": {"en": "For the team itself", "ja": "チームへの影響"},
    "ruling_undone": {
        "en": "Reinstating it later brings all of this back.",
        "ja": "後から失格を取り消すと、すべて元に戻ります。",
    },
    "ruling_withdrawn": {
        "en": "Targets that are withdrawn: {n}.",
        "ja": "攻撃対象 {n} 件が取り下げられます。",
    },
}
