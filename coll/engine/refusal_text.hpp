#pragma once

#include <aqueduct/status.hpp>

#include <fmt/core.h>

#include <new>
#include <string>

namespace aqueduct::coll {

/// The Status with which a call is refused; its reason becomes the text `why`.
template <class... T>
Status refusal_as(Status status, std::string& why, fmt::format_string<T...> format,
                  const T&... arguments) noexcept {
  try {
    why = fmt::vformat(format, fmt::make_format_args(arguments...));
  } catch (const std::bad_alloc&) {
    why.clear();
  }
  return status;
}
template <class... T>
Status refusal(std::string& why, fmt::format_string<T...> format, const T&... arguments) noexcept {
  return refusal_as<T...>(ErrorCode::invalid_argument, why, format, arguments...);
}

}  // namespace aqueduct::coll
