#pragma once

#include "coll/tune/fit.hpp"

#include <cstddef>
#include <string_view>

namespace aqueduct::coll {

/// An algorithm with parameters, to be tried.
struct Candidate {
  const Algorithm* algorithm = nullptr;  ///< null: there are no more
  WantedParameters wanted{};
};

/// Neither the rules nor a search take the algorithm, though it can do the operation: a setting does.
bool is_for_settings_alone(const Algorithm& algorithm) noexcept;

/// A model of messages does not tell what the algorithm takes: it moves no messages of ours, or differs from another one only
/// in how many of them are under way. A search measures it beside those that the model ranks.
bool is_outside_the_model(const Algorithm& algorithm) noexcept;

/// All that can be tried for a shape, in order of preference: the lines of the table that apply; then every algorithm of
/// the operation with its usual parameters; then those that have a radix with larger ones, which take fewer rounds and so
/// perhaps less scratch. One may come twice.
class Candidates {
 public:
  Candidates(const Shape& shape, const TeamTraits& team) noexcept : shape_(shape), team_(team) {}
  Candidate next() noexcept;

 private:
  const Shape& shape_;
  const TeamTraits& team_;
  std::size_t rule_ = 0;
  std::size_t algorithm_ = 0;
  std::size_t radix_ = 0;
};

/// The algorithm's values with this radix; as they are if it has none.
WantedParameters wanted_with_radix(const Algorithm& algorithm, std::uint32_t radix) noexcept;

}  // namespace aqueduct::coll
