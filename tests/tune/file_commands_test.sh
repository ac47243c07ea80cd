#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# file_commands_test.sh TUTTI_TUNE CORPUS: what the commands about files say, word by word. Nothing is
# measured.
set -euo pipefail
tune=$1 corpus=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset TUTTI_TUNING TUTTI_ALGORITHM

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# says STATUS TEXT COMMAND...: runs it; it ends with the status and says the text (a regular
# expression), on stderr if the status is 2.
says() {
  local wanted=$1 text=$2 got=0
  shift 2
  "$@" >out.txt 2>err.txt || got=$?
  [ "$got" = "$wanted" ] || {
    cat out.txt err.txt
    fail "$* ended with $got, expected $wanted"
  }
  local where=out.txt
  [ "$got" != 2 ] || where=err.txt
  grep -qE -- "$text" $where || {
    cat out.txt err.txt
    fail "$* does not say '$text'"
  }
}
also() { grep -qE -- "$1" out.txt || { cat out.txt; fail "... does not say '$1'"; }; }
never() { ! grep -qE -- "$1" out.txt || { cat out.txt; fail "... says '$1'"; }; }

rule='{"collective": "allreduce", "pes": [2, 2], "bytes": [1024, 8192], "algorithm": "two_shot"}'
echo '{"tutti_tuning": 1, "rules": ['"$rule"']}' >here.json
echo '{"tutti_tuning": 1, "machine": {"cores": 4711}, "rules": ['"$rule"']}' >elsewhere.json

echo "== explain answers with the file of this machine, in its range only"
ask=("$tune" explain allreduce --bytes 4096)
says 0 'chosen by +file: here.json:1 rules\[0\]' "${ask[@]}" --tuning here.json
also 'algorithm +two_shot:'
says 0 'chosen by +file: here.json' env TUTTI_TUNING=here.json "${ask[@]}"
says 0 'chosen by +built-in' "$tune" explain allreduce --bytes 16K --tuning here.json
says 0 'chosen by +built-in' "${ask[@]}" --pes 4 --tuning here.json

echo "== explain does not use a file of another machine, as the library would not"
says 0 'not used +elsewhere.json, measured on another machine: cores: 4711 in the file' \
  "${ask[@]}" --tuning elsewhere.json
also 'chosen by +built-in'
also 'algorithm +one_shot:'
says 0 'not used +elsewhere.json' env TUTTI_TUNING=elsewhere.json "${ask[@]}"
says 0 'chosen by +file: elsewhere.json' "${ask[@]}" --tuning elsewhere.json --any-machine
never 'not used'

echo "== explain can be asked the whole precedence"
says 0 'chosen by +call' env TUTTI_ALGORITHM=allreduce=ring "${ask[@]}" --tuning here.json \
  --algorithm two_shot:chunk_bytes=4K
also 'algorithm +two_shot:.*chunk_bytes=4096'
says 0 'chosen by +environment' env TUTTI_ALGORITHM=allreduce=ring "${ask[@]}" --tuning here.json
also 'algorithm +ring:'
says 2 "one_shoot.*did you mean 'one_shot'" "${ask[@]}" --algorithm one_shoot
says 2 'ring.* cannot solve .*ordered' "${ask[@]}" --algorithm ring --contract ordered

echo "== PEs of two nodes do not reach each other's memory"
says 0 'excluded +symmetric_push: needs peers that are reached' \
  "${ask[@]}" --pes 4 --nodes 2 --memory symmetric
says 0 'chosen by' "${ask[@]}" --pes 4 --memory symmetric
never 'excluded +symmetric_push'

echo "== explain refuses problems that there are not"
says 2 '--bytes 3: allreduce of f32 takes multiples of 4 bytes' "$tune" explain allreduce --bytes 3
says 2 '--bytes 20: allgather of f32 takes multiples of 12 bytes, an element for each of 3 PEs' \
  "$tune" explain allgather --pes 3 --bytes 20
says 0 '0 bytes' "$tune" explain allreduce --bytes 0
says 2 '--bytes 8: only 0 is allowed for alltoallv' "$tune" explain alltoallv --bytes 8
says 2 '--nodes 3: 2 PEs are on 1 to 2 nodes' "${ask[@]}" --nodes 3
says 2 '--nodes 2 --threads: ' "${ask[@]}" --nodes 2 --threads
says 2 '--op and --dtype f32: bitwise operations are for integers' "${ask[@]}" --op and
says 2 '--bytes 3: allreduce of f32' "$tune" try allreduce --bytes 3 ring

echo "== check says what a file is, whose it is, and where it has cliffs"
says 0 '^here.json: well-formed, 1 rules, 0 points$' "$tune" check here.json
also '^measured on this machine$'
says 1 "^measured on another machine: cores: 4711 in the file, [0-9]+ here$" \
  "$tune" check elsewhere.json
says 0 '^measured on another machine: ' "$tune" check elsewhere.json --any-machine
echo '{"tutti_tuning": 1, "rulez": []}' >bad.json
says 2 "bad.json:1:[0-9]+: .*'rulez'; did you mean 'rules'" "$tune" check bad.json

echo "== show says all of a rule and its evidence, and what failed"
says 0 '^measured 2026-01-31T12:00:00Z on AMD EPYC \(2 cores\), line 42 ns, tutti 0.1.0$' \
  "$tune" show "$corpus/good/sweep.json"
also '^rules\[1\] allreduce: PEs 2, nodes 1, bytes 65536 to 1048576, line ns 0 to 79, type f32, memory private, op sum, contract ordered$'
also '^    runs two_shot:.*chunk_bytes=16384,'
also '^    36 us \(34.9 to 37.4\) at 262144 bytes, 20 rounds; the built-in choice took 1.60 times as long; runner-up one_shot took 1.57 to 1.64 times as long$'
also '^rules\[2\] broadcast: PEs all, nodes all, bytes 65536 and more, line ns all, type all, memory all$'
also '^    no evidence$'
also 'allreduce +1024 B: ring wrong: 12 elements were wrong on PE 1'
says 0 'does not say where it was measured' "$tune" show here.json

echo "== diff says which calls change, with what gain, and whether bits may"
says 0 '^0 kinds and ranges of calls change$' "$tune" diff here.json here.json
cat >measured.json <<'END'
{"tutti_tuning": 1, "rules": [
 {"collective": "allreduce", "pes": [2, 3], "bytes": [4096, 8191], "dtype": "f32", "op": "sum",
  "memory": "private", "contract": "consistent", "line_ns": [0, 79], "algorithm": "ring"}],
 "points": [
 {"collective": "allreduce", "pes": 2, "bytes": 4096, "dtype": "f32", "op": "sum",
  "memory": "private", "contract": "consistent", "line_ns": 50, "rounds": 40, "dropped": 0,
  "bound_us": 0.5, "builtin": "one_shot", "candidates": [
   {"choice": "one_shot", "status": "measured", "regret": 3,
    "times_us": {"same": [4, 4, 4], "decode": [9, 9, 9]}},
   {"choice": "ring", "status": "measured", "regret": 1,
    "times_us": {"same": [2, 2, 2], "decode": [2, 2, 2]}}]}]}
END
echo '{"tutti_tuning": 1, "rules": []}' >none.json
says 1 '^allreduce +f32 +sum +private +consistent pes 2 nodes 1 near +bytes 4096\.\.8191$' \
  "$tune" diff none.json measured.json
also '^    one_shot:.* -> ring:'
also '^    expected 3.00 times as fast \(measured\)$'
also '^allreduce +f32 +sum +private +consistent pes 3 nodes 1 near +bytes 4096\.\.8191$'
also '\(predicted\); consistent results may have other bits$'
also 'pes 2 nodes 1 unknown bytes'
also '^4 kinds and ranges of calls change$'
never ' ordered '

echo "== compare compares what was measured under the same conditions and names the rest"
bench() { # LINE_NS TIME_US
  cat <<END
{"context": {"pes": "2", "cycle": "same", "rounds": "15"}, "benchmarks": [
 {"name": "allreduce/f32/sum/private/ring/bytes:64", "real_time": $2, "time_unit": "us",
  "time_lo": $2e-6, "time_hi": $2e-6, "line_ns": $1},
 {"name": "barrier", "real_time": 1, "time_unit": "us", "time_lo": 1e-6, "time_hi": 1e-6}]}
END
}
bench 45 2 >near.json
bench 60 4 >also_near.json
bench 200 4 >far.json
says 1 'allreduce/f32/sum/private/ring/bytes:64 pes:2/near/same: also_near.json takes 2.000 times' \
  "$tune" compare near.json also_near.json
also '1 of 2 results differ'
says 0 'not comparable: allreduce.*: pes:2/near/same in the first, pes:2/far/same in the second' \
  "$tune" compare near.json far.json
also 'no difference shown in 1 results'
never 'times as long'
says 2 'have no result in common' "$tune" compare near.json "$corpus/good/points.json"
says 0 'no difference shown in 2 results' "$tune" compare "$corpus/good/points.json" \
  "$corpus/good/points.json"

echo "== what cannot be read or written is named with the reason, and ends with 2"
mkdir folder
for command in check show report verify regret; do
  more=()
  [ $command != report ] || more=(-o page.html)
  says 2 '^tutti.*: folder: Is a directory' "$tune" $command folder "${more[@]}"
  says 2 '^tutti.*: gone.json: No such file' "$tune" $command gone.json "${more[@]}"
done
for command in diff compare; do
  says 2 '^tutti.*: folder: Is a directory' "$tune" $command folder near.json
  says 2 '^tutti.*: gone.json: No such file' "$tune" $command here.json gone.json
done
says 2 '^tutti.*: folder: Is a directory' "${ask[@]}" --tuning folder
says 2 '^tutti.*: folder: Is a directory' env TUTTI_TUNING=folder "${ask[@]}"
[ ! -e page.html ] || fail "a report of nothing"
echo '{"benchmarks": 3}' >broken.json
says 2 'broken.json: neither a tuning file nor a result of tutti-bench' "$tune" compare broken.json near.json

if "$tune" report here.json -o page.html >out.txt 2>err.txt; then
  echo "== a page goes to a file, through a link, or into a pipe"
  also '^page.html: 0 points, 1 rules$'
  grep -q '^</html>' page.html || fail "half a page"
  "$tune" report here.json -o /dev/stdout 2>err.txt | cat >piped.html
  cmp page.html piped.html || fail "the piped page is another one"
  ln -s linked.html link.html
  says 2 'no/page.html.*: No such file' "$tune" report here.json -o no/page.html
  echo old >linked.html
  says 0 'link.html: 0 points' "$tune" report here.json -o link.html
  cmp page.html linked.html && [ -L link.html ] || fail "the link was replaced"
  says 2 'folder: Is a directory' "$tune" report here.json -o folder
  [ -z "$(find . -name '*.tmp')" ] || fail "temporary files are left"
else
  grep -q 'without Chart.js' err.txt || fail "no report: $(cat err.txt)"
fi

echo "all well"
