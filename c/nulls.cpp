#include "c/convert.hpp"

namespace aqueduct::c {

Status refuse_null(aq_endpoint* ep, const char* call,
                   std::initializer_list<PointerArgument> arguments) noexcept {
  for (const PointerArgument& one : arguments) {
    if (one.value != nullptr) continue;
    return ep != nullptr ? detail::refuse_null(whole(ep), call, one.name)
                         : detail::refuse_null(call, one.name);
  }
  return ErrorCode::invalid_argument;
}

}  // namespace aqueduct::c
