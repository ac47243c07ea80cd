#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# report_test.sh TUTTI_TUNE TUNING_FILE BENCH_JSON OUT_FOLDER: both kinds of report in a real browser,
# without network.
set -euo pipefail
tune=$1 tuning=$2 bench=$3 out=$4
skip() {
  echo "skipped: $*"
  exit 77
}
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  skip "no chromium (Debian package chromium)"
mkdir -p "$out"
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT

# look NAME FILE CHARTS TEXT...: the report of a file has so many charts and these texts.
look() {
  local page=$out/$1.html file=$2 charts=$3 seen=$out/$1
  shift 3
  "$tune" report "$file" -o "$page" 2>"$out/err.txt" || {
    cat "$out/err.txt"
    grep -q 'without Chart.js' "$out/err.txt" && skip "built without Chart.js"
    fail "no report of $file"
  }
  # Nothing is fetched: the only addresses are in comments and in the library's own texts.
  grep -qiE '<(script|link|img)[^>]*(src|href)=' "$page" && fail "the page fetches something"
  grep -q 'Permission is hereby granted' "$page" || fail "the library's licence is missing"
  see "$page" --dump-dom >"$seen.dom.html" 2>"$out/browser.txt" || fail "the browser failed"
  grep -q "data-charts=\"$charts\"" "$seen.dom.html" || fail "not all charts were drawn: see $out"
  for text; do
    grep -q "$text" "$seen.dom.html" || fail "the page does not show '$text'"
  done
  see "$page" --screenshot="$seen.png" >/dev/null 2>>"$out/browser.txt" || fail "no screenshot"
  see "$page" --print-to-pdf="$seen.pdf" >/dev/null 2>>"$out/browser.txt" || fail "no print"
  [ "$(stat -c %s "$seen.png")" -gt 20000 ] || fail "the screenshot is empty"
  echo "see $seen.png"
}
see() {
  local page=$1
  shift
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$profile" \
    --host-resolver-rules='MAP * ~NOTFOUND' --window-size=1000,2600 "$@" "file://$page"
}

look report "$tuning" 2 'allreduce f32 sum private memory, 2 PEs, near' 'AMD EPYC' '12 elements' \
  'one_shot'
look bench "$bench" 4 'Benchmark report' 'allreduce/f32/sum/private, near' \
  'allreduce/f32/sum/private, far' 'ring:' 'MPI us'
