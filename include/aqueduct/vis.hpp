#pragma once

#include <aqueduct/atomics.hpp>
#include <aqueduct/rma.hpp>
#include <aqueduct/signal.hpp>
#include <aqueduct/vis_section.hpp>
#include <aqueduct/vis_shapes.hpp>

#include <span>

namespace aqueduct {

// Vector, indexed and strided transfers: one call moves many pieces between local memory and one other rank's segment.
// Each side has any shape; both shapes must have the same total number of bytes. The first byte of one side goes to the
// first byte of the other, and so on. docs/vis.md has pictures.
//
// Shape:       pieces and whole transfers of zero bytes are legal. Pieces of the source may overlap. Pieces of the
//              target must not: the result is undefined, and a checked build returns invalid_argument.
// Lifetime:    the data, and the lists of vector and indexed shapes, until completion. Strided shapes are copied at the
//              call. The source of a put: as PutOptions::source says.
// Errors:      invalid_argument (the sums differ, strides that overflow; more than 16 dimensions that do not merge, and
//              the other side is a list or has counts that do not divide theirs; a local piece at null), out_of_range (a
//              piece outside the segment: the log names it), refused (immediate, no room), peer_lost, no_memory.
//              Wrong arguments are found before anything moves. in_handler if the remote side is not mapped here.
// Cost:        depends on the plan, which a model and the measured times of similar transfers choose
//              (AQUEDUCT_VIS_PLAN). One pass of copies when the target is mapped here; otherwise about
//              ceil(bytes / packet) messages, or one operation of the network for each piece or list of pieces. The
//              memory that an endpoint uses for such transfers is bounded.

/// Writes pieces of local memory to pieces of another rank's segment. Completion: remote.
Status put(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from) noexcept;
Event put_nb(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from,
             const PutOptions& options = {}) noexcept;
Status put_nbi(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from,
               const PutOptions& options = {}) noexcept;

/// As put, then adds to a counter of that rank. A reader that sees the sum sees all pieces.
Status put_signal(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from,
                  Signal what = {}) noexcept;
Event put_signal_nb(Endpoint& ep, const RemotePieces& to, const LocalConstPieces& from, Signal what = {},
                    const PutOptions& options = {}) noexcept;

/// Reads pieces of another rank's segment into pieces of local memory. Completion: local.
Status get(Endpoint& ep, const LocalPieces& to, const RemotePieces& from) noexcept;
Event get_nb(Endpoint& ep, const LocalPieces& to, const RemotePieces& from,
             const GetOptions& options = {}) noexcept;
Status get_nbi(Endpoint& ep, const LocalPieces& to, const RemotePieces& from,
               const GetOptions& options = {}) noexcept;

namespace detail {
inline RemotePieces only_read(const RemoteConstPieces& from) noexcept {
  return {from.base().as<std::byte>(), from.shape(), from.slowest()};
}
}  // namespace detail

/// As `get`, `get_nb` and `get_nbi` above, from pieces whose pointer is to const. No put takes such pieces.
inline Status get(Endpoint& ep, const LocalPieces& to, const RemoteConstPieces& from) noexcept {
  return get(ep, to, detail::only_read(from));
}
inline Event get_nb(Endpoint& ep, const LocalPieces& to, const RemoteConstPieces& from,
                    const GetOptions& options = {}) noexcept {
  return get_nb(ep, to, detail::only_read(from), options);
}
inline Status get_nbi(Endpoint& ep, const LocalPieces& to, const RemoteConstPieces& from,
                      const GetOptions& options = {}) noexcept {
  return get_nbi(ep, to, detail::only_read(from), options);
}

namespace detail {
Event accumulate(Endpoint&, const RemotePieces& to, const LocalConstPieces& from, AtomicType type) noexcept;
Status accumulate_nbi(Endpoint&, const RemotePieces& to, const LocalConstPieces& from,
                      AtomicType type) noexcept;
}  // namespace detail

/// Adds each element of `from` to an element of another rank's segment, atomically, as AtomicOp::add does.
///
/// Shape:       both sides have elements of sizeof(T) bytes. Elements of the target may coincide: each addition counts.
/// Completion:  remote.
/// Lifetime:    `from` until completion.
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

/// Reads elements of any ranks, and waits: `to[i]` receives the element that `from[i]` points to.
///
/// The list is first sorted by owner and address; an element that several pointers name is read once.
///
/// Completion: local.
/// Errors:     as get, and invalid_argument (sizes differ, or a null pointer here), in_handler.
/// Cost:       one get of an indexed shape from each owner; 40 bytes of memory for each element during the call.
/// Source:     Su and Yelick, Automatic support for irregular computations in a high-level language, IPDPS 2005.
template <detail::Wireable T>
Status get_group(Endpoint& ep, std::span<T> to, std::span<const GlobalPtr<T>> from) noexcept {
  if (to.size() != from.size()) return ErrorCode::invalid_argument;
  return detail::get_group(ep, reinterpret_cast<std::byte*>(to.data()), detail::plain_list(from), sizeof(T));
}
/// Writes `from[i]` to the element that `to[i]` points to, and waits. Pointers must not name the same element: that
/// is an overlap of targets, as in put. Completion: remote. Errors and cost as get_group.
template <detail::Writable T>
Status put_group(Endpoint& ep, std::span<const GlobalPtr<T>> to, std::span<const T> from) noexcept {
  if (to.size() != from.size()) return ErrorCode::invalid_argument;
  return detail::put_group(ep, detail::plain_list(to), reinterpret_cast<const std::byte*>(from.data()),
                           sizeof(T));
}

}  // namespace aqueduct
