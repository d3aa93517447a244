#pragma once

#include <aqueduct/status.hpp>

#include "coll/piece_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace aqueduct::coll {

/// What members have given to a set-up exchange: of each some bytes, or the reason why it has none. Lies in one piece of
/// memory as it travels.
class Contributions {
 public:
  /// Adds one member's. May throw std::bad_alloc.
  void add(std::span<const std::byte> bytes, Status problem);
  /// Adds those of so many members, as another rank has sent them. False: the lengths do not add up; nothing of use is then
  /// left. May throw std::bad_alloc.
  bool add(std::span<const std::byte> stream, Rank members);
  /// As `add`, in place of what is here.
  bool take(Blob stream, Rank members);

  Rank size() const noexcept { return static_cast<Rank>(begins_.size()); }
  std::span<const std::byte> operator[](Rank index) const noexcept;
  /// The problem of the first member that has one, with the rank of that member; or ok.
  Status first_problem() const noexcept;
  std::span<const std::byte> stream() const noexcept { return stream_; }

  /// The most bytes that one member's contribution takes beyond its own.
  static constexpr std::size_t kHead = 16;

 private:
  bool find_from(std::size_t at, Rank members);

  Blob stream_;
  std::vector<std::size_t> begins_;  ///< where each one's head is
};

/// A code that a peer has sent. A number that is no code becomes `internal`.
ErrorCode code_from(std::uint32_t number) noexcept;

}  // namespace aqueduct::coll
