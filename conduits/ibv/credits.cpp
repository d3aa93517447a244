#include "conduits/ibv/credits.hpp"

#include <utility>

namespace aqueduct::conduits::ibv {

// Reads the counter that the peer's adapter writes. Packets from the peer carry the same number, and may have been
// faster.
bool Credits::look_for(Connection& connection) noexcept {
  connection.credits_came(counters_.taken_by(connection.peer));
  if (connection.has_credit()) return true;
  lacked_ = true;
  return false;
}

// Posts the buffers again, and returns their credits once there are enough to be worth a write. Every message to the
// peer carries credits too: so if this poll took a single message, the caller gets its turn to answer before a write is
// spent.
void Credits::repost_and_return() noexcept {
  if (!receive_.repost()) return;  // at the next poll
  for (Connection* const connection : taken_from_) ++connection->taken;
  for (Connection* const connection : taken_from_) {
    if (connection->pair == nullptr || !connection->return_is_due()) continue;
    if (taken_from_.size() > 1 || connection->not_returned() + 1 >= connection->granted_to_peer) {
      send_return(*connection);
    } else {
      queue_return(*connection);
    }
  }
  taken_from_.clear();
}

void Credits::return_due() noexcept {
  due_now_.swap(due_);
  for (Connection* const connection : due_now_) {
    connection->return_queued = false;
    if (connection->pair != nullptr && connection->return_is_due()) send_return(*connection);
  }
  due_now_.clear();
}

void Credits::send_return(Connection& connection) noexcept {
  if (connection.ready &&
      requests_.write_number(connection, connection.counter, connection.counter_key, connection.taken)) {
    connection.reported = connection.taken;
  } else if (connection.pair != nullptr) {
    queue_return(connection);
  }
}

void Credits::queue_return(Connection& connection) noexcept {
  if (!std::exchange(connection.return_queued, true)) due_.push_back(&connection);
}

}  // namespace aqueduct::conduits::ibv
