"""One entrypoint, served as one tool: any program can be one.

The parameters that package.json declares arrive as command-line arguments (and as JSON on standard
input). Lines on standard output are log lines; the report goes to the file that WORKFLOW_OUTPUT names.
"""

import argparse
import json
import os

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True)
parser.add_argument("--times", type=int, default=1)
arguments = parser.parse_args()

print("::phase Greet", flush=True)
greetings = []
for done in range(arguments.times):
    greetings.append(f"Hello, {arguments.name}!")
    print("::progress " + json.dumps({"done": done + 1, "total": arguments.times}), flush=True)

output = {"greeting": " ".join(greetings)}
report = os.environ.get("WORKFLOW_OUTPUT")
if report:
    with open(report, "w", encoding="utf-8") as file:
        json.dump({"output": output}, file)
else:
    print(json.dumps(output))
