#pragma once

#include "bench/peers/mpi_vis/layout.hpp"

#include <array>
#include <cstddef>

namespace peers {

/// The operations that are compared. They are between rank 0, which takes the time, and rank 1.
enum class Operation {
  put,       ///< contiguous here to pieces at the target, until complete there
  get,       ///< pieces at the target to contiguous here
  exchange,  ///< pieces here to pieces there, and back once rank 1 has seen them
};
inline constexpr std::array kOperations{Operation::put, Operation::get, Operation::exchange};

/// One of the libraries, on one of two ranks, with its own memory for the largest layout.
class Library {
 public:
  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  virtual ~Library() = default;

  virtual const char* name() const noexcept = 0;
  /// Prepares the library's description of the layout that `once` moves from now on. Not timed, because a program
  /// does it once. Lifetime: `layout` until the next call.
  virtual void take(const Layout& layout) = 0;
  /// This rank's share of the operation. Rank 1 takes part in an exchange only; for other
  /// operations it makes progress in `finish`.
  virtual void once(Operation operation) = 0;
  /// Collective: rank 1 polls and makes progress until rank 0 has called it.
  virtual void finish() = 0;

  /// Private memory: the contiguous side of puts and gets.
  virtual std::byte* plain() noexcept = 0;
  /// Memory that the other rank can access: the pieces. Behind them, on rank 0, are those that an exchange returned.
  virtual std::byte* pieces() noexcept = 0;
  virtual std::byte* returned() noexcept = 0;
};

}  // namespace peers
