"""A team's submissions: what it may still send, what it has sent, which of it stand for it."""

WORDS: dict[str, dict[str, str]] = {
    "ahead": {"en": "ahead of it in the queue", "ja": "件の採点待ち"},
    "ask_the_organizers": {
        "en": "Ask the organizers why.",
        "ja": "理由は主催者にお問い合わせください。",
    },
    "cancel": {"en": "Cancel", "ja": "取り消す"},
    "used_attempts_per_day": {"en": "Attempts today", "ja": "本日の送信回数"},
    "used_attempts_total": {"en": "Attempts in all", "ja": "送信回数の合計"},
    "cap_full": {"en": "Used up", "ja": "上限に達しました"},
    "cap_full_total": {
        "en": "Used up. Only the organizers can raise it.",
        "ja": "上限に達しました。追加できるのは主催者だけです。",
    },
    "cap_note": {
        "en": "Every upload counts as an attempt when it begins, also one that is refused as malformed. A submission that ends in an error on our side, or that you cancel, no longer counts as valid; its attempt still does.",
        "ja": "送信回数は送信を始めた時点で数えられ、受付不可となったものも含みます。システムエラーになった提出と取り消した提出は「有効な提出」に数えませんが、送信回数は戻りません。",
    },
    "cap_resets": {"en": "resets", "ja": "リセット"},
    "used_valid_per_day": {"en": "Valid submissions today", "ja": "本日の有効な提出"},
    "used_valid_total": {"en": "Valid submissions in all", "ja": "有効な提出の合計"},
    "cap_what": {"en": "What is counted", "ja": "数え方"},
    "caps": {"en": "Quota", "ja": "提出枠"},
    "comment": {"en": "Comment", "ja": "コメント"},
    "course": {"en": "Your scores over time", "ja": "総合点の推移"},
    "done_cancelled": {"en": "The submission is cancelled.", "ja": "提出を取り消しました。"},
    "done_final_marked": {"en": "Marked as a final.", "ja": "最終提出に選びました。"},
    "done_final_unmarked": {"en": "No longer a final.", "ja": "最終提出から外しました。"},
    "done_received": {
        "en": "Received. Your submission is in the queue; the receipt is below.",
        "ja": "受け付けました。採点待ちの列に入っています。受領証は下にあります。",
    },
    "final": {"en": "Final", "ja": "最終提出"},
    "finals": {"en": "Finals", "ja": "最終提出"},
    "finals_all": {
        "en": "{chosen} of {most} finals are chosen. Only these will stand for your team.",
        "ja": "最終提出 {most} 件のうち {chosen} 件を選択済みです。選んだものだけがチームの最終提出になります。",
    },
    "finals_none": {
        "en": "No final is chosen. If it stays so, your best accepted submissions (up to {most}) are taken at the deadline.",
        "ja": "最終提出は選ばれていません。このままの場合、締切時に受理された提出のうち最良のもの（最大 {most} 件）が自動で選ばれます。",
    },
    "finals_disqualified": {
        "en": "A disqualified team chooses no finals.",
        "ja": "失格中は最終提出を選べません。",
    },
    "finals_draft": {
        "en": "Finals are chosen while the anonymization phase is open.",
        "ja": "最終提出は匿名化フェーズの期間中に選びます。",
    },
    "finals_paused": {
        "en": "The phase is paused. Finals can be chosen again when it goes on.",
        "ja": "フェーズは一時停止中です。再開後に最終提出を選べます。",
    },
    "finals_settling": {
        "en": "The deadline has passed: the finals are fixed as they are.",
        "ja": "締切を過ぎたため、最終提出はこの時点の選択で確定します。",
    },
    "finals_undated": {
        "en": "Finals are chosen while the anonymization phase is open.",
        "ja": "最終提出は匿名化フェーズの期間中に選びます。",
    },
    "finals_over": {
        "en": "The choice of finals is closed.",
        "ja": "最終提出の選択は締め切られています。",
    },
    "mark_final": {"en": "Choose as final", "ja": "最終提出に選ぶ"},
    "newest": {"en": "Newest", "ja": "最新へ"},
    "no_submissions": {
        "en": "Your team has not submitted yet. Choose your files above and send them; a release is scored in a few moments.",
        "ja": "あなたのチームの提出はまだありません。上のフォームからファイルを送信すると、順に採点されます。",
    },
    "no_submissions_now": {
        "en": "Your team has not submitted.",
        "ja": "あなたのチームの提出はありません。",
    },
    "older": {"en": "Older", "ja": "以前の提出"},
    "own_list": {"en": "What your team has sent", "ja": "提出一覧"},
    "queue_next": {"en": "Next to be scored", "ja": "次に採点されます"},
    "received": {"en": "Received", "ja": "受付時刻"},
    "scored_steps": {"en": "step", "ja": "手順"},
    "state": {"en": "State", "ja": "状態"},
    "submission": {"en": "Submission", "ja": "提出"},
    "submissions": {"en": "Your team's submissions", "ja": "自チームの提出"},
    "submission_disqualified": {
        "en": "The organizers disqualified this submission ({when}).",
        "ja": "この提出は主催者により失格となりました（{when}）。",
    },
    "submission_disqualified_note": {
        "en": "It stands on no board, and a target made of it is withdrawn.",
        "ja": "ボードには載らず、攻撃対象としても取り下げられます。",
    },
    "own_team_disqualified": {
        "en": "The organizers have disqualified your team ({when}).",
        "ja": "あなたのチームは主催者により失格となりました（{when}）。",
    },
    "own_team_disqualified_note": {
        "en": "It can send nothing and choose no finals, and it stands on no board. Ask the organizers why.",
        "ja": "提出・推測の送信と最終提出の選択はできず、ボードにも載りません。理由は主催者にお問い合わせください。",
    },
    "unmark_final": {"en": "Unmark", "ja": "選択を外す"},
    "waiting_begins": {"en": "Starting", "ja": "開始しています"},
    "why": {"en": "Why", "ja": "理由"},
}
