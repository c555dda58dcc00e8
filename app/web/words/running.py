"""What the organizers read of where a competition stands and of its phases; the ways between their pages."""

WORDS: dict[str, dict[str, str]] = {
    "duty_do_errors": {"en": "Have them scored again", "ja": "再度採点する"},
    "duty_do_idle_teams": {"en": "See the teams", "ja": "チームを見る"},
    "duty_do_mixed_versions": {"en": "Have everything scored again", "ja": "すべてを再採点する"},
    "duty_do_newer_scorer": {"en": "Have everything scored again", "ja": "すべてを再採点する"},
    "duty_do_no_original": {"en": "Upload the data", "ja": "データを登録する"},
    "duty_do_no_phases": {"en": "Set the phases", "ja": "フェーズを設定する"},
    "duty_do_no_teams": {"en": "Make an invite", "ja": "招待リンクを作る"},
    "duty_do_no_threshold": {"en": "Choose a threshold", "ja": "しきい値を決める"},
    "duty_do_owners_few": {"en": "Show less, or ask for fewer", "ja": "公開設定を見直す"},
    "duty_do_owners_known": {"en": "Show less", "ja": "公開設定を見直す"},
    "duty_do_paused": {"en": "See the phases", "ja": "フェーズを見る"},
    "duty_do_rescore_ready": {"en": "Compare", "ja": "比較する"},
    "duty_do_rescore_scoring": {"en": "See how far it is", "ja": "進み具合を見る"},
    "duty_do_settling": {"en": "See the queue", "ja": "稼働状況を見る"},
    "duty_do_stalled": {"en": "See the health", "ja": "稼働状況を見る"},
    "duty_do_unswept": {"en": "See the health", "ja": "稼働状況を見る"},
    "duty_errors": {
        "en": "Submissions that ended in an error on our side: {n}.",
        "ja": "システムエラーで終わった提出が {n} 件あります。",
    },
    "duty_idle_teams": {
        "en": "The phase ends within a day, and teams without an accepted or waiting submission are left: {n}.",
        "ja": "フェーズ終了まで 1 日を切りましたが、受理された提出も採点待ちの提出もないチームが {n} チームあります。",
    },
    "duty_mixed_versions": {
        "en": "Submissions that were scored by other versions than those that count here: {n}. The board shows "
        "what can be compared; a re-score set puts one version in force for all.",
        "ja": "この大会で順位に使う版とは別の版で採点された提出が {n} 件あります。ボードには比較できるものだけを"
        "表示しています。再採点を適用すると、すべてが同じ版になります。",
    },
    "duty_newer_scorer": {
        "en": "The service has a newer scorer than the one that counts here. New submissions wait for a re-score "
        "set (waiting: {n}); the board stays as it is until one is applied.",
        "ja": "この大会で順位に使う採点の版より新しい版が導入されています。新しい提出は再採点の適用まで採点を"
        "待ちます（待機中：{n} 件）。それまでボードは変わりません。",
    },
    "duty_no_original": {
        "en": "The original data are missing: nobody can submit.",
        "ja": "元データがそろっていないため、誰も提出できません。",
    },
    "duty_no_phases": {
        "en": "The competition has no phases: it never begins.",
        "ja": "フェーズが設定されていないため、コンテストが始まりません。",
    },
    "duty_no_teams": {"en": "No team has joined yet.", "ja": "まだチームが参加していません。"},
    "duty_no_threshold": {
        "en": "No threshold is chosen: excessive anonymization is not rejected.",
        "ja": "しきい値が未設定のため、過剰匿名化が却下されません。",
    },
    "duty_owners_few": {
        "en": "Targets with fewer possible owners than you ask for: {n}. At the deadline their publication waits for you.",
        "ja": "持ち主の候補が下限より少ない攻撃対象が {n} 件あります。このままでは締切後の公開が止まります。",
    },
    "duty_owners_known": {
        "en": "Targets whose owner can be told from what the boards show: {n}.",
        "ja": "ボードの内容から持ち主が 1 チームに絞られる攻撃対象が {n} 件あります。",
    },
    "duty_paused": {
        "en": "The phase is paused: nothing is taken in.",
        "ja": "フェーズを一時停止しており、提出を受け付けていません。",
    },
    "duty_rescore_ready": {
        "en": "A re-score set is complete: compare it, then apply or cancel it.",
        "ja": "再採点が完了しました。結果を比較し、適用または取り消しを選んでください。",
    },
    "duty_rescore_scoring": {
        "en": "A re-score set is under way; still to be scored: {n}.",
        "ja": "再採点の実行中です。残り {n} 件です。",
    },
    "duty_settling": {
        "en": "The deadline has passed; what came in time is still being scored: {n}.",
        "ja": "締切後の集計中です。採点の終わっていないものが {n} 件あります。",
    },
    "duty_stalled": {
        "en": "Work waits ({n}) and none of it runs: no worker seems to be there.",
        "ja": "採点待ちが {n} 件ありますが、1 件も実行されていません。ワーカーが動いていない可能性があります。",
    },
    "duty_unswept": {
        "en": "The regular tasks do not run: phases do not turn and lost work is not found again.",
        "ja": "定期処理が動いていません。フェーズの切り替えも、失われた採点の再開も行われません。",
    },
    "nav_announcements": {"en": "Announcements", "ja": "お知らせ"},
    "nav_audit": {"en": "Audit log", "ja": "操作履歴"},
    "nav_baselines": {"en": "Baselines", "ja": "ベースライン"},
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
    "run_all_acts": {"en": "The whole audit log", "ja": "操作履歴をすべて見る"},
    "run_at_the_turn": {"en": "At its end", "ja": "終了時に行われること"},
    "run_back": {"en": "Back, do nothing", "ja": "何もせずに戻る"},
    "run_by_state": {"en": "Submissions and guesses by state", "ja": "状態別の件数"},
    "run_confirm_extend": {"en": "Move the end", "ja": "終了時刻を変更する"},
    "run_confirm_pause": {"en": "Pause the phase", "ja": "一時停止する"},
    "run_confirm_resume": {"en": "Resume the phase", "ja": "再開する"},
    "run_disqualified": {"en": "Disqualified", "ja": "失格"},
    "run_done": {"en": "Done", "ja": "完了"},
    "run_earlier": {"en": "Earlier by {by}", "ja": "{by} 早まる"},
    "run_end": {"en": "End", "ja": "終了"},
    "run_end_moves": {"en": "The end moves", "ja": "終了時刻の変化"},
    "run_follow": {"en": "Later phases move by as much", "ja": "後続のフェーズも同じだけ動かす"},
    "run_guesses": {"en": "Guesses", "ja": "推測"},
    "run_idle": {"en": "Without a valid submission", "ja": "有効な提出なし"},
    "run_in_queue": {"en": "Waiting", "ja": "待機中"},
    "run_last_acts": {"en": "Last acts", "ja": "最近の操作"},
    "run_later": {"en": "Later by {by}", "ja": "{by} 遅くなる"},
    "run_move_end": {"en": "Move the end", "ja": "終了時刻の変更"},
    "run_new_end": {"en": "New end", "ja": "新しい終了時刻"},
    "run_new_end_hint": {
        "en": "On the competition’s clock ({zone}). Later or earlier, but ahead of now.",
        "ja": "コンテストの時刻（{zone}）で入力してください。延長も短縮もできますが、過去の時刻は指定できません。",
    },
    "run_no_phases": {
        "en": "The competition file names no phases.",
        "ja": "設定ファイルにフェーズがありません。",
    },
    "run_no_submissions": {"en": "Nothing has been submitted yet.", "ja": "まだ提出がありません。"},
    "run_nothing_to_do": {"en": "Nothing waits for you.", "ja": "対応の必要なものはありません。"},
    "run_nothing_yet": {
        "en": "This is a preview. Nothing has been changed yet.",
        "ja": "これはプレビューです。まだ何も変更されていません。",
    },
    "run_notice": {"en": "What the teams will notice", "ja": "チームへの影響"},
    "run_notice_all_move": {
        "en": "When it is resumed, this phase’s end and all later phases move by the length of the pause.",
        "ja": "再開すると、このフェーズの終了と後続のフェーズは、停止していた時間だけ後ろにずれます。",
    },
    "run_notice_countdown": {
        "en": "Countdowns on all pages count to the new end at once.",
        "ja": "全ページのカウントダウンが、すぐに新しい終了時刻に変わります。",
    },
    "run_notice_freeze": {
        "en": "The board still freezes at the time set for it, which does not move:",
        "ja": "ボードの凍結時刻は変わりません：",
    },
    "run_notice_longer": {
        "en": "Teams ({n}) have that much longer to send.",
        "ja": "全 {n} チームの提出期間がその分延びます。",
    },
    "run_notice_moved_now": {
        "en": "Countdowns return. The ends above are as of this moment; they move on until you confirm.",
        "ja": "カウントダウンが再開します。上の終了時刻は現時点のもので、確定するまで延び続けます。",
    },
    "run_notice_no_countdown": {
        "en": "The pages say “paused” and show no countdown.",
        "ja": "各ページには「一時停止中」と表示され、カウントダウンは消えます。",
    },
    "run_notice_quota": {
        "en": "Quotas do not change: daily ones start anew at midnight as before, totals are not raised.",
        "ja": "提出枠は変わりません。1 日の上限は従来どおり午前 0 時に戻り、合計の上限は増えません。",
    },
    "run_notice_quota_paused": {
        "en": "Daily quotas go by the calendar, paused or not; what was used stays used.",
        "ja": "1 日の上限は停止中も暦どおりに戻ります。使用済みの回数はそのままです。",
    },
    "run_notice_refused": {
        "en": "Uploads are refused from this moment on, with the reason; one on its way may still be refused.",
        "ja": "この時点から提出・送信は受け付けられず、その理由が表示されます。送信途中のものも受け付けられないことがあります。",
    },
    "run_own_password": {"en": "Your password", "ja": "あなたのパスワード"},
    "run_own_password_hint": {
        "en": "Once more, for this cannot be undone.",
        "ja": "取り消せない操作のため、もう一度入力してください。",
    },
    "run_way_in_hint": {
        "en": "Once more, for this gives access.",
        "ja": "アクセス手段が増える操作のため、もう一度入力してください。",
    },
    "run_end_password": {
        "en": "Your password, if anything ends or is shown sooner",
        "ja": "あなたのパスワード（終了や公開が早まる場合）",
    },
    "run_more_password": {
        "en": "Your password, if others see or guess more, or the ranking, the finals or the notice change",
        "ja": "あなたのパスワード（公開する情報や推測の上限を増やす場合、順位の決め方・最終提出の数・予告時間を変える場合）",
    },
    "run_file_password": {
        "en": "Your password, if anything ends or is shown sooner, others see or guess more, or the ranking, the finals or the notice change",
        "ja": "あなたのパスワード（終了や公開が早まる場合、公開する情報や推測の上限を増やす場合、順位の決め方・最終提出の数・予告時間を変える場合）",
    },
    "run_grant_password": {
        "en": "Your password, for guesses on each target",
        "ja": "あなたのパスワード（攻撃対象ごとの推測を増やす場合）",
    },
    "run_owners_hint": {
        "en": "Once more, for what comes back together tells whose the targets are.",
        "ja": "ボードの行と攻撃対象が同時に戻り、どのチームのものか分かってしまうため、もう一度入力してください。",
    },
    "run_repair_hint": {
        "en": "Once more, for nobody can tell what the unreadable file kept back, or until when.",
        "ja": "読み取れないファイルが何をいつまで非公開にしていたか確認できないため、もう一度入力してください。",
    },
    "run_guess_hint": {
        "en": "Once more, for what guesses reveal cannot be taken back.",
        "ja": "推測で知られたことは取り消せないため、もう一度入力してください。",
    },
    "run_by_service": {"en": "Announced by the service itself.", "ja": "システムによるお知らせです。"},
    "run_notice_reveal_waits": {
        "en": "The secrets and the hidden scores wait until {hours} hours after this change was announced, unless the end as it stands now comes before that.",
        "ja": "秘密ファイルと非公開の得点は、この変更の通知から {hours} 時間後まで公開されません。ただし、現在の終了時刻の方が早ければ、その時刻に公開されます。",
    },
    "run_notice_said": {
        "en": "The new end of the last phase is announced to the teams at once.",
        "ja": "最後のフェーズの新しい終了時刻は、すぐにチームへ通知されます。",
    },
    "run_reveal_waits": {
        "en": "The end was moved nearer: this waits until its notice has run. Until then the end can still be moved.",
        "ja": "終了時刻が早められたため、予告期間が過ぎるまで待ちます。それまでは終了時刻を変更できます。",
    },
    "run_unwitnessed": {
        "en": "The clock has not signed this end yet; until it has, nothing is revealed. If this stays, its log says why.",
        "ja": "この終了時刻はまだ署名されていません。署名されるまで何も公開されません。続く場合は、クロックのログを確認してください。",
    },
    "run_unsigned": {
        "en": "Somebody without the service’s key has noted {n} ends as witnessed. They do not count. See end.unsigned in the log of acts, and tell the administrator.",
        "ja": "システムの鍵を持たない何者かが、終了時刻の記録を {n} 件書き込みました。これらは無効です。操作記録の end.unsigned を確認し、管理者に連絡してください。",
    },
    "run_notice_reveal_later": {
        "en": "Closing, scores and secrets come after the new end.",
        "ja": "終了処理と、得点・秘密ファイルの公開は、新しい終了時刻の後になります。",
    },
    "run_notice_scoring": {
        "en": "What was accepted is scored as ever.",
        "ja": "受付済みの提出の採点は続きます。",
    },
    "run_notice_shorter": {
        "en": "Teams ({n}) have less time than they were told. Who planned on the old end will miss it.",
        "ja": "全 {n} チームの残り時間が、告知済みのものより短くなります。元の締切に合わせて準備していたチームは間に合わなくなります。",
    },
    "run_notice_taken": {"en": "Uploads are taken in again at once.", "ja": "すぐに受付が再開します。"},
    "run_notice_tell": {
        "en": "Nobody is told by the service. Tell the teams:",
        "ja": "チームへの通知は自動では行われません。お知らせで伝えてください：",
    },
    "run_notice_turn_later": {
        "en": "Finals are frozen and targets published after the new end.",
        "ja": "最終提出の確定と攻撃対象の公開は、新しい終了時刻の後になります。",
    },
    "run_now": {"en": "Now", "ja": "現在"},
    "run_oldest": {"en": "Longest wait", "ja": "最長の待ち時間"},
    "run_owners": {"en": "Whose a target could be", "ja": "攻撃対象の持ち主の候補"},
    "run_owners_coarser": {
        "en": "With {digits} decimals of U and E it would be {least}.",
        "ja": "U と E を小数点以下 {digits} 桁にすると {least} チームになります。",
    },
    "run_owners_few": {"en": "Targets below the least asked for", "ja": "下限を下回る攻撃対象"},
    "run_owners_known": {"en": "Targets with one possible owner", "ja": "候補が 1 チームの攻撃対象"},
    "run_owners_least": {"en": "Fewest possible owners", "ja": "候補数の最小"},
    "run_owners_no_coarser": {
        "en": "Fewer decimals of U and E would not make it more.",
        "ja": "U と E の桁数を減らしても増えません。",
    },
    "run_owners_note": {
        "en": "Counted of the built-in attackers’ scores. What was shown with more decimals before stays known, and a guess whose score is shown tells more.",
        "ja": "組み込みの攻撃の得点をもとに数えています。以前により多くの桁数で公開した値は知られたままです。得点を公開した推測からも手がかりが増えます。",
    },
    "run_owners_said": {
        "en": "Teams whose a target can be, for all that the boards show and anyone can compute of it. Targets: {targets}, of {teams} teams.",
        "ja": "ボードの内容と、攻撃対象から誰でも計算できる値に矛盾しないチームの数です（攻撃対象 {targets} 件、{teams} チーム）。",
    },
    "run_owners_then": {
        "en": "The finals are not taken yet: these would be the targets now.",
        "ja": "最終提出は未確定です。現時点で確定した場合の値です。",
    },
    "run_open": {"en": "Open", "ja": "受付中"},
    "run_pause_look": {"en": "Pause…", "ja": "一時停止…"},
    "run_pause_note": {
        "en": "A pause stops the competition’s clock: nothing is taken in until you resume it, and all deadlines move by its length.",
        "ja": "一時停止するとコンテストの時計が止まります。再開するまで提出を受け付けず、締切はすべてその分だけ延びます。",
    },
    "run_paused_since": {"en": "Paused since", "ja": "一時停止の開始："},
    "run_phase": {"en": "Phase", "ja": "フェーズ"},
    "run_phases_note": {
        "en": "Nothing changes before you have seen what it does.",
        "ja": "変更の前に、必ず影響を確認できます。",
    },
    "run_preview": {"en": "See what it would do", "ja": "影響を確認する"},
    "run_preview_extend": {"en": "Move the end", "ja": "終了時刻の変更"},
    "run_preview_pause": {"en": "Pause", "ja": "一時停止"},
    "run_preview_resume": {"en": "Resume", "ja": "再開"},
    "run_resume_look": {"en": "Resume…", "ja": "再開…"},
    "run_resume_note": {
        "en": "The competition’s clock stands still. Resuming moves the end by the length of the pause.",
        "ja": "コンテストの時計は止まっています。再開すると、終了時刻は停止していた時間だけ延びます。",
    },
    "run_settling_waits": {"en": "Waiting for: {n}.", "ja": "残り {n} 件です。"},
    "run_stands": {"en": "Where it stands", "ja": "現在の状況"},
    "run_start": {"en": "Start", "ja": "開始"},
    "run_starts_note": {
        "en": "A phase’s start is changed in the set-up:",
        "ja": "フェーズの開始時刻は設定画面で変更します：",
    },
    "run_state": {"en": "State", "ja": "状態"},
    "run_stop_clock": {"en": "The clock", "ja": "時計"},
    "run_submissions": {"en": "Submissions", "ja": "提出"},
    "run_targets": {"en": "Targets", "ja": "攻撃対象"},
    "run_teams": {"en": "Teams", "ja": "チーム"},
    "run_then": {"en": "Then", "ja": "変更後"},
    "run_todo": {"en": "To do", "ja": "対応が必要なこと"},
    "run_turn_close": {
        "en": "The contest closes; every score becomes visible.",
        "ja": "コンテストが終了し、すべての得点が公開されます。",
    },
    "run_turn_freeze": {
        "en": "Finals are frozen: up to {n} of each team.",
        "ja": "最終提出が確定します（1 チーム最大 {n} 件）。",
    },
    "run_turn_judge": {
        "en": "Guesses that came in time are scored.",
        "ja": "期限までに届いた推測を採点します。",
    },
    "run_turn_publish": {"en": "The targets are made and published.", "ja": "攻撃対象を作成し、公開します。"},
    "run_turn_reveal": {
        "en": "The secrets of the targets are revealed.",
        "ja": "攻撃対象の秘密ファイルを公開します。",
    },
    "run_turn_settle": {"en": "What came in time is scored.", "ja": "期限までに届いた提出を採点します。"},
    "run_turned": {"en": "Ended", "ja": "終了済み"},
    "run_turned_note": {
        "en": "What was frozen stays frozen: this phase cannot be changed any more.",
        "ja": "確定した内容は変わりません。このフェーズはもう変更できません。",
    },
    "run_unmoved": {"en": "Unchanged", "ja": "変更なし"},
    "run_windows": {"en": "The phases before and after", "ja": "変更前後の期間"},
    "run_zone": {"en": "Times are those of {zone}.", "ja": "時刻は {zone} のものです。"},
}
