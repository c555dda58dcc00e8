"""The front page, and a competition's first page."""

WORDS: dict[str, dict[str, str]] = {
    "front_coming": {"en": "Coming up", "ja": "開催予定"},
    "front_create": {"en": "Create a competition", "ja": "コンテストを作成"},
    "front_first": {
        "en": "No competition yet. Create the first one: from a template it takes a few minutes.",
        "ja": "コンテストはまだありません。ひな形を使えば、最初のコンテストを数分で作成できます。",
    },
    "front_in_team": {"en": "Your team: {team}", "ja": "自チーム：「{team}」"},
    "front_lead": {
        "en": "Teams anonymize the same data so that they stay useful and nobody in them is found, then look for the people in each other’s releases. Every submission is scored the same way, and the boards show who leads and why.",
        "ja": "各チームは同じデータを、有用性を保ちながら誰のデータか分からないように匿名化します。続いて、互いの匿名化データの中から個人を見つけ出します。提出はすべて同じ方法で採点され、順位とその理由がボードに表示されます。",
    },
    "front_one_team": {"en": "1 team", "ja": "1 チーム"},
    "front_organizer": {"en": "You organize it", "ja": "主催"},
    "front_own": {"en": "Your competitions", "ja": "参加・主催しているコンテスト"},
    "front_past": {"en": "Over", "ja": "終了したコンテスト"},
    "front_running": {"en": "Open now", "ja": "開催中"},
    "front_teams": {"en": "{count} teams", "ja": "{count} チーム"},
    "front_unreadable": {"en": "Not available right now", "ja": "現在利用できないコンテスト"},
    "no_competitions": {
        "en": "No competition yet. As soon as an organizer has created one, it is listed here.",
        "ja": "コンテストはまだありません。主催者が作成すると、ここに表示されます。",
    },
    "track_microdata": {"en": "Microdata: a table of individuals", "ja": "個票データ"},
    "track_transactions": {"en": "Transactions: customers and their purchases", "ja": "購買履歴データ"},
}
