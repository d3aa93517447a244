#pragma once

#include <cstdint>
#include <string_view>

namespace aqueduct {

/// Which threads may use an endpoint. A job chooses when it starts: `config.set(Threads::multiple)`, or
/// AQUEDUCT_THREADS. Ranks of a job may choose differently.
enum class Threads : std::uint8_t {
  /// One thread at a time. To hand the endpoint to another thread, the program synchronises the two. Costs nothing.
  single,
  /// Several threads use the endpoint all the time, and the program makes sure that only one is in a call. Costs
  /// nothing; checked builds end the program if two calls overlap.
  serialized,
  /// Any thread may make any call at any time. The endpoint has a lock, which waits and sleeps let go of.
  multiple,
};

/// "single", "serialized" or "multiple".
constexpr std::string_view to_string(Threads threads) noexcept {
  switch (threads) {
    case Threads::single: return "single";
    case Threads::serialized: return "serialized";
    case Threads::multiple: break;
  }
  return "multiple";
}

}  // namespace aqueduct
