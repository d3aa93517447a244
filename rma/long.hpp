#pragma once

#include <aqueduct/am.hpp>

#include "am/messages.hpp"
#include "core/busy.hpp"
#include "core/endpoint_state.hpp"
#include "core/memory_patience.hpp"
#include "rma/transfers.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::rma {

/// Long requests: first the payload into its place, then the message. A request whose payload travels as a put, and
/// whose caller has a source event, is an operation of its own: the put is a part of it, and the message leaves when all
/// parts have ended. Without a credit or room for the message, the operation waits in a queue for its peer.
class LongRequests final : public core::Layer {
 public:
  explicit LongRequests(EndpointState& state);

  // core::Layer
  void advance() noexcept override;
  void peer_lost(Rank peer) noexcept override;
  void describe(std::string& text, Rank peer) const override;

 private:
  /// A request, as the call gives it.
  struct Call {
    Rank to;
    HandlerId handler;
    const am::Args& args;
    core::Bytes payload;
    GlobalPtr<std::byte> place;
    am::LongTarget target;
  };
  struct Queue {
    Op* head = nullptr;
    Op* tail = nullptr;
    core::MemoryPatience patience = core::MemoryPatience();  ///< of its head
  };

  static Status send_long(void* layer, Rank to, HandlerId handler, const am::Args& args, core::Bytes payload,
                          GlobalPtr<std::byte> place, const AmOptions& options) noexcept;
  Status send_copied(const Call& call, std::byte* mapped, bool immediate) noexcept;
  Status send_after_put(const Call& call, bool ordered) noexcept;
  Status send_later(const Call& call, bool ordered, bool native, const AmOptions& options) noexcept;
  Status begin_put(const Call& call, bool ordered, bool native, const AmOptions& options) noexcept;
  bool has_room(Rank to, bool is_explicit) noexcept;

  Result<Op*> begin(const Call& call, bool immediate) noexcept;
  static bool in_place(core::Layer& layer, Op& op) noexcept;
  bool try_message(Op& op) noexcept;
  void look_for_memory(Rank to) noexcept;
  void queue(Op& op) noexcept;
  void end(Op& op, Status status) noexcept;

  EndpointState& state_;
  am::Messages& messages_;
  Transfers& transfers_;
  std::vector<Queue> queues_;                 // [rank] requests whose payload is in place
  std::vector<Rank> waiting_on_;              // the ranks whose queue is not empty
  core::Busy busy_;                           // set while there are any
  core::Post refused_ = core::Post::retry();  // of the latest message without a credit or room
};

}  // namespace aqueduct::rma
