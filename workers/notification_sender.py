"""Send a notification through apprise, in a process of its own that ends at a limit of time.

Apprise bounds each read, but not a whole request: a server that sends single bytes would never end it.

usage: python -m workers.notification_sender LIMIT_S < NOTIFICATION
"""

import json
import signal
import subprocess
import sys

LIMIT_S = 30
"""Time limit of sending a notification, in whole seconds."""


def send(*, url: str, title: str, body: str) -> bool:
    """Send a notification, and return whether it was accepted. What apprise prints may contain the URL."""
    process = subprocess.run(  # noqa: S603  no shell, and no caller passes on what a user typed
        [sys.executable, "-m", "workers.notification_sender", str(LIMIT_S)],
        input=json.dumps({"url": url, "title": title, "body": body}).encode(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return process.returncode == 0


def main() -> int:
    signal.alarm(int(sys.argv[1]))
    import apprise  # noqa: PLC0415  # the process that delivers does not need it

    notification = json.load(sys.stdin)
    asset = apprise.AppriseAsset(app_id="anoncup", async_mode=False)
    service = apprise.Apprise.instantiate(notification["url"], asset=asset)
    if service is None:
        return 1
    service.overflow_mode = apprise.OverflowMode.SPLIT  # chats refuse a text that is too long
    is_sent = apprise.Apprise(service, asset=asset).notify(
        notification["body"], title=notification["title"], body_format=apprise.NotifyFormat.TEXT
    )
    return 0 if is_sent else 1


if __name__ == "__main__":
    sys.exit(main())
