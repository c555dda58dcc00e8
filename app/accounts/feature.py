"""What the feature adds to the application."""

from app.accounts import account_pages, api, people_pages, sign_in_pages
from app.core.features import Feature

FEATURE = Feature(
    api=(api.router,),
    pages=(account_pages.router, account_pages.mail_router, people_pages.router, sign_in_pages.router),
    tags={
        "accounts": "Sign-up, passwords and personal tokens.",
        "users": "Accounts of other people: administrators create them; organizers and administrators"
        " issue password links.",
    },
)
