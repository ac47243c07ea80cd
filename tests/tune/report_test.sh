#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# report_test.sh TUTTI_TUNE SOURCE_FILE OUT_FOLDER: the report in a real browser, without network.
set -euo pipefail
tune=$1 file=$2 out=$3
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
page=$out/report.html
"$tune" report "$file" -o "$page" 2>"$out/err.txt" || {
  cat "$out/err.txt"
  grep -q 'without Chart.js' "$out/err.txt" && skip "built without Chart.js"
  fail "no report"
}
# Nothing is fetched: the only addresses are in comments and in the library's own texts.
grep -qiE '<(script|link|img)[^>]*(src|href)=' "$page" && fail "the page fetches something"
grep -q 'Permission is hereby granted' "$page" || fail "the library's licence is missing"

profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
see() {
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$profile" \
    --host-resolver-rules='MAP * ~NOTFOUND' --window-size=1000,2600 "$@" "file://$page"
}
see --dump-dom >"$out/dom.html" 2>"$out/browser.txt" || fail "the browser failed"
grep -q 'data-charts="2"' "$out/dom.html" || fail "not all charts were drawn: see $out"
for text in 'allreduce f32 sum private memory, 2 PEs, near' 'AMD EPYC' '12 elements' 'one_shot'; do
  grep -q "$text" "$out/dom.html" || fail "the page does not show '$text'"
done
see --screenshot="$out/report.png" >/dev/null 2>>"$out/browser.txt" || fail "no screenshot"
see --print-to-pdf="$out/report.pdf" >/dev/null 2>>"$out/browser.txt" || fail "no print"
[ "$(stat -c %s "$out/report.png")" -gt 20000 ] || fail "the screenshot is empty"
echo "see $out/report.png"
