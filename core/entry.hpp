#pragma once

#include "core/endpoint_state.hpp"

namespace aqueduct::core {

/// Stands at the beginning of each function of the library that a program calls on an endpoint.
class [[nodiscard]] Entry {
 public:
  explicit Entry(EndpointState&) noexcept {}
  ~Entry() {}
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
};

}  // namespace aqueduct::core
