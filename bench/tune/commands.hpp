// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/tune/arguments.hpp"

/// The subcommands of tutti-tune. Each returns the exit status: 0, or 1 for "no" (another machine,
/// a rule that does not hold, a difference); errors end with 2.
namespace tutti::bench {

// With PEs, on threads or under mpirun.
int run_sweep(const Arguments& args, int argc, char** argv);
int run_verify(const Arguments& args, int argc, char** argv);
int run_regret(const Arguments& args, int argc, char** argv);
int run_try(const Arguments& args);

// About files alone.
int run_check(const Arguments& args);
int run_show(const Arguments& args);
int run_explain(const Arguments& args);
int run_diff(const Arguments& args);
int run_compare(const Arguments& args);
int run_report(const Arguments& args);

}  // namespace tutti::bench
