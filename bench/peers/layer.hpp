#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace peers {

/// The payload of an active message, and where it goes.
enum class Message { no_payload, buffered, into_segment };

/// Evenly spaced pieces on one side of a transfer, or on both. Units: bytes.
struct Spacing {
  std::size_t piece = 0;
  std::size_t count = 0;
  std::size_t stride = 0;
  /// A distance of about 3.3 pieces, in whole words: not a power of two, with which
  /// pieces would compete for few cache lines.
  static Spacing of(std::size_t piece, std::size_t bytes) {
    return {piece, bytes / piece, (piece * 33 / 10 + 7) / 8 * 8};
  }
  std::size_t extent() const { return (count - 1) * stride + piece; }
};

/// Bytes of each rank's segment: room for 1 MiB of spaced pieces, or of each of eight ranks. The word for atomics is at
/// its end, behind that room.
inline constexpr std::size_t kSegmentBytes = (8 << 20) + 4096;
inline constexpr std::size_t kWordOffset = kSegmentBytes - 64;
/// Operations of a window, or messages of a flood per answer.
inline constexpr std::size_t kWindow = 64;

/// One communication library on one rank. Where a call leaves a choice, the layer uses the library's fastest way.
///
/// An *active* rank calls the operations; its peer calls the `serve_…` that belongs to them, which makes progress all
/// the time, and yields between rounds if there are more ranks than cores.
template <class L>
concept Layer = requires(L l, std::byte* to, const std::byte* from, int rank, std::size_t n, Message kind,
                         std::uint64_t word, const Spacing& spacing, bool both) {
  { l.version() } -> std::convertible_to<std::string>;
  { l.rank() } -> std::same_as<int>;
  { l.ranks() } -> std::same_as<int>;
  { l.segment() } -> std::same_as<std::byte*>;
  l.finish();  // collective; ends the library
  l.barrier();
  // Blocking, of all ranks: the root's bytes; the sum of 64-bit integers; each rank's bytes, in the order of ranks.
  l.broadcast(rank, to, n);
  l.reduce(rank, from, to, n);
  l.all_reduce(from, to, n);
  l.all_gather(from, to, n);

  // Blocking, to or from the start of a peer's segment; a put is complete in the peer's memory.
  l.put(rank, from, n);
  l.get(rank, to, n);
  // Up to kWindow at once, then one wait for all of them.
  l.put_begin(rank, from, n);
  l.get_begin(rank, to, n);
  l.transfers_end();
  // On the 64-bit word at kWordOffset of a peer's segment.
  { l.fetch_add(rank, word) } -> std::same_as<std::uint64_t>;
  { l.compare_swap(rank, word, word) } -> std::same_as<std::uint64_t>;
  l.add_begin(rank, word);
  l.fetch_add_begin(rank, word, &word);
  l.atomics_end();
  // Pieces in the peer's segment; `both`: the local side has pieces too, otherwise it is contiguous.
  l.put_spaced(rank, from, spacing, both);
  l.get_spaced(rank, to, spacing, both);
  l.release(rank);  // ends the peer's serve_transfers
  l.serve_transfers(rank);

  // A message whose handler replies; both ranks are told how many there will be.
  l.round_trip(rank, kind, from, n);
  l.serve_round_trips(rank, kind, n, n);
  // kWindow messages, of which the last is answered; the peer is told how many windows there will be.
  l.flood(rank, kind, from, n);
  l.serve_floods(rank, kind, n, n);
};

/// A library with these too. `n` are the bytes of a block: of each rank, or for each rank.
template <class L>
concept HasAllCollectives = requires(L l, std::byte* to, const std::byte* from, int rank, std::size_t n) {
  l.scatter(rank, from, to, n);
  l.gather(rank, from, to, n);
  l.all_to_all(from, to, n);
  l.reduce_scatter(from, to, n);
  l.scan(from, to, n);
};

/// Prints the reason on stderr and ends this rank; its launcher ends the others.
[[noreturn]] inline void fail(const std::string& why) {
  std::fprintf(stderr, "peers: %s\n", why.c_str());
  std::fflush(stderr);
  std::_Exit(1);
}

}  // namespace peers
