#pragma once

#include <aqueduct/coll_v.hpp>

#include "coll/tune/operation_word.hpp"
#include "tests/conformance/collective.hpp"
#include "tests/conformance/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::conformance {

inline constexpr std::array kBlocksCollectives = {Collective::scatter_v, Collective::gather_v,
                                                  Collective::all_gather_v, Collective::all_to_all_v,
                                                  Collective::permute};

/// One call whose blocks may differ: the same on all members. Lengths and places follow from the number.
struct BlocksCase {
  Collective operation = Collective::all_to_all_v;
  std::uint64_t number = 0;
  std::uint64_t most = 8;  ///< elements of a block
  Rank root = 0;
  bool packed = false;    ///< no displacements
  bool in_place = false;  ///< requires an operation that has such a form
  bool known = false;     ///< of a permute: sources are said
  CollOptions options = {};
  CollForm form = CollForm::blocking;
};
inline std::string text_of(const BlocksCase& made) {
  const auto mode = [](Sync sync) { return std::to_string(static_cast<int>(sync)); };
  return std::string(coll::operation_word(made.operation)) + " of at most " + std::to_string(made.most) +
         " elements, root " + std::to_string(made.root) + ", call " + std::to_string(made.number) + ", in " +
         mode(made.options.in) + ", out " + mode(made.options.out) + (made.packed ? ", packed" : "") +
         (made.in_place ? ", in place" : "") + (made.known ? ", sources known" : "");
}
constexpr bool has_blocks_root(Collective operation) noexcept {
  return operation == Collective::scatter_v || operation == Collective::gather_v;
}
constexpr bool has_blocks_place(Collective operation) noexcept {
  return has_blocks_root(operation) || operation == Collective::all_gather_v;
}

// The three forms of each operation under one name.

struct BlockingBlocks {
  static auto scatter_v(auto&&... with) { return aqueduct::scatter_v(with...); }
  static auto gather_v(auto&&... with) { return aqueduct::gather_v(with...); }
  static auto all_gather_v(auto&&... with) { return aqueduct::all_gather_v(with...); }
  static auto all_to_all_v(auto&&... with) { return aqueduct::all_to_all_v(with...); }
  static auto permute(auto&&... with) { return aqueduct::permute(with...); }
};
struct BlocksInFlight {
  static auto scatter_v(auto&&... with) { return aqueduct::scatter_v_nb(with...); }
  static auto gather_v(auto&&... with) { return aqueduct::gather_v_nb(with...); }
  static auto all_gather_v(auto&&... with) { return aqueduct::all_gather_v_nb(with...); }
  static auto all_to_all_v(auto&&... with) { return aqueduct::all_to_all_v_nb(with...); }
  static auto permute(auto&&... with) { return aqueduct::permute_nb(with...); }
};
struct BlocksPlans {
  static auto scatter_v(auto&&... with) { return aqueduct::scatter_v_plan(with...); }
  static auto gather_v(auto&&... with) { return aqueduct::gather_v_plan(with...); }
  static auto all_gather_v(auto&&... with) { return aqueduct::all_gather_v_plan(with...); }
  static auto all_to_all_v(auto&&... with) { return aqueduct::all_to_all_v_plan(with...); }
  static auto permute(auto&&... with) { return aqueduct::permute_plan(with...); }
};

/// Lengths of all blocks of a call: what the naive model is made of. Equal on all members.
class BlocksModel {
 public:
  BlocksModel(const BlocksCase& made, Rank members)
      : members_(members), to_(members), lengths_(members * members) {
    Random random(mix(made.number) + 17);
    const auto length = [&] {
      return random.below(4) == 0 ? 0 : std::min(random.any_magnitude(40), made.most);
    };
    std::iota(to_.begin(), to_.end(), Rank{0});
    for (std::size_t i = members; i > 1; --i) std::swap(to_[i - 1], to_[random.below(i)]);
    for (Rank from = 0; from < members; ++from) {
      const std::uint64_t own = length();
      for (Rank to = 0; to < members; ++to) {
        std::uint64_t& block = lengths_[from * members + to];
        const std::uint64_t other = length();
        switch (made.operation) {
          case Collective::scatter_v: block = from == made.root ? other : 0; break;
          case Collective::gather_v: block = to == made.root ? own : 0; break;
          case Collective::all_gather_v: block = own; break;
          case Collective::permute: block = to == to_[from] ? made.most : 0; break;
          default: block = other; break;
        }
      }
    }
  }
  std::uint64_t length(Rank from, Rank to) const { return lengths_[from * members_ + to]; }
  Rank destination(Rank from) const { return to_[from]; }
  Rank source(Rank to) const {
    return static_cast<Rank>(std::find(to_.begin(), to_.end(), to) - to_.begin());
  }
  std::vector<std::uint64_t> row(Rank from) const {
    return {lengths_.begin() + from * members_, lengths_.begin() + (from + 1) * members_};
  }
  std::vector<std::uint64_t> column(Rank to) const {
    std::vector<std::uint64_t> out;
    for (Rank from = 0; from < members_; ++from) out.push_back(length(from, to));
    return out;
  }

 private:
  Rank members_;
  std::vector<Rank> to_;
  std::vector<std::uint64_t> lengths_;  ///< [from][to]
};

/// A buffer with a block for each member, in elements.
struct BlocksLayout {
  std::vector<std::uint64_t> counts;
  std::vector<std::uint64_t> at;
  std::uint64_t size = 0;

  /// Packed: one block after the other. Else in any order, with gaps.
  BlocksLayout(std::vector<std::uint64_t> lengths, bool packed, std::uint64_t number)
      : counts(std::move(lengths)), at(counts.size()) {
    Random random(number);
    std::vector<std::size_t> order(counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i > 1 && !packed; --i) std::swap(order[i - 1], order[random.below(i)]);
    for (const std::size_t i : order) {
      if (!packed) size += random.below(4);
      at[i] = size;
      size += counts[i];
    }
    if (!packed) size += random.below(4);
  }
  CollBlocks blocks(bool packed) const { return packed ? CollBlocks{counts} : CollBlocks{counts, at}; }
};

/// One call of a team on this member: prepares its buffers, makes it, and compares the output with the model.
template <class T>
class BlocksTrial {
 public:
  BlocksTrial(Team& team, const BlocksCase& made)
      : team_(team),
        case_(made),
        me_(team.index()),
        model_(made, team.size()),
        in_layout_(in_layout_of(me_)),
        out_layout_(model_.column(me_), made.packed, mix(made.number) + 1'000 + me_),
        in_(single_in() ? model_.length(me_, target()) : in_layout_.size),
        out_(single_out() ? model_.length(origin(), me_) : out_layout_.size, poison()) {
    if (made.operation == Collective::gather_v && me_ != made.root) out_.clear();
    if (made.operation == Collective::scatter_v && me_ != made.root) in_.clear();
    reset();
  }

  /// Writes inputs again; `round` gives other values.
  void reset(std::uint64_t round = 0) {
    round_ = round;
    std::fill(out_.begin(), out_.end(), poison());
    for (std::uint64_t i = 0; i < in_.size(); ++i) in_[i] = value(me_, i);
    if (!in_place()) return;
    if (case_.operation == Collective::scatter_v) return;  // the output is a part of the input
    for (std::uint64_t i = 0; i < model_.length(me_, target()); ++i)
      out_[out_layout_.at[me_] + i] = value(me_, i);
  }

  Event begin() {
    if (case_.form == CollForm::plan) {
      if (!plan_) {
        auto bound = make<BlocksPlans>();
        if (!bound) return Event(bound.status());
        plan_.emplace(*std::move(bound));
      }
      return plan_->start();
    }
    if (case_.form == CollForm::blocking) return Event(make<BlockingBlocks>());
    return make<BlocksInFlight>();
  }
  Status end() { return plan_ ? plan_->end() : Status(); }

  testing::AssertionResult check() const {
    // Inputs stay as they are: also one of which the output is a part.
    for (std::uint64_t i = 0; i < in_.size(); ++i) {
      if (in_[i] != value(me_, i))
        return testing::AssertionFailure()
               << "element " << i << " of the input has changed: " << text_of(case_);
    }
    if (in_place() && case_.operation == Collective::scatter_v) return testing::AssertionSuccess();
    std::vector<T> expected(out_.size(), poison());
    for (Rank from = 0; from < team_.size() && !expected.empty(); ++from) {
      const std::uint64_t count = model_.length(from, me_);
      const std::uint64_t source = single_in() ? 0 : in_layout_of(from).at[me_];
      const std::uint64_t target = single_out() ? 0 : out_layout_.at[from];
      for (std::uint64_t i = 0; i < count; ++i) expected[target + i] = value(from, source + i);
    }
    const auto differs = std::mismatch(out_.begin(), out_.end(), expected.begin());
    if (differs.first == out_.end()) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "element " << differs.first - out_.begin() << " of " << out_.size() << " is wrong at member "
           << me_ << " of " << team_.size() << ", round " << round_ << ": " << text_of(case_);
  }
  bool is_untouched() const {
    return std::all_of(out_.begin(), out_.end(), [](T one) { return one == poison(); });
  }

 private:
  static T poison() { return static_cast<T>(0x5a); }
  T value(Rank member, std::uint64_t i) const {
    return coll_value<T>(case_.number + 977 * round_, member, i);
  }
  bool single_in() const {
    return case_.operation != Collective::scatter_v && case_.operation != Collective::all_to_all_v;
  }
  bool single_out() const {
    return case_.operation == Collective::scatter_v || case_.operation == Collective::permute;
  }
  /// Whose block an input that is one block is, and from whom an output that is one block comes.
  Rank target() const {
    if (case_.operation == Collective::permute) return model_.destination(me_);
    return case_.operation == Collective::gather_v ? case_.root : me_;
  }
  Rank origin() const { return case_.operation == Collective::permute ? model_.source(me_) : case_.root; }
  BlocksLayout in_layout_of(Rank member) const {
    return BlocksLayout(model_.row(member), case_.packed, mix(case_.number) + member);
  }
  bool in_place() const { return case_.in_place && (!has_blocks_root(case_.operation) || me_ == case_.root); }

  template <class Form>
  auto make() {
    const CollBlocks in_blocks = in_layout_.blocks(case_.packed);
    const CollBlocks out_blocks = out_layout_.blocks(case_.packed);
    std::span<const T> in = in_;
    std::span<T> out = out_;
    if (in_place() && case_.operation == Collective::gather_v)
      in = out.subspan(out_layout_.at[me_], model_.length(me_, me_));
    if (in_place() && case_.operation == Collective::scatter_v)
      out = std::span<T>(in_).subspan(in_layout_.at[me_], model_.length(me_, me_));
    switch (case_.operation) {
      case Collective::scatter_v:
        return Form::scatter_v(team_, in, in_blocks, out, case_.root, case_.options);
      case Collective::gather_v: return Form::gather_v(team_, in, out, out_blocks, case_.root, case_.options);
      case Collective::all_gather_v:
        return in_place() ? Form::all_gather_v(team_, out, out_blocks, case_.options)
                          : Form::all_gather_v(team_, in, out, out_blocks, case_.options);
      case Collective::permute:
        return Form::permute(team_, in, out, model_.destination(me_),
                             case_.known ? model_.source(me_) : kNoRank, case_.options);
      default: return Form::all_to_all_v(team_, in, in_blocks, out, out_blocks, case_.options);
    }
  }

  Team& team_;
  BlocksCase case_;
  Rank me_;
  BlocksModel model_;
  BlocksLayout in_layout_;
  BlocksLayout out_layout_;
  std::vector<T> in_;
  std::vector<T> out_;
  std::uint64_t round_ = 0;
  std::optional<CollPlan> plan_;
};

/// Makes one call from beginning to end, and checks it.
template <class T>
void try_blocks(Endpoint& me, Team& team, const BlocksCase& made) {
  BlocksTrial<T> trial(team, made);
  const Status status = me.wait(trial.begin());
  ASSERT_TRUE(status) << status.text() << ": " << text_of(made);
  if (made.options.out == Sync::none) {
    ASSERT_TRUE(settle(team)) << text_of(made);
  }
  ASSERT_TRUE(trial.check());
  ASSERT_TRUE(trial.end()) << text_of(made);
}

}  // namespace aqueduct::conformance
