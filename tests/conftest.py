"""What holds for every test: how hypothesis draws."""

import os

from hypothesis import settings

# A machine under load is no fault of what is tested.
settings.register_profile("default", deadline=None)
# The same examples each time: what passes today passes tomorrow, and what fails can be repeated.
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))
