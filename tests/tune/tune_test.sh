#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tune_test.sh TUTTI_TUNE SCHEMA_TEST SCHEMA CORPUS ON|OFF: the way from a sweep to a report, with PEs
# that are threads, and what happens to a sweep that is interrupted. ON: also under mpirun.
set -euo pipefail
tune=$1 schema_test=$2 schema=$3 corpus=$4 mpi=$5
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export TUTTI_PES=2 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# status WANTED COMMAND...: runs it and compares its exit status; "0|1" allows both.
status() {
  local wanted=$1 got=0
  shift
  "$@" >out.txt 2>err.txt || got=$?
  [[ $got =~ ^($wanted)$ ]] || {
    cat out.txt err.txt
    fail "$* ended with $got, expected $wanted"
  }
}
has() { grep -q -- "$2" "$1" || { cat "$1"; fail "$1 does not say '$2'"; }; }

echo "== a sweep writes a file that is well-formed, and resuming measures what is missing"
small=(--collectives allreduce,broadcast --memory private --min 64 --max 64K --cycles same,rotate --budget 4s)
status 0 "$tune" sweep "${small[@]}" --out a.json
has err.txt 's left'
points=$(grep -c '"candidates"' a.json)
for ((i = 0; i < 15; ++i)); do # a busy machine needs more than one budget
  grep -q '"complete": true' a.json && break
  status 0 "$tune" sweep "${small[@]}" --resume --out a.json
done
has a.json '"complete": true'
[ "$(grep -c '"candidates"' a.json)" -ge "$points" ] || fail "points were lost"
status 0 "$tune" check a.json
has a.json '"status": "skipped"\|"status": "measured"'
python3 "$schema_test" "$tune" "$schema" "$corpus" "$dir/a.json" || [ $? = 77 ]

echo "== verify, regret and explain take it"
status '0|1' "$tune" verify a.json --seconds 1s
has out.txt 'rules measured'
status '0|1' "$tune" regret a.json --seconds 3s
has out.txt 'held-out points'
status 0 "$tune" explain allreduce --bytes 4096 --tuning a.json
has out.txt '^problem     allreduce of 4096 bytes'
has out.txt '^chosen by   \(file: a.json:\|built-in: \)'
grep -q 'not used' out.txt && fail "the file of this machine is not used"

echo "== a file does not differ from itself"
status 0 "$tune" diff a.json a.json
has out.txt '^0 kinds and ranges of calls change$'
status 0 "$tune" compare a.json a.json
has out.txt 'no difference shown'

echo "== an interrupted sweep leaves a valid partial file"
"$tune" sweep --budget 10m --out b.json 2>progress.txt &
sweep=$!
until grep -q left progress.txt; do kill -0 $sweep && sleep 0.1; done
kill -INT $sweep
wait $sweep || fail "an interrupted sweep ended with $?"
status 0 "$tune" check b.json
has b.json '"complete": false'
status '0|1' "$tune" diff a.json b.json

if command -v mpirun >/dev/null && [ "$mpi" = ON ]; then
  echo "== and so does one under mpirun"
  env -u TUTTI_PES mpirun -n 2 --oversubscribe --bind-to none "$tune" sweep --budget 10m \
    --collectives allreduce --memory private --out m.json 2>progress.txt >m.txt &
  sweep=$!
  # On a busy machine the first sizes may have too few steady rounds.
  until grep -qs '"points"' m.json; do kill -0 $sweep && sleep 0.1; done
  kill -INT $sweep
  ! wait $sweep || fail "mpirun says nothing of its end"
  status 0 "$tune" check m.json
  has m.json '"complete": false'
  has m.json '"points"'
fi

echo "== check warns of a rule that ends where it is twice as fast as what follows"
cat >cliff.json <<'END'
{"tutti_tuning": 1, "rules": [
 {"collective": "allreduce", "pes": [2, 2], "bytes": [1024, 32768], "algorithm": "two_shot",
  "evidence": {"bytes": 32768, "median_us": 10, "ci95_us": [9.9, 10.1], "rounds": 30, "vs_builtin": 2.0}}]}
END
status 0 "$tune" check cliff.json
has out.txt 'cliff: .*at 32772 bytes one_shot takes 2.00 .* times as long as two_shot one element below'

echo "== candidates are tried apart"
status 0 "$tune" try allreduce --bytes 4096 one_shot ring
has out.txt 'begin ring'
[ "$(grep -c right out.txt)" = 2 ] || fail "not both are right"

echo "== what is wrong on a command line or in a file ends with 2"
status 2 "$tune" sweep --budget 0s --out c.json
status 2 "$tune" sweep --cycles same,hot --out c.json
status 2 "$tune" sweep --pes 3 --out c.json
status 2 "$tune" try allreduce --bytes 4096 one_shoot
status 2 "$tune" verify /no/such/file
status 2 "$tune" diff a.json
status 2 "$tune" compare a.json "$corpus/good/minimal.json"
status 2 "$tune" regret "$corpus/good/minimal.json"
sed 's/"cores": [0-9]*/"cores": 9999/' a.json >elsewhere.json
for command in verify regret; do
  status 2 "$tune" $command elsewhere.json --seconds 1s
  has err.txt 'elsewhere.json was measured on another machine: .*cores.*9999'
done
[ ! -e c.json ] || fail "a refused sweep wrote a file"
echo "all well"
