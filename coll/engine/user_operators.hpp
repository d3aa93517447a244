#pragma once

#include <aqueduct/coll_types.hpp>
#include <aqueduct/status.hpp>

#include <cstdint>
#include <map>

namespace aqueduct::coll {

/// The operators that a program has added to an endpoint. They stay as long as the endpoint, since an operation that is
/// under way, or a plan, may use them.
///
/// Threads: as the endpoint's: one at a time.
class UserOperators {
 public:
  /// Adding the same operator under its number again changes nothing.
  /// Errors: invalid_argument (no function, no bytes, or the number has another operator), no_memory.
  Status add(std::uint32_t number, const UserOperator& with) noexcept;
  /// Null if the program has added no operator under that number. The pointer stays valid.
  const UserOperator* find(std::uint32_t number) const noexcept;

 private:
  std::map<std::uint32_t, UserOperator> operators_;
};

}  // namespace aqueduct::coll
