"""Runs a command of which standard error is a terminal, presses Ctrl-C once when it shows a bar with some per cent, and
prints as JSON what was shown, what the command wrote to standard output, and its exit code."""

import json
import os
import pty
import signal
import subprocess
import sys
import threading

terminal, command_side = pty.openpty()
command = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=command_side)
os.close(command_side)
shown = b""


def watch():
    global shown
    is_pressed = False
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the command has closed the terminal
            return
        if not part:
            return
        shown += part
        if not is_pressed and b"simulating" in shown and b" %" in shown:
            is_pressed = True
            command.send_signal(signal.SIGINT)


watcher = threading.Thread(target=watch)
watcher.start()
output = command.stdout.read()
exit_code = command.wait()
watcher.join()
text = {"terminal": shown.decode(), "output": output.decode(), "exit_code": exit_code}
print(json.dumps(text))
