#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Reads file names, one a line; prints every include in the wrong direction; fails if there is one.
set -euo pipefail

# shellcheck disable=SC2016
xargs awk '
function bad(why) {
  printf "%s:%d: %s: %s\n", FILENAME, FNR, inc, why
  failures = 1
}

# May a file in this folder include "<room>/..."?
function sees(file, room) {
  if (file ~ /^tests\/(unit|fuzz)\//)  return 1
  if (file ~ /^tests\/tune\//)  return room == "bench"
  if (file ~ /^primitives\//)   return room == "primitives"
  if (file ~ /^collectives\//)  return room == "primitives" || room == "collectives"
  if (file ~ /^moe\//)          return room != "bench"
  if (file ~ /^bench\//)        return room == "bench"
  return 0  # include, examples, other tests
}

/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
  inc = $0
  sub(/^[^<"]*[<"]/, "", inc)
  sub(/[>"].*/, "", inc)

  if (inc ~ /(^|\/)\.\.\//) bad("no .. in includes")

  if (inc == "mpi.h" && FILENAME !~ /^(primitives\/mpi|tests)\// && FILENAME !~ /^bench\/.*baseline/)
    bad("mpi.h belongs to primitives/mpi, the bench baseline and the tests")
  if (inc ~ /^nlohmann\// && FILENAME !~ /^bench\// && FILENAME !~ /^collectives\/tuner\/.*json/)
    bad("nlohmann/json belongs to the JSON source of the tuner and to bench")
  if (inc ~ /^Eigen\// && FILENAME !~ /^(examples|tests|moe)\// &&
      FILENAME != "include/tutti/eigen.hpp")
    bad("Eigen belongs to tutti/eigen.hpp, examples, tests and moe")

  if (inc ~ /^(primitives|collectives|moe|bench)\//) {
    room = inc
    sub(/\/.*/, "", room)
    if (!sees(FILENAME, room)) bad("this folder may not see that room")
  }

  if (FILENAME ~ /^include\//) {
    ours = inc ~ /^tutti\// && inc !~ /^tutti\/(mpi|eigen)\.hpp$/
    std = inc ~ /^[a-z_0-9]+$/
    interop = FILENAME == "include/tutti/eigen.hpp" && inc ~ /^Eigen\//
    if (!ours && !std && !interop)
      bad("core public headers include the standard library and tutti only")
  }
}
END { exit failures }
'
