#pragma once

#include "conduits/ibv/receive_buffers.hpp"
#include "conduits/ibv/requests.hpp"

#include <vector>

namespace aqueduct::conduits::ibv {

/// Credits of messages in both directions: whether a peer has room for one more of mine, and the return of those that peers have
/// used here.
class Credits {
 public:
  Credits(Requests& requests, const CreditCounters& counters, ReceiveBuffers& receive, Rank ranks)
      : requests_(requests), counters_(counters), receive_(receive) {
    due_.reserve(ranks);
    due_now_.reserve(ranks);
  }

  /// Whether the peer has room for a message.
  bool has(Link& link) noexcept {
    if (link.has_credit()) [[likely]]
      return true;
    return look_for(link);
  }
  /// Whether a message could not be posted for lack of a credit, since the last poll.
  bool lacked() const noexcept { return lacked_; }

  /// A message of the peer has been taken.
  void taken(Link& link, ReceiveBuffers::Buffer& buffer) noexcept {
    receive_.freed(buffer);
    taken_from_.push_back(&link);
  }
  /// A poll begins.
  void begin_round() noexcept {
    lacked_ = false;
    if (!due_.empty()) [[unlikely]]
      return_due();
  }
  /// Whether credits are to be returned in the next polls.
  bool any_due() const noexcept { return !due_.empty() || !taken_from_.empty(); }
  /// Posts the buffers again of messages that were taken, and returns their credits.
  void return_taken() noexcept {
    if (!taken_from_.empty()) repost_and_return();
  }

 private:
  bool look_for(Link& link) noexcept;
  void repost_and_return() noexcept;
  void return_due() noexcept;
  void send_return(Link& link) noexcept;
  void queue_return(Link& link) noexcept;

  Requests& requests_;
  const CreditCounters& counters_;
  ReceiveBuffers& receive_;
  std::vector<Link*> taken_from_;  // in this poll: their buffers go back
  std::vector<Link*> due_;         // credits that found no room, or that an answer may bring along
  std::vector<Link*> due_now_;     // of the last poll, while they are given
  bool lacked_ = false;
};

}  // namespace aqueduct::conduits::ibv
