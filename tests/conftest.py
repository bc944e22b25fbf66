"""What holds for every test: how hypothesis draws, and that programs that a test starts can be interrupted."""

import os
import signal

from hypothesis import settings

# A machine under load is no fault of what is tested.
settings.register_profile("default", deadline=None)
# The same examples each time: what passes today passes tomorrow, and what fails can be repeated.
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))

# Who starts tests in the background of a script lets them ignore Ctrl-C, and all that they start with them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
