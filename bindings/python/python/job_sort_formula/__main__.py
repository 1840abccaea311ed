"""``python -m job_sort_formula …`` is ``jsf …``: the command that the wheel installs beside Python, or else the one on the path."""

import os
import shutil
import sys
import sysconfig

beside = os.path.join(sysconfig.get_path("scripts"), "jsf")
command = beside if os.access(beside, os.X_OK) else shutil.which("jsf")
if command is None:
    sys.exit(f"the command `jsf` is neither in `{os.path.dirname(beside)}` nor on the path")
os.execv(command, [command, *sys.argv[1:]])
