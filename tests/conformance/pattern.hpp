#pragma once

#include <aqueduct/am.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace aqueduct::conformance {

/// Bytes that show who wrote them. Two writers' patterns agree in few bytes, and no pattern is a shifted copy of
/// itself. The same writer's longer pattern begins with the shorter one.
std::vector<std::byte> pattern(std::uint64_t writer, std::size_t bytes);

/// Whether `found` equals `expected`; if not, reports the first differing byte, and how many differ.
testing::AssertionResult holds(std::span<const std::byte> found, std::span<const std::byte> expected);
/// Whether every byte of `found` is `value`.
testing::AssertionResult all_are(std::span<const std::byte> found, std::byte value);

/// The neighbours in the circle of ranks.
inline Rank next(const Endpoint& me) { return (me.rank() + 1) % me.ranks(); }
inline Rank previous(const Endpoint& me) { return (me.rank() + me.ranks() - 1) % me.ranks(); }

/// Limits that hold for messages to any rank, including this one. They are the same on every rank, even if two
/// conduits serve the job, because then every rank has peers on both.
AmLimits least_limits(Endpoint& me) noexcept;

/// `bytes`, or less where packets are so small that the transfer would take too long.
std::size_t reasonable(Endpoint& me, std::size_t bytes);

/// 0, small sizes, both sides of powers of two, and both sides of each limit; ascending, none above `most`.
std::vector<std::size_t> sizes_around(std::initializer_list<std::size_t> limits, std::size_t most);

/// Mixes 64 bits well: for choices and values derived from a seed.
std::uint64_t mix(std::uint64_t value) noexcept;

/// Random numbers from a seed, the same on every machine and with every library.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t operator()() noexcept { return mix(state_++); }
  /// 0 … end - 1.
  std::uint64_t below(std::uint64_t end) noexcept { return (*this)() % end; }
  /// 0 … 2^most_bits, with equal probability for every order of magnitude.
  std::uint64_t any_magnitude(unsigned most_bits) noexcept {
    return (*this)() & ((std::uint64_t{1} << below(most_bits + 1)) - 1);
  }

 private:
  std::uint64_t state_;
};

}  // namespace aqueduct::conformance
