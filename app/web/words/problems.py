"""Why something was refused, by the code of the domain error: what many pages may have to say."""

WORDS: dict[str, dict[str, str]] = {
    "problem_board_not_open": {
        "en": "This board is not open to you yet.",
        "ja": "このボードはまだ公開されていません。",
    },
    "problem_busy": {
        "en": "Many uploads are being taken in right now. Send it again in a moment; this attempt does not count.",
        "ja": "現在、多くの提出を受け付けています。少し待ってから、もう一度送信してください（送信回数には数えられません）。",
    },
    "problem_comment": {
        "en": "A comment is text of at most 1,000 characters.",
        "ja": "コメントは 1,000 文字以内のテキストにしてください。",
    },
    "problem_cross_site": {
        "en": "This form came from another site. Open the page here and send it again.",
        "ja": "別のサイトから送信されたフォームです。このサイトでページを開き直して送信してください。",
    },
    "problem_competition_unavailable": {
        "en": "This version of the service cannot read the competition’s file. Nothing is lost: its organizers can read the file and replace it.",
        "ja": "このバージョンのサービスでは、コンテストの設定ファイルを読み取れません。データは失われていません。主催者が設定ファイルを確認し、差し替えることができます。",
    },
    "problem_database_unavailable": {
        "en": "The service cannot be reached right now. Try again in a moment.",
        "ja": "サービスに一時的に接続できません。しばらくしてからもう一度お試しください。",
    },
    "problem_disqualified": {
        "en": "Your team has been disqualified. Ask the organizers.",
        "ja": "あなたのチームは失格となっています。主催者にお問い合わせください。",
    },
    "problem_finished": {
        "en": "The submission has ended already.",
        "ja": "この提出はすでに完了しています。",
    },
    "problem_idempotency_key_reused": {
        "en": "This form has been sent before with other files. Choose the files again and send.",
        "ja": "このフォームはすでに別のファイルで送信されています。ファイルを選び直して送信してください。",
    },
    "problem_malformed_upload": {
        "en": "The files cannot be taken in. Nothing was submitted; the attempt counts.",
        "ja": "ファイルを受け付けられませんでした。提出にはなりませんが、送信回数には数えられます。",
    },
    "problem_no_original": {
        "en": "The competition has no original data yet.",
        "ja": "このコンテストの元データはまだ公開されていません。",
    },
    "problem_not_administrator": {
        "en": "Only administrators do this.",
        "ja": "この操作は管理者だけが行えます。",
    },
    "problem_not_valid": {
        "en": "A submission that was rejected, cancelled or not scored cannot be a final.",
        "ja": "却下・取消・システムエラーとなった提出は最終提出に選べません。",
    },
    "problem_quota_used_up": {
        "en": "Your team has used up its quota for now. See below when it resets.",
        "ja": "提出枠の上限に達しています。いつ戻るかは下の表示をご覧ください。",
    },
    "problem_rescore_applied": {
        "en": "This set has been applied already.",
        "ja": "この再採点はすでに適用されています。",
    },
    "problem_rescore_cancelled": {
        "en": "This set has been cancelled.",
        "ja": "この再採点は取り消されています。",
    },
    "problem_rescore_ready": {
        "en": "This set has scored everything: apply or cancel it.",
        "ja": "この再採点は採点が終わっています。適用するか取り消してください。",
    },
    "problem_sealing_unavailable": {
        "en": "The service cannot seal secrets right now. Try again later; this attempt does not count.",
        "ja": "現在、秘密ファイルを封印できません。時間をおいてもう一度お試しください（送信回数には数えられません）。",
    },
    "problem_file_damaged": {
        "en": "A stored file is damaged and is not shown. Tell the organizers.",
        "ja": "保存されたファイルが壊れているため、表示できません。主催者にお知らせください。",
    },
    "problem_file_lost": {
        "en": "A stored file is missing. Tell the organizers.",
        "ja": "保存されたファイルが見つかりません。主催者にお知らせください。",
    },
    "problem_storage_unavailable": {
        "en": "The file could not be stored. Try again; this attempt does not count.",
        "ja": "ファイルを保存できませんでした。もう一度お試しください（送信回数には数えられません）。",
    },
    "problem_too_late": {
        "en": "It came in time, but receiving it took so long that the phase has turned meanwhile.",
        "ja": "締切前に送信が始まりましたが、受信に時間がかかり、その間にフェーズが切り替わりました。",
    },
    "problem_too_many_finals": {
        "en": "All finals are chosen already. Unmark one first.",
        "ja": "最終提出はすでに上限まで選ばれています。先に 1 つ外してください。",
    },
}
