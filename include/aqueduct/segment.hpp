#pragma once

#include <aqueduct/byte_count.hpp>
#include <aqueduct/endpoint.hpp>
#include <aqueduct/team.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace aqueduct {

template <class T>
class SegmentOf;

namespace detail {

/// How a handle finds its endpoint: what it points to is null once the endpoint has ended.
using EndpointLink = std::shared_ptr<EndpointState* const>;

}  // namespace detail

/// An estimate of the memory that further segments may have.
struct SegmentRoom {
  std::uint64_t rank = 0;  ///< bytes of this rank's part, if every rank of the host asks for as much
  std::uint64_t host = 0;  ///< bytes of the parts of all ranks of this host together
};

/// Memory of this rank that `Segment::allocate` returned and `Segment::publish` makes a part of a segment.
///
/// Lifetime: one owner. Its destructor frees memory that was not published; Job::finish has freed it already.
/// Threads:  belongs to its endpoint.
class SegmentMemory {
 public:
  SegmentMemory(SegmentMemory&& other) noexcept
      : link_(std::move(other.link_)), bytes_(std::exchange(other.bytes_, {})) {}
  SegmentMemory& operator=(SegmentMemory&& other) noexcept {
    std::swap(link_, other.link_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SegmentMemory();

  /// The memory, zeroed. Its address does not change when it is published. Empty after that, and for 0 bytes.
  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  friend class Segment;
  SegmentMemory(detail::EndpointLink link, std::span<std::byte> bytes) noexcept
      : link_(std::move(link)), bytes_(bytes) {}

  detail::EndpointLink link_;  ///< null: published, or moved from
  std::span<std::byte> bytes_;
};

/// Memory that the members of a team may read and write. Each member has one part, of the size that it asked for.
///
/// Lifetime: a part keeps its address and stays accessible until `release`; without a release, until the job ends. A
///           Segment is a handle: it may be copied, and its destructor releases nothing. It may outlive the job: after
///           Job::finish `release` returns `closed`, and no part is found.
class Segment {
 public:
  /// Allocates a segment of zeroed memory: collective over the team. Each member chooses the size of its part.
  ///
  /// Units:      bytes; 0 is legal.
  /// Completion: when it returns, every member knows every size and may use every part. Ranks outside the team are not
  ///             involved, and cannot access it.
  /// Errors:     no_memory (more than the machine has), no_space (/dev/shm full), refused (AQUEDUCT_SEGMENTS
  ///             reached), peer_lost. If one member gets an error, all members do, and the segment does not exist.
  ///             peer_lost is the exception: a member that learns of the loss later may have the segment, so this
  ///             rank's part and the number stay in use until the job ends. in_handler concerns the caller only;
  ///             nothing has happened then.
  /// Cost:       two exchanges of 2 (P - 1) messages for P members; four if the members have made different numbers of
  ///             segments before.
  static Result<Segment> create(Team& team, std::size_t bytes);
  /// As above, over all ranks of the job.
  static Result<Segment> create(Endpoint& ep, std::size_t bytes) { return create(ep.world(), bytes); }
  /// As above, for `count` objects of type T, whose bytes are zero.
  template <class T>
  static Result<SegmentOf<T>> create(Team& team, std::size_t count);

  /// As `create`, with the caller's own memory as this rank's part.
  ///
  /// Neighbours in other processes cannot map such memory; they use the system's cross-memory calls, or packets.
  ///
  /// Lifetime:           the memory until `release` has returned ok. After any other end, such as peer_lost, until the
  ///                     job ends.
  /// Completion, Errors: as `create`; invalid_argument, on all members, if there can be no such memory (null, or past the end
  ///                     of all addresses).
  static Result<Segment> attach(Team& team, std::span<std::byte> memory);
  static Result<Segment> attach(Endpoint& ep, std::span<std::byte> memory) {
    return attach(ep.world(), memory);
  }
  template <class T>
  static Result<SegmentOf<T>> attach(Team& team, std::span<T> memory);

  /// First half of `create`: allocates zeroed memory. Local: nobody else is involved, and the address is known at once.
  /// Neighbours can map such memory, as that of `create`.
  ///
  /// Units:  bytes; 0 is legal.
  /// Errors: no_memory, no_space, in_handler, invalid_argument (in a forked child).
  static Result<SegmentMemory> allocate(Endpoint& ep, std::size_t bytes);
  /// Second half: makes a segment of the members' memory. Collective over the team; each member passes memory that it
  /// has allocated on this endpoint, or the reason why it has none.
  ///
  /// Completion, Errors: as `create`; also the error that a member passes, and invalid_argument (a member's memory was
  ///             published before, or is another endpoint's): all members get it. After an error the memory is freed; after
  ///             peer_lost, or when the job ends.
  /// Cost:       as `create`.
  static Result<Segment> publish(Team& team, Result<SegmentMemory> memory);
  /// How much memory further segments may have, on this rank and on its host.
  ///
  /// The least of: the memory that the machine has available, less what other segments were promised and have not
  /// touched yet; the limits of the memory cgroups of this process; the address space under `ulimit -v`, shared out among
  /// the ranks of the host, each of which may map the parts of all; the size of a file under `ulimit -f` and the room in
  /// AQUEDUCT_SMP_DIRECTORY, where segments are shared memory. One part in 16 is left for the program. Parts of
  /// neighbours that are not mapped here count as untouched. Other programs, and ranks that ask at the same time, may
  /// take the memory before this rank does, and the result is not negotiated: ranks may get different ones.
  ///
  /// Units:  bytes.
  /// Errors: none; 0 if there is no memory to find out, and in a forked child.
  /// Cost:   reads /proc and looks at every page of the segments that are mapped here. For set-up.
  static SegmentRoom most_bytes(Endpoint& ep) noexcept;

  /// Ends the segment: collective over its team. Every member frees its memory, keys, mappings and descriptors. The
  /// number of the segment is never used again; later operations on it fail with `closed`.
  ///
  /// Requires:   this rank's operations on the segment are complete, and its messages with a payload for the segment
  ///             have been handled. It waits for parallel handlers of such messages that have arrived.
  /// Lifetime:   the Team must still exist.
  /// Completion: every member has called it, and no member accesses this rank's part any more.
  /// Errors:     peer_lost (a member is lost. This rank's side ends nevertheless. Other members may not know of the
  ///             loss yet, so the addresses of this rank's part stay reserved until the job ends), no_memory (the
  ///             members could not meet; the segment ends as after a loss), closed (released before, or the team or the job
  ///             has ended), invalid_argument (the members name different segments, or on one of them a team's plan or scratch is
  ///             in the segment: the log says which; a plan also by a plain buffer in attached memory. Nothing has
  ///             happened), mismatch (a member makes another call of the team; nothing has happened), in_handler.
  /// Cost:       one exchange of 2 (P - 1) messages for P members.
  Status release() noexcept;

  SegmentId id() const noexcept { return id_; }
  /// This rank's part. Invalid after `release` and Job::finish.
  std::span<std::byte> mine() const noexcept { return mine_; }
  /// The number of members of the segment's team.
  Rank members() const noexcept { return members_; }
  /// A member's rank in the job; kNoRank if the index is outside the team.
  Rank rank_of(Rank member) const noexcept {
    if (member >= members_) return kNoRank;
    return ranks_ != nullptr ? (*ranks_)[member] : member;
  }
  /// The address of a rank's part in the rank's own process, for programs that name remote memory by its owner's
  /// addresses. 0 if the part is empty or does not exist, and after `release` and Job::finish. Sends nothing.
  std::uint64_t base_of(Rank rank) const noexcept;
  /// Whether a rank's part is mapped here: see aqueduct/mapped.hpp. False after `release` and Job::finish.
  bool is_mapped(Rank rank) const noexcept;
  /// Points to element `index` of a rank's part, seen as an array of T. `rank` is a rank of the job. Any index that is too
  /// large makes operations return out_of_range.
  template <class T>
  GlobalPtr<T> at(Rank rank, std::uint64_t index = 0) const noexcept {
    return {rank, detail::byte_offset(index, sizeof(T)), id_};
  }
  /// The same for a member of the team, by its index; null if there is no such member.
  template <class T>
  GlobalPtr<T> at_member(Rank member, std::uint64_t index = 0) const noexcept {
    return {rank_of(member), detail::byte_offset(index, sizeof(T)), id_};
  }

 private:
  template <class T>
  friend class SegmentOf;

  using Members = std::shared_ptr<const std::vector<Rank>>;
  Segment(SegmentId id, std::span<std::byte> mine, Team& team, Members ranks);

  /// Null: the endpoint has ended, or the handle was moved from.
  detail::EndpointState* endpoint() const noexcept { return link_ != nullptr ? *link_ : nullptr; }

  detail::EndpointLink link_;
  SegmentId id_;
  Rank members_ = 0;
  std::span<std::byte> mine_;
  Members ranks_;  // of the members; null where member i is rank i
};

/// A segment of objects of one type.
///
/// Requires: T is trivially copyable, and zeroed bytes are a valid T.
template <class T>
class SegmentOf : private Segment {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "a segment's objects are written as bytes, and nothing destroys them");
  static_assert(alignof(T) <= 64, "memory of a segment begins at a multiple of 64 bytes");

 public:
  using Segment::base_of;
  using Segment::id;
  using Segment::is_mapped;
  using Segment::members;
  using Segment::rank_of;
  using Segment::release;

  /// The segment as bytes.
  const Segment& bytes() const noexcept { return *this; }
  /// This rank's objects.
  std::span<T> mine() const noexcept {
    const std::span<std::byte> all = Segment::mine();
    return {reinterpret_cast<T*>(all.data()), all.size() / sizeof(T)};
  }
  /// Points to object `index` of a rank. `rank` is a rank of the job.
  GlobalPtr<T> at(Rank rank, std::uint64_t index = 0) const noexcept { return Segment::at<T>(rank, index); }
  /// The same for a member of the team, by its index; null if there is no such member.
  GlobalPtr<T> at_member(Rank member, std::uint64_t index = 0) const noexcept {
    return Segment::at_member<T>(member, index);
  }

 private:
  friend class Segment;
  explicit SegmentOf(Segment segment) noexcept : Segment(std::move(segment)) {}
};

template <class T>
Result<SegmentOf<T>> Segment::create(Team& team, std::size_t count) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  // A count that overflows is refused by the collective call, not here: the other members wait for this one.
  auto made = create(team, count <= kMost / sizeof(T) ? count * sizeof(T) : kMost);
  if (!made) return made.status();
  return SegmentOf<T>(*std::move(made));
}

template <class T>
Result<SegmentOf<T>> Segment::attach(Team& team, std::span<T> memory) {
  auto made = attach(team, std::as_writable_bytes(memory));
  if (!made) return made.status();
  return SegmentOf<T>(*std::move(made));
}

}  // namespace aqueduct
