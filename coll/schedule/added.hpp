#pragma once

#include <aqueduct/algorithm.hpp>

#include "coll/schedule/algorithm.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::coll {

/// Algorithms that the program has added to those of the library. Those of a job are the same on all ranks.
using AddedSpan = std::span<const Algorithm* const>;

/// An algorithm of the program's (Config::add_algorithm) as one of the library's: its steps are random access, since `build`
/// is called again for each.
///
/// A step with a peer, a counter or memory that does not exist is replaced by one that does nothing. So code that follows schedules
/// needs no checks. `wrong_steps` says what is wrong.
struct AddedAlgorithm {
  explicit AddedAlgorithm(CollectiveAlgorithm from);
  AddedAlgorithm(const AddedAlgorithm&) = delete;
  AddedAlgorithm& operator=(const AddedAlgorithm&) = delete;

  const CollectiveAlgorithm given;
  std::vector<Parameter> parameters;
  Algorithm algorithm;
};

/// What is wrong with the steps of the member at `position`, as "step 3 puts to member 9"; empty: nothing, as far as one member
/// shows it. Of an algorithm of the library: nothing.
std::string wrong_steps(const Algorithm& algorithm, const Shape& shape, Rank position);

}  // namespace aqueduct::coll

namespace aqueduct::detail {

/// The algorithms of a Config. Copies of a Config share each of them.
class AddedAlgorithms {
 public:
  /// Requires: none of this name and operation is there.
  void add(std::shared_ptr<const coll::AddedAlgorithm> one) {
    algorithms_.push_back(&one->algorithm);
    all_.push_back(std::move(one));
  }
  coll::AddedSpan algorithms() const noexcept { return algorithms_; }

 private:
  std::vector<std::shared_ptr<const coll::AddedAlgorithm>> all_;
  std::vector<const coll::Algorithm*> algorithms_;
};

/// Null: none. They live as long as it, or a copy of it, does.
inline coll::AddedSpan algorithms_of(const AddedAlgorithms* added) noexcept {
  return added != nullptr ? added->algorithms() : coll::AddedSpan{};
}

}  // namespace aqueduct::detail
