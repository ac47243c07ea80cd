#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: schema_test.py TUTTI_TUNE SCHEMA CORPUS [MORE_GOOD_FILES...]

The schema and the reader agree about every file of the corpus: good files pass both, bad ones
neither; what is beyond a schema's means (duplicate keys, names of parameters) the reader alone
refuses.
"""
import json
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

tune, schema_file, corpus = sys.argv[1:4]
schema = json.loads(pathlib.Path(schema_file).read_text())
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
failures = []


def says_schema(path):
    return validator.is_valid(json.loads(path.read_text()))


def says_reader(path):
    command = [tune, "check", "--any-machine", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode == 0:
        return True
    if done.returncode != 2 or f"{path}:" not in done.stderr:
        failures.append(f"{path}: status {done.returncode}, stderr {done.stderr!r}")
    return False


def expect(path, schema_wanted, reader_wanted):
    found = (says_schema(path), says_reader(path))
    if found != (schema_wanted, reader_wanted):
        failures.append(f"{path}: schema and reader say {found}, "
                        f"expected {(schema_wanted, reader_wanted)}")


count = 0
for folder, schema_wanted, reader_wanted in [
        ("good", True, True), ("bad", False, False), ("beyond_schema", True, False)]:
    for path in sorted(pathlib.Path(corpus, folder).glob("*.json")):
        expect(path, schema_wanted, reader_wanted)
        count += 1
for name in sys.argv[4:]:
    expect(pathlib.Path(name), True, True)
    count += 1

print(*failures, sep="\n")
print(f"{count} files, {len(failures)} failures")
sys.exit(1 if failures or count < 40 else 0)
