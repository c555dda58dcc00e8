"""Phases and what becomes of a submission."""

WORDS: dict[str, dict[str, str]] = {
    "anonymization": {"en": "Anonymization phase", "ja": "匿名化フェーズ"},
    "between": {"en": "Between the phases", "ja": "フェーズ間"},
    "closed": {"en": "Closed", "ja": "終了"},
    "draft": {"en": "Not begun", "ja": "開始前"},
    "reidentification": {"en": "Re-identification phase", "ja": "再識別フェーズ"},
    "settling": {"en": "Settling", "ja": "集計中"},
    "state_DISQUALIFIED": {"en": "Disqualified", "ja": "失格"},
    "state_CANCELLED": {"en": "Cancelled", "ja": "取消"},
    "state_ERROR": {"en": "Error on our side", "ja": "システムエラー"},
    "state_QUEUED": {"en": "Queued", "ja": "待機中"},
    "state_REJECTED": {"en": "Rejected", "ja": "却下"},
    "state_SCORED": {"en": "Accepted", "ja": "受理"},
    "state_SCORING": {"en": "Scoring", "ja": "採点中"},
}
