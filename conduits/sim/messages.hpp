#pragma once

#include "conduits/sim/sim_options.hpp"
#include "core/conduit.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace aqueduct::conduits::sim {

/// A message under way, from its post to its completion.
struct Message {
  enum class Kind : std::uint8_t { packet, put, put_signal, put_word, get, atomic };
  Kind kind = Kind::packet;
  bool answers = false;  ///< of get, atomic: it is on its way back
  bool read = false;     ///< its bytes are in `payload`
  Rank from = kNoRank;   ///< the rank that has posted it
  Rank to = kNoRank;     ///< the peer
  core::Token token = 0;
  Status outcome;
  SegmentId segment = 0;  ///< of the peer
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  const std::byte* source = nullptr;
  std::byte* target = nullptr;  ///< of get: here
  Signal signal{};
  core::RemoteWord word{};  ///< its key is the number of the segment
  detail::AtomicCall call{};
  std::uint64_t old_value = 0;     ///< of atomic
  std::vector<std::byte> payload;  ///< keeps its memory when the message is used again

  Rank sender() const noexcept { return answers ? to : from; }
  Rank receiver() const noexcept { return answers ? from : to; }
  /// What its flight in this direction carries.
  std::uint64_t carried() const noexcept {
    return kind == Kind::get || kind == Kind::atomic ? (answers ? bytes : 0) : bytes;
  }
};

/// The messages of a network, by number. Numbers, and their memory, are used again.
class Messages {
 public:
  std::uint32_t take() {
    if (free_.empty()) {
      all_.emplace_back();
      return static_cast<std::uint32_t>(all_.size() - 1);
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    Message& one = all_[number];
    std::vector<std::byte> payload = std::move(one.payload);
    payload.clear();
    one = {};
    one.payload = std::move(payload);
    return number;
  }
  void give_back(std::uint32_t number) { free_.push_back(number); }
  Message& operator[](std::uint32_t number) noexcept { return all_[number]; }

 private:
  std::deque<Message> all_;
  std::vector<std::uint32_t> free_;
};

/// What a rank's next poll tells its inbox.
struct News {
  enum class Kind : std::uint8_t { packet, signal, counted, source_free, completed, lost };
  Kind kind = Kind::packet;
  Rank from = kNoRank;
  core::Token token = 0;
  Status status = {};
  Signal signal = {};
  std::vector<std::byte> packet = {};
};

}  // namespace aqueduct::conduits::sim
