#pragma once

#include "coll/model/replay.hpp"
#include "sim/output_file.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace aqueduct::sim {

/// Writes what happens as a Chrome trace (JSON), which Perfetto and chrome://tracing show: a row for each rank with what
/// its processor does, and an arrow for each message. Times are microseconds.
///
/// A simulation that is refused, or a disk that is full, leaves an earlier trace as it is.
///
/// Errors: a file that cannot be written shows in `end`.
class Trace final : public coll::Watcher {
 public:
  explicit Trace(std::string file) : name_(std::move(file)), file_(name_) {}
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  void busy(Rank rank, What what, coll::Picoseconds begin, coll::Picoseconds end, Rank peer,
            std::uint64_t bytes) override;
  void message(Rank from, Rank to, std::uint64_t bytes, coll::Picoseconds entered,
               coll::Picoseconds in_place) override;
  /// Adds the calls of the members, and closes the file. Empty, or what went wrong.
  std::string end(const coll::Replayed& replayed);

 private:
  void open();
  void event(const std::string& text);

  std::string name_;
  OutputFile file_;  // opened at the first event
  bool first_ = true;
  std::uint64_t messages_ = 0;
};

}  // namespace aqueduct::sim
