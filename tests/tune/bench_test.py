# SPDX-License-Identifier: Apache-2.0
"""bench_test.py TUTTI_BENCH: the JSON of a short run on two thread PEs, and what is refused."""
import json
import os
import subprocess
import sys

BENCH = sys.argv[1]
ENVIRONMENT = dict(os.environ, TUTTI_PES="2")


def run(*args):
    return subprocess.run([BENCH, *args], capture_output=True, text=True, env=ENVIRONMENT, timeout=120)


def check(holds, what):
    if not holds:
        sys.exit(f"FAILED: {what}")


NAMES = ["allreduce/f32/sum/private/auto/bytes:8", "allreduce/f32/sum/private/auto/bytes:4096",
         "allreduce/f32/sum/private/ring/bytes:4096"]
pattern = "^allreduce/f32/sum/private/(auto/bytes:(8|4096)|ring/bytes:4096)$"
done = run(f"--benchmark_filter={pattern}", "--rounds=3", "--block_ms=1", "--benchmark_format=json")
check(done.returncode == 0, f"exit status {done.returncode}: {done.stderr}")
result = json.loads(done.stdout)
rows = {row["name"]: row for row in result["benchmarks"]}
check(sorted(rows) == sorted(NAMES), f"names: {sorted(rows)}")
for name, row in rows.items():
    for counter in ["touch_us", "line_ns", "algbw", "busbw", "bound_pct", "wrong", "time_lo", "time_hi"]:
        check(counter in row, f"{name} has no {counter}")
    check(row["wrong"] == 0, f"{name}: {row['wrong']} wrong elements")
    us = row["real_time"] / {"ns": 1e3, "us": 1, "ms": 1e-3}[row["time_unit"]]
    check(row["time_lo"] * 0.999e6 <= us <= row["time_hi"] * 1.001e6,
          f"{name}: the median {us} us is outside its interval: {row}")
check(rows[NAMES[2]]["label"].startswith("ring:"), f"label {rows[NAMES[2]]['label']}")

# What ran is what explain had said, and why it did is in the file.
for name in NAMES[:2]:
    record = result["context"][f"explain {name}"]
    algorithm = rows[name]["label"].split(":")[0].split(" ")[0]
    check(algorithm in record, f"{name} ran {algorithm}, and its record is\n{record}")
    check("built-in" in record, f"the record of {name} does not say who chose:\n{record}")
check("one_line" in result["context"][f"explain {NAMES[1]}"], "what was excluded is not named")
check(f"explain {NAMES[2]}" not in result["context"], "a forced choice is explained")

for wrong in [["--rounds=2"], ["--block_ms=0"], ["--cycle=hot"], ["--table=nothing"], ["--no-such-flag"]]:
    done = run(*wrong)
    check(done.returncode == 2, f"{wrong} ended with {done.returncode}: {done.stderr}")
    check("tutti: PE" in done.stderr, f"{wrong}: {done.stderr}")
print("all well")
