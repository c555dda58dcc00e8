"""What the feature adds to the application."""

from app.core.features import Feature
from app.originals import allocation_api

FEATURE = Feature(
    api=(allocation_api.router,),
    tags={
        "allocations": "Data that the service allocates to teams with a committed seed, and the"
        " organizers' files for it."
    },
)
