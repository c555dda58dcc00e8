"""What the organizers read while they run a competition; the ways between their pages."""

WORDS: dict[str, dict[str, str]] = {
    "nav_announcements": {"en": "Announcements", "ja": "お知らせ"},
    "nav_audit": {"en": "Audit log", "ja": "操作履歴"},
    "nav_baselines": {"en": "Baselines", "ja": "参考行"},
    "nav_dashboard": {"en": "Dashboard", "ja": "ダッシュボード"},
    "nav_data": {"en": "Data", "ja": "元データ"},
    "nav_exports": {"en": "Exports", "ja": "書き出し"},
    "nav_file": {"en": "competition.toml", "ja": "設定ファイル"},
    "nav_health": {"en": "Health", "ja": "稼働状況"},
    "nav_measures": {"en": "Measures", "ja": "指標と重み"},
    "nav_phases": {"en": "Phases", "ja": "フェーズ"},
    "nav_publication": {"en": "Publication", "ja": "公開設定"},
    "nav_rescores": {"en": "Re-scoring", "ja": "再採点"},
    "nav_running": {"en": "Running", "ja": "運営"},
    "nav_setup": {"en": "Set-up", "ja": "設定"},
    "nav_submissions": {"en": "Submissions", "ja": "提出"},
    "nav_teams": {"en": "Teams and people", "ja": "チームと参加者"},
    "nav_threshold": {"en": "Threshold", "ja": "しきい値"},
}
