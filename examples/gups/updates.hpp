#pragma once

#include <aqueduct/aqueduct.hpp>

#include "gups/table.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gups {

/// A rank's part of the sequence of random numbers: `count` numbers, beginning with number `first`.
struct Share {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// Non-fetching atomics with implicit completion; no more than `window` are in flight.
void update_by_atomics(aqueduct::Endpoint& ep, const Table& table, Share share, std::uint64_t window);

/// Get, modify, put: loses what another rank writes to the word between this rank's get and put.
void update_by_gets(aqueduct::Endpoint& ep, const Table& table, Share share);

/// Sends the numbers to the owners of their words, many per message; handlers there do the updates.
class MessageUpdates {
 public:
  /// Registers the handlers. All ranks construct one, and pass a barrier before the first update.
  MessageUpdates(aqueduct::Endpoint& ep, const Table& table);
  MessageUpdates(const MessageUpdates&) = delete;
  MessageUpdates& operator=(const MessageUpdates&) = delete;

  /// Collective; returns when all updates of this rank's own words are done. A
  /// barrier must follow before the next call.
  void update(Share share);

 private:
  struct Announcement {
    std::uint64_t numbers;
  };
  void flush(aqueduct::Rank to);

  aqueduct::Endpoint& ep_;
  const Table& table_;
  aqueduct::MediumRequest<aqueduct::NoArguments> numbers_;
  aqueduct::ShortRequest<Announcement> all_sent_;

  std::vector<std::vector<std::uint64_t>> batches_;  // by rank: numbers not sent yet
  std::vector<std::uint64_t> sent_;                  // by rank: numbers sent in this round
  // The handlers write these.
  std::uint64_t received_ = 0;   // numbers applied here
  std::uint64_t announced_ = 0;  // numbers that other ranks have announced
  aqueduct::Rank finished_ = 0;  // how many ranks have announced in this round
};

}  // namespace gups
