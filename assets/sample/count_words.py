"""Counts the words of the file that the call brought along."""
import json
import os
import sys

with open(os.environ["WORKFLOW_INPUT"], encoding="utf-8") as file:
    document = json.load(file)["document"]
with open(document, encoding="utf-8", errors="replace") as file:
    words = file.read().split()
print("::progress " + json.dumps({"done": 1, "total": 1, "message": "counted"}))
print(f"{len(words)} words", file=sys.stderr)
with open(os.environ["WORKFLOW_OUTPUT"], "w", encoding="utf-8") as file:
    json.dump({"output": {"words": len(words)}}, file)
