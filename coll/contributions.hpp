#pragma once

#include <aqueduct/status.hpp>

#include "coll/piece_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace aqueduct::coll {

/// What the members have given to a set-up exchange: each some bytes, or the reason why it has none. It lies in one piece of
/// memory, in the form in which it travels.
class Contributions {
 public:
  /// Adds the contribution of one member. `call`: a number of the call that it has made. May throw std::bad_alloc.
  void add(std::span<const std::byte> bytes, Status problem, std::uint8_t call = 0);
  /// Adds the contributions of `members` members, which another rank has sent. False: the lengths in them do not add up, and this
  /// object is of no more use. May throw std::bad_alloc.
  bool add(std::span<const std::byte> stream, Rank members);
  /// Adds those of `members` members that give no bytes. Returns true. May throw std::bad_alloc.
  bool add_nothing(Rank members);
  /// Replaces all contributions by those that another rank has sent. False: as for `add`.
  bool take(Blob stream, Rank members);

  Rank size() const noexcept { return static_cast<Rank>(begins_.size()); }
  std::span<const std::byte> operator[](Rank index) const noexcept;
  std::uint8_t call_of(Rank index) const noexcept;
  /// The problem of the first member that has one, with the rank of that member; or ok.
  Status first_problem() const noexcept;
  std::span<const std::byte> stream() const noexcept { return stream_; }

  /// Bytes before each contribution: its length, and its problem.
  static constexpr std::size_t kHead = 16;

 private:
  bool find_from(std::size_t at, Rank members);

  Blob stream_;
  std::vector<std::size_t> begins_;  ///< where each one's head is
};

/// A code that a peer has sent. A number that is no code becomes `internal`.
ErrorCode code_from(std::uint32_t number) noexcept;

}  // namespace aqueduct::coll
