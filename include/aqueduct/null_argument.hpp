#pragma once

#include <aqueduct/endpoint.hpp>

/// For layers of other languages over this library.
namespace aqueduct::detail {

/// A call of the layer got null for an argument that it needs: the endpoint's log names both. Returns invalid_argument.
[[gnu::cold]] Status refuse_null(Endpoint& ep, const char* call, const char* argument) noexcept;
/// The same of a call that has no endpoint: the log is that of the environment's settings.
[[gnu::cold]] Status refuse_null(const char* call, const char* argument) noexcept;

}  // namespace aqueduct::detail
