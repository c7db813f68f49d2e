"""Says a line, and the next one when the file it waits for is there."""

import json
import pathlib
import sys
import time

wanted = json.load(sys.stdin).get("file", "go")
print("the first line", flush=True)
print("::progress " + json.dumps({"done": 1, "total": 3, "message": "waits"}), flush=True)
while not pathlib.Path(wanted).exists():
    time.sleep(0.02)
print("the last line", flush=True)
