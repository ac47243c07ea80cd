// SPDX-License-Identifier: Apache-2.0
//
// Idea: partial results climb a binomial tree, so the root folds log2 p vectors, not p. A PE folds
//       its own input and all its children's partial results in one pass.
// Phases: 1. fold   piece k: my input and my children's staging, into my staging or, on the root,
//                   into out
// Cost a PE: ceil(n / chunk) steps, log2 p deep; n bytes stored by all but the root; c n loaded and
//            one fold of c + 1 sources by a PE with c children.
// Needs: any p, any count, any root; a ring of `ring_bytes`; no average.
// Order: by the tree, which begins at the root: not the left fold, but computed once.
// Signals: step k + 1 publishes my partial result of piece k; a PE with children first says that
//          it is here. `consumed` k + 1 says that I have folded piece k of my children, raised only
//          if the vector is longer than the ring.
// Source: Thakur, Rabenseifner, Gropp 2005, section 4.6.
#include "collectives/schedule/binomial.hpp"

#include "collectives/reduce/registry.hpp"
#include "collectives/rooted_pieces.hpp"

namespace tutti::detail::reduce {
namespace {

const char* supports(const Problem& problem) {
  return problem.op == Op::Avg ? "folds in parts, and an average is divided once" : nullptr;
}

Traffic traffic(const Problem& problem, const Params& params, int pe) {
  const Pipeline plan = rooted_pieces::pipeline(problem, params);
  const std::uint64_t bytes = bytes_of(problem);
  const auto children = static_cast<std::uint64_t>(binomial_children(pe, 0, problem.pes));
  Traffic sum{(children > 0 ? 1 : 0) + (plan.wraps ? plan.chunks : 0), 0, children * bytes, 0};
  if (children > 0) sum.bytes_folded = (children + 1) * bytes;
  if (pe == 0) return sum;
  sum.words += plan.chunks;
  sum.bytes_stored = bytes;
  return sum;
}

int hops(const Problem& problem, const Params&) { return binomial_depth(problem.pes); }

class Climb {
 public:
  Climb(Execution& x, const Params& params)
      : x_(x),
        plan_(rooted_pieces::pipeline(x.problem(), params)),
        element_(element_bytes(x.problem())),
        store_(store_of(params[rooted_pieces::kStore])),
        parent_(binomial_parent(x.pe(), x.root(), x.pes())),
        children_(binomial_children(x.pe(), x.root(), x.pes())) {}

  std::size_t pieces() const { return plan_.chunks; }

  void fold(std::size_t k) {
    const Part piece = plan_.part(k);
    const std::size_t bytes = piece.size * element_;
    const std::byte* mine = x_.in() + piece.begin * element_;
    const Staged range = x_.reserve(bytes, k + 1);  // by all, so that positions stay equal
    if (children_ == 0) {
      x_.stage(range, 0, mine, bytes, store_, parent_);
    } else {
      const auto sources = x_.sources();
      sources[0] = mine;
      for (int i = 0; i < children_; ++i) {
        const int child = binomial_child(x_.pe(), i, x_.root(), x_.pes());
        x_.await(child, k + 1);
        sources[static_cast<std::size_t>(i) + 1] = x_.read(child, range, 0, bytes);
      }
      std::byte* to = parent_ < 0 ? x_.out() + piece.begin * element_ : x_.write(range, 0, bytes);
      x_.fold(to, sources.first(static_cast<std::size_t>(children_) + 1), piece.size);
      if (parent_ >= 0) x_.written(range, 0, bytes, parent_);
    }
    if (parent_ >= 0) x_.publish(k + 1);
    if (plan_.wraps) x_.consumed(k + 1);
  }

 private:
  Execution& x_;
  const Pipeline plan_;
  const std::size_t element_;
  const StoreKind store_;
  const int parent_;
  const int children_;
};

void run(Execution& x, const Params& params) {
  Climb call(x, params);
  for (std::size_t k = 0; k < call.pieces(); ++k) call.fold(k);
}

}  // namespace

constinit const Algorithm kBinomial = {
    .collective = Collective::Reduce,
    .name = "binomial",
    .summary = "partial results climb a binomial tree",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .keeps_ordered = false,
    .parameters = rooted_pieces::kParameters,
    .supports = supports,
    .scratch_bytes = rooted_pieces::scratch_bytes,
    .traffic = traffic,
    .run = run,
    .hops = hops,
};

}  // namespace tutti::detail::reduce
