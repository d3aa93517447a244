#pragma once

#include "core/conduit.hpp"

#include <cstdint>

namespace aqueduct::core::tokens {

// The meaning of a Token to the layers. All uses of its bits are defined here:
//
//   0            a packet for whose completion nothing waits; the completion is only counted
//   bit 63 set   a packet in the outbox of the message layer; bits 0 to 31 are the number of its place
//   otherwise    an operation of the OpPool: bits 32 to 62 are its generation, bits 0 to 31 its index

inline constexpr Token kNobody = 0;
inline constexpr Token kKept = Token{1} << 63;
/// Generations of operations are 1 to kGenerations - 1.
inline constexpr std::uint32_t kGenerations = 1u << 31;

constexpr Token of_operation(std::uint32_t generation, std::uint32_t index) noexcept {
  return (Token{generation} << 32) | index;
}
constexpr std::uint32_t generation(Token token) noexcept { return static_cast<std::uint32_t>(token >> 32); }
constexpr std::uint32_t index(Token token) noexcept { return static_cast<std::uint32_t>(token); }

constexpr Token of_kept(std::uint32_t place) noexcept { return kKept | place; }
constexpr std::uint32_t place(Token token) noexcept { return static_cast<std::uint32_t>(token); }

/// Whether an operation waits for the completion.
constexpr bool is_operation(Token token) noexcept { return token != kNobody && (token & kKept) == 0; }

static_assert(is_operation(of_operation(1, 0)) && is_operation(of_operation(kGenerations - 1, ~0u)));
static_assert(!is_operation(of_kept(0)) && !is_operation(kNobody));

}  // namespace aqueduct::core::tokens
