// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tutti/algorithm.hpp"
#include "tutti/export.hpp"
#include "tutti/measured.hpp"
#include "tutti/problem.hpp"

namespace tutti {

/// An inclusive range of numbers. An end without a value is open.
struct Range {
  std::optional<std::uint64_t> low;
  std::optional<std::uint64_t> high;

  constexpr bool contains(std::uint64_t value) const noexcept {
    return (!low || *low <= value) && (!high || value <= *high);
  }
  friend bool operator==(const Range&, const Range&) = default;
};

/// How sure the sweep was of a rule. Intervals are {low, high} at 95 %.
struct Evidence {
  double median_us = 0;
  std::array<double, 2> ci95_us{};
  std::uint64_t rounds = 0;                              ///< measured blocks behind the numbers
  std::optional<double> vs_builtin;                      ///< built-in choice's time / this one's
  std::string runner_up;                                 ///< empty: there was none
  std::optional<std::array<double, 2>> runner_up_ratio;  ///< runner-up's time / this one's
  std::uint64_t bytes = 0;                               ///< the size measured; 0 = not said

  friend bool operator==(const Evidence&, const Evidence&) = default;
};

/// "For these problems, run this." What is left out matches everything; `op` and `contract` are
/// looked at only where something is reduced.
struct Rule {
  Collective collective = Collective::Allreduce;
  Range pes;
  Range nodes;
  Range bytes;    ///< `bytes_of(problem)`
  Range line_ns;  ///< the regime: measured line transfer between the PEs' caches
  std::optional<DType> dtype;
  std::optional<Op> op;
  std::optional<Memory> memory;
  std::optional<Contract> contract;
  const Algorithm* algorithm = nullptr;
  Params params;
  std::optional<Evidence> evidence;
  std::string origin;  ///< "t.json:12 rules[3]" or "built-in 2"; not part of equality

  /// Whether the rule speaks about this problem (not: whether its algorithm can solve it).
  TUTTI_API bool matches(const Problem& problem) const noexcept;

  friend bool operator==(const Rule& a, const Rule& b) {
    const auto facts = [](const Rule& r) {
      return std::tie(r.collective, r.pes, r.nodes, r.bytes, r.line_ns, r.dtype, r.op, r.memory,
                      r.contract, r.algorithm, r.params, r.evidence);
    };
    return facts(a) == facts(b);
  }
};

/// The machine that a file was measured on. 0 or empty: not known, or not there.
struct MachineFacts {
  std::string cpu;  ///< model name
  std::uint64_t cores = 0;
  std::uint64_t l2_kib = 0;      ///< of one core
  std::uint64_t l3_kib = 0;      ///< of one shared cache
  std::string instruction_sets;  ///< those that matter to kernels: "avx2 avx512f ..."
  double copy_gbps = 0;          ///< memory copy of one core, 10^9 bytes a second
  double cross_gbps = 0;         ///< copy out of lines that another core has just written
  double fold_gbps = 0;          ///< f32 sum of two vectors in the caches, bytes of both
  double line_ns = 0;            ///< line transfer between the PEs' caches
  std::string tutti;             ///< version
  std::string mpi;               ///< library and version of the baseline
  std::string binding;           ///< how PEs were bound to cores
  std::string date;              ///< of the sweep, "2026-01-31T12:00:00Z"

  friend bool operator==(const MachineFacts&, const MachineFacts&) = default;
};

/// The content of a tuning file. The first rule that matches and whose algorithm can solve the
/// problem decides; what the sweep measured is kept beside it and decides nothing.
struct Tuning {
  MachineFacts machine;
  std::vector<Rule> rules;
  std::optional<SweepFacts> sweep = {};
  std::vector<MeasuredPoint> points = {};

  friend bool operator==(const Tuning&, const Tuning&) = default;
};

/// Reads a tuning file from `text`; the format is in docs/tuning.md. `origin_name` names the text
/// in errors and in `Rule::origin`. Rules may name built-in and `extra_algorithms`, which must
/// outlive the result.
/// Errors: `Tuning`, as "t.json:12:34: rules[3].params.lag: ...", for whatever is not exactly as
/// the format says; nothing is guessed and nothing is ignored.
TUTTI_API Tuning parse_tuning(std::string_view text, std::string_view origin_name,
                              std::span<const Algorithm* const> extra_algorithms = {});

/// `parse_tuning` of a file of at most 4 MiB. Errors: also `Tuning` if it cannot be read.
TUTTI_API Tuning read_tuning(const std::string& path,
                             std::span<const Algorithm* const> extra_algorithms = {});

/// The text of a tuning file: keys in a fixed order, one rule a line, every parameter written.
/// `parse_tuning(to_json(t))` equals `t`. Errors: `Tuning` for a number that is not finite.
TUTTI_API std::string to_json(const Tuning& tuning);

/// Writes `to_json(tuning)` to a temporary file beside `path` and renames it, so that a reader
/// sees the old file or the new one. A pipe or device is written directly. Errors: `System`.
TUTTI_API void write_tuning(const std::string& path, const Tuning& tuning);

/// What can be known without measuring: CPU, cores, caches, instruction sets, Tutti's version and
/// the date. About 20 ms; not for the hot path.
TUTTI_API MachineFacts this_machine();

/// How fast one core folds, by the library's kernel: f32 sum of two vectors of 256 KiB in its
/// caches, 10^9 bytes of both a second, in the fastest of some rounds. About 1 ms. Local.
TUTTI_API double measure_fold_gbps();

/// The facts in which two machines differ, as "l2_kib: 1024 in the file, 2048 here": CPU model,
/// cores, caches and instruction sets, where both are known. Never timings, versions or dates.
TUTTI_API std::vector<std::string> differences(const MachineFacts& file, const MachineFacts& here);

/// The same, and a line if `pes` > 0 and every rule of the file is about other numbers of PEs.
TUTTI_API std::vector<std::string> differences(const Tuning& file, const MachineFacts& here,
                                               int pes);

/// The algorithms that were revised since the file was measured, as "allreduce two_shot: revision 1
/// in the file, 2 here": what the file says of them may no longer hold.
TUTTI_API std::vector<std::string> outdated(const Tuning& file);

/// "near" (below 80 ns: a shared cache), "mid", "far" (above 150 ns), "unknown" (0).
TUTTI_API std::string_view regime_of(int line_ns) noexcept;

/// An algorithm that somebody insists on.
struct Forced {
  Collective collective = Collective::Allreduce;
  const Algorithm* algorithm = nullptr;
  Params params;
  std::string origin;  ///< "TUTTI_ALGORITHM", ...: for errors and explanations

  friend bool operator==(const Forced&, const Forced&) = default;
};

/// Reads the form of `TUTTI_ALGORITHM`: "allreduce=two_shot:chunk_bytes=64K,lag=1;allgather=ring".
/// Parameters not named keep their initial values. `barrier=tree` may stand among them and is only
/// checked: it is the teams' business. Errors: `Tuning`, beginning with `origin`.
TUTTI_API std::vector<Forced> parse_forced(std::string_view text,
                                           std::string_view origin = "TUTTI_ALGORITHM",
                                           std::span<const Algorithm* const> extra_algorithms = {});

/// Reads one choice, "two_shot:chunk_bytes=64K,lag=1". Errors: as `parse_forced`.
TUTTI_API Forced parse_choice(Collective collective, std::string_view text, std::string_view origin,
                              std::span<const Algorithm* const> extra_algorithms = {});

/// Who decided, in order of precedence.
enum class Where : std::uint8_t { Call, Environment, File, BuiltIn, Model };
TUTTI_API std::string_view name_of(Where where) noexcept;  ///< "call", ..., "built-in", "model"

/// What would run, and why.
struct Explanation {
  /// An algorithm that could have run; its time is predicted with these parameters: the initial
  /// ones, or with `store=stream`, whichever takes less.
  struct Candidate {
    const Algorithm* algorithm = nullptr;
    double predicted_us = 0;
    Params params = {};
  };
  /// An algorithm that cannot solve the problem.
  struct Excluded {
    std::string name;
    std::string reason;
  };

  Problem problem;
  const Algorithm* algorithm = nullptr;
  Params params;
  Where where = Where::BuiltIn;
  std::string origin;                  ///< the rule, or who insisted
  std::optional<Evidence> evidence;    ///< of the rule, if it was measured
  double predicted_us = 0;             ///< by the cost model; not measured
  std::optional<Candidate> runner_up;  ///< the best of the others by the cost model
  std::vector<Excluded> excluded;
  std::vector<std::string> warnings;  ///< rules of the file that matched and could not be followed
};

/// What else decides beside the problem and the file.
struct ExplainOptions {
  std::string_view call = {};         ///< as `parse_choice` reads it; empty: the call does not say
  std::string_view environment = {};  ///< as `parse_forced` reads it
  std::span<const Algorithm* const> extra_algorithms = {};
};

/// Says what a call would run on a team with these facts, and why. Local; runs nothing.
/// Errors: `Tuning` if a forced choice cannot solve the problem; `Unsupported` if nothing can.
TUTTI_API Explanation explain(const Problem& problem, const Tuning& tuning = {},
                              const ExplainOptions& options = {});

/// One fact a line, for people.
TUTTI_API std::string to_string(const Explanation& explanation);

}  // namespace tutti
