#include "coll/engine/user_operators.hpp"

#include <new>

namespace aqueduct::coll {
namespace {

bool same_operator(const UserOperator& a, const UserOperator& b) noexcept {
  return a.combine == b.combine && a.context == b.context && a.element == b.element &&
         a.commutative == b.commutative;
}

}  // namespace

Status UserOperators::add(std::uint32_t number, const UserOperator& with) noexcept {
  if (with.combine == nullptr || with.element == 0) return ErrorCode::invalid_argument;
  try {
    const auto [at, added] = operators_.emplace(number, with);
    return added || same_operator(at->second, with) ? Status{} : ErrorCode::invalid_argument;
  } catch (const std::bad_alloc&) {
    return ErrorCode::no_memory;
  }
}

const UserOperator* UserOperators::find(std::uint32_t number) const noexcept {
  const auto at = operators_.find(number);
  return at == operators_.end() ? nullptr : &at->second;
}

}  // namespace aqueduct::coll
