#pragma once

#include "bench/peers/mpi_vis/layout.hpp"

#include <array>
#include <cstddef>

namespace peers {

/// What is compared, between rank 0, whose clock counts, and rank 1.
enum class Operation {
  put,       ///< contiguous here to pieces there, until it is complete there
  get,       ///< pieces there to contiguous here
  exchange,  ///< pieces here to pieces there, and back once they have been seen there
};
inline constexpr std::array kOperations{Operation::put, Operation::get, Operation::exchange};

/// One of the libraries, on a rank of two, with memory of its own for the largest layout.
class Library {
 public:
  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  virtual ~Library() = default;

  virtual const char* name() const noexcept = 0;
  /// What `once` moves from now on, said as that library wants it: not timed, for a program does it once.
  /// Lifetime: `layout` until the next one.
  virtual void take(const Layout& layout) = 0;
  /// This rank's share of the operation. Rank 1 has one in an exchange only; before `finish` it owes progress.
  virtual void once(Operation operation) = 0;
  /// Collective: rank 1 makes progress, looking all the time, until rank 0 has come here.
  virtual void finish() = 0;

  /// Private memory: the contiguous side of puts and gets.
  virtual std::byte* plain() noexcept = 0;
  /// Memory that the other rank reaches: the pieces, and behind them, on rank 0, those that came back.
  virtual std::byte* pieces() noexcept = 0;
  virtual std::byte* returned() noexcept = 0;
};

}  // namespace peers
