#pragma once

#include <aqueduct/atomics.hpp>
#include <aqueduct/rma.hpp>
#include <aqueduct/signal.hpp>
#include <aqueduct/vis_section.hpp>
#include <aqueduct/vis_shapes.hpp>

#include <span>

namespace aqueduct {

// Vector, indexed and strided transfers: pieces of memory here to or from pieces of one other rank's segment, in one
// call. Both sides are any shapes of equal sums; the first byte of the one goes to the first byte of the other, and so
// on. docs/vis.md has pictures.
//
// Shape:       pieces and whole transfers of zero bytes are legal. Sources may overlap. Targets may not: what they
//              hold then is undefined, and a checked build answers invalid_argument.
// Lifetime:    the data, and the lists of vector and indexed shapes, until completion; strided shapes are taken at the
//              call.
// Errors:      invalid_argument (sums differ, more than 16 dimensions, strides that overflow), out_of_range (a piece
//              outside the segment: the log says which), refused, peer_lost, no_memory. All but the last are found
//              before anything moves.
// Cost:        by the plan that a model and what was measured of like transfers choose (AQUEDUCT_VIS_PLAN): a pass of
//              copies when the target is mapped here, else about ceil(bytes / packet) messages, or an operation of the
//              network for each piece or list of pieces. Memory of a fixed bound for each endpoint.

/// Writes pieces of this rank's memory to pieces of another's segment. Completion: remote.
Status put(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from) noexcept;
Event put_nb(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from,
             const PutOptions& options = {}) noexcept;
Status put_nbi(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from,
               const PutOptions& options = {}) noexcept;

/// The same, then adds to a counter of that rank: whoever sees the sum sees all pieces.
Status put_signal(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from,
                  Signal what = {}) noexcept;
Event put_signal_nb(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from, Signal what = {},
                    const PutOptions& options = {}) noexcept;

/// Reads pieces of another rank's segment into pieces of this rank's memory. Completion: local.
Status get(Endpoint& ep, const LocalPieces& to, const RemotePieces& from) noexcept;
Event get_nb(Endpoint& ep, const LocalPieces& to, const RemotePieces& from,
             const GetOptions& options = {}) noexcept;
Status get_nbi(Endpoint& ep, const LocalPieces& to, const RemotePieces& from,
               const GetOptions& options = {}) noexcept;

namespace detail {
Event accumulate(Endpoint&, const RemotePieces& to, const LocalConstPieces& from, AtomicType type) noexcept;
Status accumulate_nbi(Endpoint&, const RemotePieces& to, const LocalConstPieces& from,
                      AtomicType type) noexcept;
}  // namespace detail

/// Adds each element of `from` to one of another rank's, atomically, as AtomicOp::add does.
///
/// Shape:       both have elements of sizeof(T) bytes. Targets may overlap here: then both are added.
/// Completion:  remote.
/// Errors:      as put, and misaligned (an element of the target is not at a multiple of sizeof(T)).
template <Atomic T>
Event accumulate_strided_nb(Endpoint& ep, GlobalPtr<T> to, const Strided& there, const T* from,
                            const Strided& here) noexcept {
  return detail::accumulate(ep, pieces(to, there), pieces(from, here), detail::atomic_type<T>());
}
template <Atomic T>
Status accumulate_strided_nbi(Endpoint& ep, GlobalPtr<T> to, const Strided& there, const T* from,
                              const Strided& here) noexcept {
  return detail::accumulate_nbi(ep, pieces(to, there), pieces(from, here), detail::atomic_type<T>());
}
template <Atomic T>
Status accumulate_strided(Endpoint& ep, GlobalPtr<T> to, const Strided& there, const T* from,
                          const Strided& here) noexcept {
  return ep.wait(accumulate_strided_nb(ep, to, there, from, here));
}

namespace detail {
Status get_group(Endpoint&, std::byte* to, std::span<const GlobalPtr<std::byte>> from,
                 std::size_t bytes) noexcept;
Status put_group(Endpoint&, std::span<const GlobalPtr<std::byte>> to, const std::byte* from,
                 std::size_t bytes) noexcept;
template <class T>
std::span<const GlobalPtr<std::byte>> plain_list(std::span<const GlobalPtr<T>> list) noexcept {
  static_assert(sizeof(GlobalPtr<T>) == sizeof(GlobalPtr<std::byte>));
  return {reinterpret_cast<const GlobalPtr<std::byte>*>(list.data()), list.size()};
}
}  // namespace detail

/// Reads the element that each pointer names, of any ranks, and waits: `to[i]` is what `from[i]` held.
///
/// The list is sorted by owner and address first; what several pointers name is read once.
/// Errors:  as get, and invalid_argument (sizes differ).
/// Cost:    one get of an indexed shape from each owner; 24 bytes of memory for each element meanwhile.
/// Source:  Su and Yelick, Automatic support for irregular computations in a high-level language, IPDPS 2005.
template <detail::Wireable T>
Status get_group(Endpoint& ep, std::span<T> to, std::span<const GlobalPtr<T>> from) noexcept {
  if (to.size() != from.size()) return ErrorCode::invalid_argument;
  return detail::get_group(ep, reinterpret_cast<std::byte*>(to.data()), detail::plain_list(from), sizeof(T));
}
/// Writes `from[i]` to where `to[i]` points, and waits. Two pointers to one element are an overlap. Else as get_group.
template <detail::Wireable T>
Status put_group(Endpoint& ep, std::span<const GlobalPtr<T>> to, std::span<const T> from) noexcept {
  if (to.size() != from.size()) return ErrorCode::invalid_argument;
  return detail::put_group(ep, detail::plain_list(to), reinterpret_cast<const std::byte*>(from.data()),
                           sizeof(T));
}

}  // namespace aqueduct
