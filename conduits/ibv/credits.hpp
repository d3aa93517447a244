#pragma once

#include "conduits/ibv/receive_buffers.hpp"
#include "conduits/ibv/requests.hpp"

#include <vector>

namespace aqueduct::conduits::ibv {

/// Message credits in both directions: whether a peer has room for one more message, and the return of credits to peers
/// whose messages were taken.
class Credits {
 public:
  Credits(Requests& requests, const CreditCounters& counters, ReceiveBuffers& receive, Rank ranks)
      : requests_(requests), counters_(counters), receive_(receive) {
    taken_from_.reserve(kBatch);
    due_.reserve(ranks);
    due_now_.reserve(ranks);
  }

  /// Whether the peer has room for a message.
  bool has(Connection& connection) noexcept {
    if (connection.has_credit()) [[likely]]
      return true;
    return look_for(connection);
  }
  /// Whether a message was refused for lack of a credit since the last poll.
  bool lacked() const noexcept { return lacked_; }

  /// A message from the peer was taken out of `buffer`.
  void taken(Connection& connection, ReceiveBuffers::Buffer& buffer) noexcept {
    receive_.freed(buffer);
    taken_from_.push_back(&connection);
  }
  /// A poll begins: returns the credits that are due.
  void begin_round() noexcept {
    lacked_ = false;
    if (!due_.empty()) [[unlikely]]
      return_due();
  }
  /// Whether the next polls have credits to return.
  bool any_due() const noexcept { return !due_.empty() || !taken_from_.empty(); }
  /// Posts again the buffers of the messages that this poll took, and returns their credits.
  void return_taken() noexcept {
    if (!taken_from_.empty()) repost_and_return();
  }

 private:
  // Messages that one poll takes (completions.cpp). There are more only if the device refuses to post their buffers again.
  static constexpr std::size_t kBatch = 16;

  bool look_for(Connection& connection) noexcept;
  void repost_and_return() noexcept;
  void return_due() noexcept;
  void send_return(Connection& connection) noexcept;
  void queue_return(Connection& connection) noexcept;

  Requests& requests_;
  const CreditCounters& counters_;
  ReceiveBuffers& receive_;
  std::vector<Connection*> taken_from_;  // this poll took their messages; the buffers must be posted again
  std::vector<Connection*> due_;         // credit returns that found no room, or may travel with an answer
  std::vector<Connection*> due_now_;     // those of the last poll, while they are being returned
  bool lacked_ = false;
};

}  // namespace aqueduct::conduits::ibv
