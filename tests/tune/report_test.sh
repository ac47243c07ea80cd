#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# report_test.sh TUTTI_TUNE TUNING_FILE BENCH_JSON OUT_FOLDER: both kinds of report in a real browser,
# without network.
set -euo pipefail
tune=$1 tuning=$2 bench=$3 out=$4
here=$(cd "$(dirname "$0")" && pwd)
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
  see "$page" 1000,2600 --dump-dom >"$seen.dom.html" 2>"$out/browser.txt" || fail "the browser failed"
  grep -q "data-charts=\"$charts\"" "$seen.dom.html" || fail "not all charts were drawn: see $out"
  for text; do
    grep -q "$text" "$seen.dom.html" || fail "the page does not show '$text'"
  done
  see "$page" 1000,2600 --screenshot="$seen.png" >/dev/null 2>>"$out/browser.txt" || fail "no screenshot"
  see "$page" 1000,2600 --print-to-pdf="$seen.pdf" >/dev/null 2>>"$out/browser.txt" || fail "no print"
  [ "$(stat -c %s "$seen.png")" -gt 20000 ] || fail "the screenshot is empty"
  echo "see $seen.png"
  # The same page with a look into its charts, in a wide and in a narrow window.
  sed '$d' "$page" | sed '$d' >"$seen.probe.html" # all but </body> and </html>
  printf '<script>\n%s\n</script>\n</body>\n</html>\n' "$(cat "$here/report_probe.js")" >>"$seen.probe.html"
  for width in 1000 500; do
    see "$seen.probe.html" $width,2600 --dump-dom 2>>"$out/browser.txt" |
      sed -n 's/^PROBE //; t line; d; : line; s|</pre>.*||; p' >"$seen.probe.$width.txt"
    [ -s "$seen.probe.$width.txt" ] || fail "no look into the charts: see $out"
    ! grep -E 'BLANK|SQUASHED|NOT EXPLAINED' "$seen.probe.$width.txt" || fail "a chart is not right"
  done
  probe=$seen.probe.1000.txt
}
# charts LINE...: what the look into the charts of the last page wrote.
charts() {
  for line; do
    grep -qxF -- "$line" "$probe" || { cat "$probe"; fail "the charts do not have '$line'"; }
  done
}
no_chart() { ! grep -F -- "$1" "$probe" || fail "a chart has '$1'"; }
see() { # PAGE WINDOW OPTION...
  local page=$1 window=$2
  shift 2
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$profile" \
    --host-resolver-rules='MAP * ~NOTFOUND' --window-size="$window" "$@" "file://$page"
}

near='allreduce f32 sum private memory, consistent, 2 PEs, near'
far='allreduce f32 sum private memory, consistent, 2 PEs, far'
ordered='allreduce f32 sum private memory, ordered, 2 PEs, near'
look report "$tuning" 6 "$near" "$far" "$ordered" 'AMD EPYC' '12 elements' \
  'runner-up one_shot took 1.57 to 1.64 times as long' '(34.9 to 37.4) at 262144 bytes' \
  '<th[^>]*>nodes</th>' '<th[^>]*>op</th>' '<th[^>]*>contract</th>' '<td[^>]*>consistent</td>' \
  '<td[^>]*>ordered</td>' 'built-in / winner, all cycles'
time=': chart 0: ' # of each section
charts "$near${time}Time, mean over the cycles same, decode (band: 95 % interval); at the foot the winner over all cycles" \
  "$near${time}one_shot = 1.58 7.91 94.9" "$near${time}one_shot low = 1.53 7.67 92" \
  "$near${time}one_shot high = 1.64 8.22 98.7" "$near${time}two_shot = 2.06 7.91 56.9" \
  "$near${time}ring = - 15.8 190" "$near${time}MPI = 3.87 19.4 232" "$near${time}bound = 0.3 1.5 18" \
  "$near${time}3 colours of 3" "$near: choices mean same decode"
# The reader's choice of another cycle.
charts "$near${time}Time, cycle decode (band: 95 % interval); at the foot the winner over all cycles" \
  "$near${time}one_shot = 2.5 12.5 150" "$near: chart 1: MPI / winner = 2 2 3.33" \
  "$near: chart 1: built-in / winner = 1 1 1.67" "$near: chart 1: percent of bound = 12 12 20"
# Where a point lacks a cycle there is no mean: one cycle is shown, and the gap.
charts "$far${time}Time, cycle same (band: 95 % interval); at the foot the winner over all cycles" \
  "$far${time}one_shot = 2.5 12.5 150" "$far${time}one_shot = 6.25 - 375"
charts "$ordered${time}one_shot = 1.74 8.7 104" "$ordered${time}2 colours of 2"
no_chart "$ordered${time}ring"

near='allreduce/f32/sum/private, near'
far='allreduce/f32/sum/private, far'
look bench "$bench" 4 'Benchmark report' "$near" "$far" 'ring:' 'MPI us' 'what auto chose'
charts "$near${time}Time, cycle same (band: 95 % interval); at the foot the winner" \
  "$near${time}auto = 0.5 1.2 6" "$near: chart 1: auto / winner = 1 1 1" "$near${time}3 colours of 3"
# What only `auto` ran has an entry in the legend, also where its name has no parameters.
charts "$far${time}one_line (foot) = " "$far${time}ring (foot) = " "$far${time}3 colours of 3"
