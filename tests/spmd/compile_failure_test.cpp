// SPDX-License-Identifier: Apache-2.0
// What must not compile. Each check stands beside one of the same form that must, so that a typing
// error in it does not pass for a refusal.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/pypto.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

using SetTag = Update::SetTag;
using AddTag = Update::AddTag;
using Numbers = std::vector<float>;

template <class From, class To>
concept Converts = std::is_convertible_v<From, To>;
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a == b;
};

template <class Word, class U>
concept CanSignal = requires(Word word, U update) {
  signal(word, 0, 1, update);
};
template <class Word, class U>
concept CanPutSignal = requires(const Numbers& src, const View<float>& dst, Word word, U update) {
  put_signal(src, dst, word, 0, 1, update);
};
template <class U>
concept CanPut = requires(const Numbers& src, const View<float>& dst, U update) {
  put(src, dst, 0, update);
};
template <class Word, class C>
concept CanWait = requires(Word word, C cmp) {
  wait_until(word, cmp, 1);
};
template <class Word>
concept CanPublish = requires(Word word) {
  publish(word, 1);
};
template <class Word>
concept CanAwait = requires(Word word) {
  await(word, 0, 1);
};

TEST(CompileFailure, comparisons_and_updates_convert_to_and_from_nothing) {
  static_assert(Converts<Cmp, Cmp> && Converts<SetTag, SetTag>);
  static_assert(!Converts<Cmp, int> && !Converts<int, Cmp> && !Converts<Cmp, bool>);
  static_assert(!Converts<Cmp, std::uint64_t> && !Converts<std::uint64_t, Cmp>);
  static_assert(!Converts<SetTag, AddTag> && !Converts<AddTag, SetTag>);
  static_assert(!Converts<SetTag, int> && !Converts<int, SetTag> && !Converts<AddTag, bool>);
  static_assert(!Converts<Cmp, SetTag> && !Converts<AddTag, Cmp> && !Converts<Cmp, Op>);
  static_assert(Comparable<Cmp, Cmp> && !Comparable<Cmp, int> && !Comparable<Cmp, SetTag>);
  static_assert(CanPut<SetTag> && CanPut<AddTag> && !CanPut<Cmp> && !CanPut<Op> && !CanPut<bool>);
  static_assert(CanWait<Signal, Cmp> && !CanWait<Signal, SetTag> && !CanWait<Counter, int>);
}

TEST(CompileFailure, a_signal_has_no_add_a_counter_no_set_and_a_published_word_neither) {
  static_assert(CanSignal<Signal, SetTag> && CanPutSignal<Signal, SetTag>);
  static_assert(CanSignal<Counter, AddTag> && CanPutSignal<Counter, AddTag>);
  static_assert(!CanSignal<Signal, AddTag> && !CanPutSignal<Signal, AddTag>);
  static_assert(!CanSignal<Counter, SetTag> && !CanPutSignal<Counter, SetTag>);
  static_assert(!CanSignal<PublishedWord, SetTag> && !CanPutSignal<PublishedWord, AddTag>);
  static_assert(!Converts<Signal, Counter> && !Converts<Counter, Signal>);
  static_assert(!Converts<Signals, Counters> && !std::is_copy_constructible_v<Signals>);
}

TEST(CompileFailure, only_the_owner_waits_on_a_signal_and_only_the_others_await_a_published_word) {
  static_assert(CanWait<Counter, Cmp> && !CanWait<PublishedWord, Cmp>);
  static_assert(CanPublish<PublishedWord> && !CanPublish<Signal> && !CanPublish<Counter>);
  static_assert(CanAwait<PublishedWord> && !CanAwait<Signal> && !CanAwait<Counter>);
}

// Ways to read an element.
template <class V>
concept HasElements = requires(const V& view) {
  view(0, 0);
}
|| requires(const V& view) { view[0]; }
|| requires(const V& view) { view.data(); }
|| requires(const V& view) { view.row(0); }
|| requires(const V& view) { view.begin(); };
template <class V>
using ElementOf = std::remove_reference_t<decltype(std::declval<const V&>()(0, 0))>;
template <class V>
using Waited = decltype(wait_until(std::declval<Signal>(), std::declval<const V&>(), Cmp::Ge, 1));
template <class V>
using WaitedForTiles = decltype(wait_until(std::declval<const V&>(), Cmp::Ge, 1));
template <class T>
concept HasUnsafePeer = requires(const T& tensor) {
  tensor.unsafe_peer(0);
};

TEST(CompileFailure, a_view_has_no_elements_until_a_wait_has_returned_it) {
  static_assert(!HasElements<View<float>> && !HasElements<ShmemTensor<float>>);
  static_assert(!HasElements<pypto::TensorView<float>> && !HasElements<pypto::Tensor<float>>);
  static_assert(std::is_same_v<Waited<View<float>>, ReadableView<float>>);
  static_assert(std::is_same_v<Waited<ShmemTensor<float>>, ReadableView<float>>);
  static_assert(std::is_same_v<WaitedForTiles<View<float>>, ReadableView<float>>);
  static_assert(HasElements<ReadableView<float>> && HasElements<pypto::Operand<float>>);
  static_assert(!Converts<View<float>, ReadableView<float>>);
  static_assert(!std::is_constructible_v<ReadableView<float>, View<float>>);
  static_assert(!std::is_constructible_v<std::span<const float>, View<float>>);
  static_assert(!std::is_default_constructible_v<ReadableView<float>>);
}

TEST(CompileFailure, what_was_waited_for_is_read_only_and_the_raw_way_is_named_unsafe) {
  static_assert(std::is_same_v<ElementOf<ReadableView<float>>, const float>);
  static_assert(std::is_same_v<ElementOf<pypto::Operand<float>>, const float>);
  static_assert(HasUnsafePeer<ShmemTensor<float>> && !HasUnsafePeer<View<float>>);
  static_assert(!std::is_copy_constructible_v<ShmemTensor<float>>);
  static_assert(!std::is_copy_constructible_v<pypto::Tensor<float>>);
  static_assert(!std::is_copy_constructible_v<pypto::Operand<float>>);
}

template <class S, class U>
concept CanShmemSignal = requires(const S& src, U sig_op) {
  pypto::shmem_signal(src, 0, 1, 0, sig_op);
};
template <class S, class C>
concept CanShmemWait = requires(const S& src, C cmp) {
  pypto::shmem_wait_until(src, 0, cmp, 1);
};
template <class S, class C>
concept CanShmemClear = requires(const S& src, C clear) {
  pypto::shmem_wait_until(src, 0, Cmp::Eq, 1, clear);
};
template <class Src, class U>
concept CanShmemPut = requires(const Src& src, const pypto::Tensor<float>& dst, U put_op) {
  pypto::shmem_put(src, dst, 0, put_op);
};

TEST(CompileFailure, the_adaptor_takes_no_numbers_for_operations_and_no_other_elements) {
  using pypto::SignalTensor;
  static_assert(CanShmemSignal<SignalTensor, SetTag> && CanShmemSignal<SignalTensor, AddTag>);
  static_assert(!CanShmemSignal<SignalTensor, int> && !CanShmemSignal<SignalTensor, Cmp>);
  static_assert(!CanShmemSignal<ShmemTensor<float>, SetTag> && !CanShmemSignal<Signal, SetTag>);
  static_assert(CanShmemWait<SignalTensor, Cmp> && !CanShmemWait<SignalTensor, int>);
  static_assert(CanShmemClear<SignalTensor, pypto::ClearSignal>);
  static_assert(!CanShmemClear<SignalTensor, bool>);
  static_assert(CanShmemPut<Numbers, SetTag> && CanShmemPut<std::vector<bf16>, AddTag>);
  static_assert(!CanShmemPut<std::vector<bf16>, SetTag> && !CanShmemPut<Numbers, int>);
  static_assert(!CanShmemPut<std::vector<int>, AddTag>);
}

}  // namespace
}  // namespace tutti::tests
