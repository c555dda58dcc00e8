"""Boards."""

WORDS: dict[str, dict[str, str]] = {
    "board": {"en": "Anonymization board", "ja": "匿名化ボード"},
    "board_not_open": {
        "en": "This board is not open to you at the moment.",
        "ja": "このボードは現在公開されていません。",
    },
    "board_note": {
        "en": "Every team's best accepted submission. Overall is the mean of utility loss and risk: lower is better.",
        "ja": "各チームの受理済み提出のうち最良のもの。総合点は有用性損失とリスクの平均で、小さいほど良い。",
    },
    "entries": {"en": "Entries", "ja": "提出数"},
    "frozen": {"en": "The board is frozen from", "ja": "ボード凍結"},
    "no_entries": {
        "en": "No submission has been scored yet. The first accepted one leads this board.",
        "ja": "採点済みの提出はまだありません。最初に受理された提出が首位になります。",
    },
    "no_rank": {
        "en": "A team without an accepted submission is listed without a rank.",
        "ja": "受理された提出がないチームには順位が付きません。",
    },
    "overall": {"en": "Overall", "ja": "総合"},
    "rank": {"en": "Rank", "ja": "順位"},
    "security": {"en": "Risk", "ja": "リスク"},
    "utility": {"en": "Utility loss", "ja": "有用性損失"},
    "you": {"en": "you", "ja": "自分"},
}
