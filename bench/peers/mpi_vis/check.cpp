#include "bench/peers/mpi_vis/check.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>

namespace peers {

namespace {

constexpr std::byte kUntouched{0xEE};

/// One rank's memory in a transfer.
struct Side {
  std::byte* base;
  std::span<const std::int64_t> offsets;
  std::size_t piece;
  std::size_t extent;
  const char* what;
};

/// The word at `position` of the pattern. SplitMix64 (Steele, Lea and Flood),
/// so that two seeds share no bytes by design.
std::uint64_t word(std::uint64_t seed, std::size_t position) {
  std::uint64_t z = (seed << 32U) + position * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

void lay(const Side& side, bool pattern, std::uint64_t seed) {
  std::fill_n(side.base, side.extent, kUntouched);
  if (!pattern) return;
  std::size_t position = 0;
  for (const std::int64_t offset : side.offsets) {
    for (std::size_t at = 0; at < side.piece; at += sizeof(std::uint64_t)) {
      const std::uint64_t value = word(seed, position++);
      std::memcpy(side.base + offset + at, &value, sizeof value);
    }
  }
}

bool holds(const Side& side, std::uint64_t seed) {
  std::vector<std::byte> wanted(side.extent);
  lay({wanted.data(), side.offsets, side.piece, side.extent, side.what}, true, seed);
  const auto [found, expected] = std::mismatch(side.base, side.base + side.extent, wanted.data());
  if (found == side.base + side.extent) return true;
  std::fprintf(stderr, "mpi_vis: byte %td of %s is 0x%02x, not 0x%02x\n", found - side.base, side.what,
               static_cast<unsigned>(*found), static_cast<unsigned>(*expected));
  return false;
}

constexpr std::int64_t kStart = 0;

Side plain(Library& library, const Layout& layout) {
  return {library.plain(), {&kStart, 1}, layout.bytes(), layout.bytes(), "the contiguous side"};
}
Side pieces(std::byte* base, const Layout& layout, const char* what) {
  return {base, layout.offsets(), layout.piece(), layout.extent(), what};
}

}  // namespace

void prepare(Library& library, Operation operation, const Layout& layout, int rank, std::uint64_t seed) {
  const bool at_zero = rank == 0;
  lay(plain(library, layout), at_zero && operation == Operation::put, seed);
  const bool source = at_zero ? operation == Operation::exchange : operation == Operation::get;
  lay(pieces(library.pieces(), layout, ""), source, seed);
  lay(pieces(library.returned(), layout, ""), false, seed);
}

bool arrived(Library& library, Operation operation, const Layout& layout, int rank, std::uint64_t seed) {
  const Side here = pieces(library.pieces(), layout, "the pieces");
  if (operation != Operation::exchange) return holds(rank == 0 ? plain(library, layout) : here, seed);
  return holds(here, seed) &&
         (rank != 0 || holds(pieces(library.returned(), layout, "the pieces that came back"), seed));
}

}  // namespace peers
