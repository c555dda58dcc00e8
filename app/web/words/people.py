"""Accounts, invites, passwords, teams."""

WORDS: dict[str, dict[str, str]] = {
    "account": {"en": "Your account", "ja": "アカウント"},
    "alone_in_team": {
        "en": "You are the only member. A team keeps at least one, so you can leave it once somebody else has joined.",
        "ja": "メンバーはあなただけです。チームには 1 人以上が必要なため、ほかの人が参加するまで脱退できません。",
    },
    "back": {"en": "Back", "ja": "戻る"},
    "change_password": {"en": "Change password", "ja": "パスワードの変更"},
    "change_password_note": {
        "en": "All your tokens and your sessions in other browsers end with the old password.",
        "ja": "変更すると、すべてのトークンと他のブラウザーのセッションが無効になります。",
    },
    "copied": {"en": "Copied", "ja": "コピーしました"},
    "copy_it": {"en": "Copy", "ja": "コピー"},
    "days": {"en": "days", "ja": "日間"},
    "done_joined": {
        "en": "You are in. Read the rules and download the data; your releases are sent from this page.",
        "ja": "参加登録が完了しました。ルールを確認し、元データを入手してください。匿名化データはこのページから提出します。",
    },
    "done_member_removed": {
        "en": "The member is out of the team, and the team’s invites have ended.",
        "ja": "メンバーをチームから外しました。発行済みの招待はすべて無効になりました。",
    },
    "done_password_changed": {
        "en": "The new password is set. All other tokens and sessions have ended.",
        "ja": "パスワードを変更しました。ほかのトークンとセッションは無効になりました。",
    },
    "done_password_set": {
        "en": "The new password is set. Sign in with it.",
        "ja": "新しいパスワードを設定しました。そのパスワードでサインインしてください。",
    },
    "done_team_left": {"en": "You have left the team.", "ja": "チームから脱退しました。"},
    "done_token_revoked": {"en": "The token has ended.", "ja": "トークンを無効にしました。"},
    "end_session": {"en": "Sign out there", "ja": "サインアウトさせる"},
    "ends_at": {"en": "Ends", "ja": "有効期限"},
    "forgot_password": {"en": "Password forgotten?", "ja": "パスワードを忘れた場合"},
    "forgot_password_note": {
        "en": "Ask an organizer of your competition for a link that sets a new one. It works once, for 48 hours.",
        "ja": "コンテストの主催者に、再設定用のリンクの発行を依頼してください。リンクは 48 時間以内に 1 回だけ使えます。",
    },
    "found_team": {"en": "Create the team", "ja": "チームを作成する"},
    "go_on": {"en": "Continue", "ja": "次へ"},
    "have_account": {"en": "Do you have an account already?", "ja": "すでにアカウントをお持ちの場合は"},
    "i_organize": {"en": "You organize", "ja": "主催しているコンテスト"},
    "invite_code": {"en": "Invite code", "ja": "招待コード"},
    "invite_colleague": {"en": "Invite a colleague", "ja": "メンバーを招待"},
    "invite_colleague_note": {
        "en": "Whoever opens the link joins your team, sees all its results and can act for it. Give it to nobody else.",
        "ja": "リンクを開いた人はチームに参加し、すべての結果を閲覧して、チームとして操作できるようになります。招待する相手以外には渡さないでください。",
    },
    "invite_life": {
        "en": "Good for {uses} people, for {days} days.",
        "ja": "{uses} 人まで、{days} 日間有効です。",
    },
    "invite_made": {"en": "Your invite", "ja": "招待リンク"},
    "invite_note": {
        "en": "People join by invite. An organizer gives you a code for a new team, a colleague one for theirs. Paste it here.",
        "ja": "参加には招待が必要です。新しいチームのコードは主催者から、既存チームのコードはそのメンバーから受け取り、ここに入力してください。",
    },
    "invite_uses": {"en": "How many people", "ja": "招待する人数"},
    "invited_into_team": {"en": "You are invited into the team", "ja": "次のチームに招待されています："},
    "invited_to_found": {
        "en": "You are invited to take part with a new team:",
        "ja": "新しいチームでの参加に招待されています：",
    },
    "join": {"en": "Join a competition", "ja": "コンテストに参加"},
    "join_problem_in_a_team": {
        "en": "You are in a team of this competition already.",
        "ja": "このコンテストではすでにチームに参加しています。",
    },
    "join_problem_organizes_it": {
        "en": "An organizer of a competition is in none of its teams.",
        "ja": "主催者は自分のコンテストのチームに参加できません。",
    },
    "join_problem_team_name_taken": {
        "en": "This competition has a team of that name, or of one that looks like it. Choose another.",
        "ja": "同じ名前、または見分けのつかない名前のチームがすでにあります。別の名前にしてください。",
    },
    "join_team": {"en": "Join the team", "ja": "チームに参加する"},
    "join_with_code": {"en": "Join with an invite code", "ja": "招待コードで参加"},
    "leave": {"en": "Leave", "ja": "脱退"},
    "leave_note": {
        "en": "You will not see its submissions and results any more. Only a new invite brings you back.",
        "ja": "このチームの提出や結果は閲覧できなくなります。戻るには新しい招待が必要です。",
    },
    "leave_question": {"en": "Leave “{team}”?", "ja": "「{team}」から脱退しますか？"},
    "made_at": {"en": "Made", "ja": "作成"},
    "make_invite": {"en": "Make a link", "ja": "リンクを作成"},
    "make_token": {"en": "Make the token", "ja": "トークンを作成"},
    "members": {"en": "Members", "ja": "メンバー"},
    "my_competitions": {"en": "Your competitions", "ja": "参加中のコンテスト"},
    "new_here": {"en": "New here?", "ja": "はじめての方"},
    "new_here_note": {
        "en": "You need an invite from an organizer or from a colleague’s team.",
        "ja": "主催者またはチームのメンバーからの招待が必要です。",
    },
    "new_password": {"en": "New password", "ja": "新しいパスワード"},
    "new_team_name": {"en": "Name of your team", "ja": "チーム名"},
    "new_team_note": {
        "en": "It is shown on the boards. 1 to 100 characters of any script.",
        "ja": "ボードに表示されます。1〜100 文字（日本語可）。",
    },
    "new_token": {"en": "Make a new token", "ja": "新しいトークンを作成"},
    "no_teams": {
        "en": "You take part in no competition yet. You can join one with an invite code.",
        "ja": "まだどのコンテストにも参加していません。招待コードを入力すると参加できます。",
    },
    "no_tokens": {
        "en": "You have no token. The command line makes one when you sign in with it; make one here for scripts.",
        "ja": "トークンはまだありません。コマンドラインではサインイン時に自動で作成されます。スクリプト用にはここで作成してください。",
    },
    "old_password": {"en": "Current password", "ja": "現在のパスワード"},
    "old_password_wrong": {"en": "The current password is wrong.", "ja": "現在のパスワードが違います。"},
    "own_name": {"en": "Your name", "ja": "あなたの名前"},
    "own_name_note": {
        "en": "You sign in with it; your team and the organizers see it.",
        "ja": "サインインに使います。チームのメンバーと主催者に表示されます。",
    },
    "password_code": {"en": "Code of the link", "ja": "リンクのコード"},
    "password_code_note": {
        "en": "Open the link that you were given, or paste its code. It works once; an organizer makes a new one.",
        "ja": "受け取ったリンクを開くか、コードを入力してください。1 回だけ使えます。使えない場合は主催者に再発行を依頼してください。",
    },
    "password_note": {"en": "8 to 256 characters.", "ja": "8〜256 文字です。"},
    "problem_another_team": {
        "en": "This invite leads into another team.",
        "ja": "この招待は別のチームのものです。",
    },
    "problem_invalid_code": {
        "en": "This code is unknown, used or expired.",
        "ja": "このコードは無効か、使用済みか、期限切れです。",
    },
    "problem_invalid_invite": {
        "en": "This invite is unknown, used up or expired. Ask for a new one.",
        "ja": "この招待は無効か、使用済みか、期限切れです。新しい招待を依頼してください。",
    },
    "problem_invalid_request": {
        "en": "This form cannot be read. Check what you typed.",
        "ja": "フォームの内容を読み取れません。入力内容を確認してください。",
    },
    "problem_last_member": {
        "en": "The last member cannot leave a team.",
        "ja": "最後のメンバーは脱退できません。",
    },
    "problem_name_blank": {
        "en": "A name can be seen: give it a letter, a digit or a sign.",
        "ja": "見えない名前は使えません。文字・数字・記号を入れてください。",
    },
    "problem_name_characters": {
        "en": "A name has no control characters and no blank ones.",
        "ja": "名前に制御文字や不可視文字は使えません。",
    },
    "problem_name_length": {
        "en": "A name has 1 to 100 characters.",
        "ja": "名前は 1〜100 文字で入力してください。",
    },
    "problem_name_taken": {
        "en": "This name is taken, or one that looks like it. Choose another.",
        "ja": "この名前、または見分けのつかない名前がすでに使われています。別の名前にしてください。",
    },
    "problem_not_in_a_team": {
        "en": "You are in no team of this competition.",
        "ja": "このコンテストのチームに参加していません。",
    },
    "problem_password_length": {
        "en": "A password has 8 to 256 characters.",
        "ja": "パスワードは 8〜256 文字で入力してください。",
    },
    "problem_scope_missing": {
        "en": "This sign-in may not do that.",
        "ja": "このサインインではその操作は許可されていません。",
    },
    "problem_team_needed": {
        "en": "Give your new team a name.",
        "ja": "新しいチームの名前を入力してください。",
    },
    "problem_unknown_scope": {
        "en": "Choose at least one right for the token.",
        "ja": "トークンの権限を 1 つ以上選んでください。",
    },
    "remove": {"en": "Remove", "ja": "外す"},
    "remove_note": {
        "en": "They will not see the team’s submissions and results any more. All invites of the team end, for they may know them.",
        "ja": "この人はチームの提出や結果を閲覧できなくなります。招待リンクを知っている可能性があるため、発行済みの招待はすべて無効になります。",
    },
    "remove_question": {
        "en": "Remove {person} from “{team}”?",
        "ja": "{person} さんを「{team}」から外しますか？",
    },
    "revoke": {"en": "Revoke", "ja": "無効にする"},
    "scope_note_organize": {
        "en": "run the competitions you organize",
        "ja": "主催するコンテストの運営操作",
    },
    "scope_note_read": {"en": "see what you see", "ja": "あなたが閲覧できる情報の取得"},
    "scope_note_submit": {
        "en": "send submissions and guesses, act for your team",
        "ja": "提出・推測の送信、チームとしての操作",
    },
    "scope_organize": {"en": "organize", "ja": "運営"},
    "scope_read": {"en": "read", "ja": "閲覧"},
    "scope_submit": {"en": "submit", "ja": "提出"},
    "sessions": {"en": "Browsers", "ja": "ブラウザーのセッション"},
    "sessions_note": {
        "en": "Where you are signed in. If you do not know one of them, sign out there and change your password.",
        "ja": "サインイン中のブラウザーです。心当たりのないものはサインアウトさせ、パスワードを変更してください。",
    },
    "set_password": {"en": "Set the password", "ja": "パスワードを設定"},
    "set_password_note": {
        "en": "All your tokens and sessions end; then you sign in with the new one.",
        "ja": "設定すると、すべてのトークンとセッションが無効になります。新しいパスワードでサインインし直してください。",
    },
    "show_password": {"en": "Show", "ja": "表示"},
    "shown_once": {
        "en": "Copy it now: it is shown only this once.",
        "ja": "今すぐコピーしてください。再表示はできません。",
    },
    "sign_up": {"en": "Create an account", "ja": "アカウント作成"},
    "sign_up_and_found": {
        "en": "Create the account and the team",
        "ja": "アカウントとチームを作成する",
    },
    "sign_up_and_join": {
        "en": "Create the account and join",
        "ja": "アカウントを作成して参加する",
    },
    "signed_in_at": {"en": "Signed in", "ja": "サインイン日時"},
    "team_disqualified": {
        "en": "Your team has been disqualified. Ask the organizers.",
        "ja": "あなたのチームは失格となっています。主催者にお問い合わせください。",
    },
    "this_browser": {"en": "This browser", "ja": "このブラウザー"},
    "this_one": {"en": "This one", "ja": "使用中"},
    "to_do": {"en": "Action", "ja": "操作"},
    "token_life": {"en": "Ends after", "ja": "有効期間"},
    "token_made": {"en": "Your new token", "ja": "新しいトークン"},
    "token_name": {"en": "Name of the token", "ja": "トークン名"},
    "token_name_note": {
        "en": "A name that you will know it by, such as “laptop”.",
        "ja": "用途がわかる名前にしてください（例：研究室 PC）。",
    },
    "token_scopes": {"en": "Rights", "ja": "権限"},
    "tokens": {"en": "API tokens", "ja": "API トークン"},
    "tokens_note": {
        "en": "A script or the command line shows a token instead of your password.",
        "ja": "スクリプトやコマンドラインは、パスワードの代わりにトークンを使います。",
    },
    "you_join_as": {"en": "You join as", "ja": "参加者："},
    "unsent": {
        "en": "Your session had ended: nothing was sent. Sign in and send the form again; files must be chosen again.",
        "ja": "セッションの有効期限が切れていたため、何も送信されていません。サインインし、もう一度送信してください（ファイルは選び直しが必要です）。",
    },
}
