#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# launch_test.sh PROGRAM MPIEXEC: exit codes and texts of `launch`, with threads and with processes.
set -u
program=$1
mpiexec=$2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
failures=0

# expect CODE TEXT COMMAND...: CODE may be "fail" for any but 0.
expect() {
  local code=$1 text=$2 output status
  shift 2
  output=$(timeout 60 "$@" 2>&1)
  status=$?
  if { [ "$code" = fail ] && [ $status -ne 0 ] && [ $status -ne 124 ]; } || [ "$code" = $status ]; then
    case $output in *"$text"*) return ;; esac
  fi
  failures=$((failures + 1))
  printf 'FAILED: %s\n  exit code %s, expected %s; expected text: %s\n%s\n' "$*" $status "$code" \
    "$text" "$output"
}

mpi() { expect "$1" "$2" env "${@:4}" "$mpiexec" -n "$3" --oversubscribe --bind-to none "$program" "$mode"; }

mode=sum
expect 0 "max 3 over 3 PEs" env TUTTI_PES=3 "$program"
expect 2 "allowed are numbers from 1 to 4096" env TUTTI_PES=0 "$program"
expect 2 "TUTTI_PES is \"two\"" env TUTTI_PES=two "$program"
expect 2 "TUTTI_HEAP" env TUTTI_PES=2 TUTTI_HEAP=lots "$program"
expect 2 "TUTTI_TIMEOUT" env TUTTI_PES=2 TUTTI_TIMEOUT=soon "$program"
expect 2 "no_such" env TUTTI_PES=2 TUTTI_ALGORITHM=allreduce=no_such "$program"
expect 2 "no/such/file" env TUTTI_PES=2 TUTTI_TUNING=/no/such/file "$program"
expect 2 "cannot be read: Is a directory" env TUTTI_PES=2 TUTTI_TUNING=/ "$program"
expect 2 'TUTTI_TRACE is "no"; allowed are 0 and 1' env TUTTI_PES=2 TUTTI_TRACE=no "$program"
expect 1 "PE 1: boom" env TUTTI_PES=2 "$program" throw
expect 2 "root 99; allowed are 0 to 1" env TUTTI_PES=2 "$program" refuse
mpi 0 "max 2 over 2 PEs" 2
mpi 0 "max 4 over 4 PEs" 4
mpi 0 "max 2 over 2 PEs" 2 TUTTI_PES=2
mpi fail "TUTTI_PES is 3, but mpirun started 2 PEs" 2 TUTTI_PES=3
mpi fail "TUTTI_TUNING: / cannot be read: Is a directory" 3 TUTTI_TUNING=/
mpi fail "/dev/null:1:1: " 3 TUTTI_TUNING=/dev/null
mpi fail 'TUTTI_TRACE is "no"; allowed are 0 and 1' 2 TUTTI_TRACE=no
mode=throw
mpi fail "boom" 3
# mpirun may end the survivors before they have said who is gone: failure_test reads their words.
mode=kill
mpi fail "signal 9" 2 TUTTI_TIMEOUT=5s
mode=refuse
mpi fail "root 99" 2

if ls /dev/shm/*tutti* >/dev/null 2>&1; then
  failures=$((failures + 1))
  echo "FAILED: names left in /dev/shm"
fi
[ $failures -eq 0 ] && echo "all as expected"
exit $failures
