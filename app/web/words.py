"""The pages' words in both languages, and how numbers are shown to people."""

from datetime import datetime
from zoneinfo import ZoneInfo

from fastapi import Request

from app.scoring.tracks import TRACKS

LANGUAGES = ("en", "ja")

WORDS: dict[str, dict[str, str]] = {
    "api_reference": {"en": "API reference", "ja": "API リファレンス(英語)"},
    "attackers": {"en": "Attackers", "ja": "攻撃者"},
    "attackers_note": {
        "en": "Share of rows an attacker finds again; 0 is best. "
        "Beside it the 95 % interval and what guessing at random would find.",
        "ja": "攻撃者が再識別した行の割合(0 が最良)。95% 信頼区間と無作為推測の期待値を併記します。",
    },
    "baseline": {"en": "At random", "ja": "無作為"},
    "ahead": {"en": "scored before it", "ja": "件の採点待ち"},
    "board": {"en": "Anonymization board", "ja": "匿名化ボード"},
    "board_note": {
        "en": "Every team's best accepted submission. "
        "Overall is the mean of utility loss and risk: lower is better.",
        "ja": "各チームの受理済み提出のうち最良のもの。総合点は有用性損失とリスクの平均で、小さいほど良い。",
    },
    "board_not_open": {
        "en": "This board is not open to you at the moment.",
        "ja": "このボードは現在公開されていません。",
    },
    "closed": {"en": "Closed", "ja": "終了"},
    "anonymization": {"en": "Anonymization phase", "ja": "匿名化フェーズ"},
    "reidentification": {"en": "Re-identification phase", "ja": "再識別フェーズ"},
    "draft": {"en": "Not begun", "ja": "開始前"},
    "settling": {"en": "Settling", "ja": "集計中"},
    "between": {"en": "Between the phases", "ja": "フェーズ間"},
    "comment": {"en": "Comment", "ja": "コメント"},
    "competitions": {"en": "Competitions", "ja": "コンテスト一覧"},
    "correct": {"en": "Found", "ja": "的中"},
    "entries": {"en": "Entries", "ja": "提出数"},
    "excessive": {"en": "Excessive anonymization", "ja": "過剰匿名化の検査"},
    "excessive_note": {
        "en": "How far the released data of individuals are from their own originals. "
        "Beyond the threshold, the competition's rule rejects a release.",
        "ja": "公開データが本人の元データからどれだけ離れているか。"
        "しきい値を超えると、大会の規則により却下されます。",
    },
    "frozen": {"en": "The board is frozen from", "ja": "ボード凍結"},
    "interval": {"en": "95 % interval", "ja": "95% 区間"},
    "higher_is_better": {"en": "higher is better", "ja": "大きいほど良い"},
    "lower_is_better": {"en": "lower is better", "ja": "小さいほど良い"},
    "largest": {"en": "Largest", "ja": "最大"},
    "mean": {"en": "Mean", "ja": "平均"},
    "measure": {"en": "Measure", "ja": "指標"},
    "measures": {"en": "Measures", "ja": "指標"},
    "name": {"en": "Name", "ja": "名前"},
    "no_competitions": {
        "en": "No competition yet. An organizer creates one from its file through the API.",
        "ja": "コンテストはまだありません。主催者が API で設定ファイルから作成します。",
    },
    "no_entries": {
        "en": "No submission has been scored yet. The first accepted one leads this board.",
        "ja": "採点済みの提出はまだありません。最初に受理された提出が首位になります。",
    },
    "no_submissions": {
        "en": "Your team has not submitted yet. Send a table and its secret through the API.",
        "ja": "あなたのチームの提出はまだありません。API から表と秘密ファイルを送信してください。",
    },
    "not_found": {
        "en": "This page does not exist, or is not open to you.",
        "ja": "ページが存在しないか、閲覧できません。",
    },
    "no_rank": {
        "en": "A team without an accepted submission is listed without a rank.",
        "ja": "受理された提出がないチームには順位が付きません。",
    },
    "overall": {"en": "Overall", "ja": "総合"},
    "password": {"en": "Password", "ja": "パスワード"},
    "rank": {"en": "Rank", "ja": "順位"},
    "rate": {"en": "Rate", "ja": "再識別率"},
    "received": {"en": "Received", "ja": "受付時刻"},
    "result": {"en": "Result", "ja": "結果"},
    "rows": {"en": "Rows", "ja": "行数"},
    "said_deleted_rows": {
        "en": "Individuals are missing.",
        "ja": "削除された個人がいます。",
    },
    "said_excessive_anonymization": {
        "en": "Excessive anonymization.",
        "ja": "過剰匿名化です。",
    },
    "said_too_few_rows": {
        "en": "Too few rows are left.",
        "ja": "残された行が少なすぎます。",
    },
    "said_rows_in_original_order": {
        "en": "Most rows stand in the order of the original: guessing “row j is row j” finds them.",
        "ja": "多くの行が元の順序のままです。「j 行目は j 行目」という推測で見つかります。",
    },
    "said_read_as_cp932": {
        "en": "The file is not UTF-8; it was read as Shift_JIS (CP932).",
        "ja": "UTF-8 ではないため、Shift_JIS(CP932)として読み込みました。",
    },
    "said_respelled": {
        "en": "Some numbers are spelled differently from the original’s; these cells count as changed.",
        "ja": "元と表記の異なる数値があります(1 と 1.0 など)。これらのセルは変更とみなされます。",
    },
    "said_sent_before": {
        "en": "Your team has sent this very table before.",
        "ja": "同じ表がすでにあなたのチームから提出されています。",
    },
    "security": {"en": "Risk", "ja": "リスク"},
    "sign_in": {"en": "Sign in", "ja": "サインイン"},
    "sign_out": {"en": "Sign out", "ja": "サインアウト"},
    "state_QUEUED": {"en": "Queued", "ja": "待機中"},
    "state_SCORING": {"en": "Scoring", "ja": "採点中"},
    "state_SCORED": {"en": "Accepted", "ja": "受理"},
    "state_REJECTED": {"en": "Rejected", "ja": "却下"},
    "state_ERROR": {"en": "Error on our side", "ja": "システムエラー"},
    "state_CANCELLED": {"en": "Cancelled", "ja": "取消"},
    "submission": {"en": "Submission", "ja": "提出"},
    "submissions": {"en": "Your team's submissions", "ja": "自チームの提出"},
    "tagline": {
        "en": "Anonymization and re-identification contests",
        "ja": "匿名化・再識別コンテスト",
    },
    "step": {"en": "Step", "ja": "進行"},
    "team": {"en": "Team", "ja": "チーム"},
    "threshold": {"en": "Threshold", "ja": "しきい値"},
    "too_many_tries": {
        "en": "Too many failed tries. Wait 15 minutes, then try again.",
        "ja": "失敗が多すぎます。15 分待ってから、もう一度お試しください。",
    },
    "utility": {"en": "Utility loss", "ja": "有用性損失"},
    "value": {"en": "Value", "ja": "値"},
    "waiting": {
        "en": "This page refreshes itself until the submission is scored.",
        "ja": "採点が終わるまで自動で更新されます。",
    },
    "wrong_password": {"en": "Name or password is wrong.", "ja": "名前またはパスワードが違います。"},
    "you": {"en": "you", "ja": "自分"},
}


def language_of(request: Request) -> str:
    """``?lang=``, else the first of the browser's languages that there is."""
    asked = [request.query_params.get("lang", "")]
    asked += [
        entry.split(";")[0].strip()[:2] for entry in request.headers.get("accept-language", "").split(",")
    ]
    return next((language for language in asked if language in LANGUAGES), "en")


def title_in(titles: dict[str, str], language: str) -> str:
    return titles.get(language) or next(iter(titles.values()))


def shown(number: float | None) -> str:
    """Five significant digits for people; full precision is in JSON and CSV."""
    if number is None:
        return "–"
    if 0 < abs(number) < 1e-9:
        return "≈0"  # rounding, which the scores take for 0 too
    if number == int(number) and abs(number) < 1e6:
        return f"{int(number):,}"
    if abs(number) >= 1e6 or abs(number) < 1e-4:
        return f"{number:.4e}"
    return f"{number:,.5g}" if abs(number) < 1e5 else f"{number:,.1f}"


def shown_time(moment: datetime, zone: str) -> str:
    """The time on the competition's clock, with the zone's name beside it."""
    return moment.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M:%S %Z")


def arrow(track: str, measure: str) -> str:
    """Which way a measure is better."""
    return "↑" if TRACKS[track].measures[measure].higher_is_better else "↓"


def score(number: float | None) -> str:
    """A score or rate in [0, 1] with four decimals, so that they align."""
    return "–" if number is None else f"{number:.4f}"
