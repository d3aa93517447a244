#pragma once

#include "am/incoming.hpp"
#include "am/raw_spaces.hpp"
#include "am/wire.hpp"
#include "core/handler_queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace aqueduct::am {

using aqueduct::detail::Callback;
using aqueduct::detail::EndpointState;
using aqueduct::detail::Incoming;

class ParallelMessages;

/// A typed or plain handler that runs outside the lock (HandlerOptions::parallel).
struct ParallelHandler {
  ParallelMessages& messages;
  Callback callback;
  std::uint16_t args_bytes;
  bool is_long;
};

/// A message for such a handler, from its arrival until the handler has returned.
struct ParallelMessage : core::QueuedHandler {
  ParallelMessages* all = nullptr;
  Rank source = kNoRank;
  bool is_request = false;
  bool owes = false;  ///< a request without a reply so far: its credit is this rank's to return
  std::uint16_t args_bytes = 0;
  const Callback* callback = nullptr;  ///< of a typed or plain message
  // Of a raw one.
  RawHandler run_raw = nullptr;
  void* argument = nullptr;
  std::uint32_t* unfinished = nullptr;  ///< of its number
  std::uint32_t space = 0;
  AmCategory category{};
  std::uint8_t number = 0;
  std::uint16_t tag = 0;

  core::MutableBytes payload;           ///< in `buffer`; of a long message: in the segment
  std::unique_ptr<std::byte[]> buffer;  ///< kept for the next message
  std::size_t buffer_bytes = 0;
  alignas(std::uint64_t) std::array<std::byte, kMaxArgs> args;
};

/// The messages of an endpoint whose handlers run outside the lock: their copies, and what follows when a handler has
/// returned.
///
/// A request keeps its credit until its handler has replied or returned. So a peer has at most `credits` requests queued
/// here, and every reply finds room, as with handlers under the lock.
class ParallelMessages {
 public:
  explicit ParallelMessages(EndpointState& state) noexcept : state_(state) {}
  ParallelMessages(const ParallelMessages&) = delete;
  ParallelMessages& operator=(const ParallelMessages&) = delete;

  EndpointState& state() noexcept { return state_; }
  /// What dispatch calls instead of a typed or plain handler: queues the message. Throws std::bad_alloc.
  Callback queue_for(Callback callback, std::uint16_t args_bytes, bool is_long);
  /// The count of a raw handler's messages that are queued or running, for RawSpace::Entry. Throws std::bad_alloc.
  std::unique_ptr<std::uint32_t> count_for_raw();
  /// Queues a raw message whose handler has such a count. False: there is no memory.
  bool queue_raw(Incoming& incoming, std::uint32_t space, const RawSpace::Entry& entry,
                 const RawContext& message) noexcept;
  /// Whether a message that is queued or running has its payload in that memory, as long ones have in a segment.
  bool any_in(core::Bytes memory) const noexcept;

 private:
  static void queue_typed(void* handler, Incoming& incoming, const std::byte* args,
                          core::MutableBytes payload) noexcept;
  static void run_typed(core::QueuedHandler& message) noexcept;
  static void run_raw(core::QueuedHandler& message) noexcept;
  static void over(core::QueuedHandler& message) noexcept;

  void handlers_run_outside() noexcept;
  ParallelMessage* copy(Incoming& incoming, const void* args, std::size_t args_bytes,
                        core::MutableBytes payload, bool is_long) noexcept;
  ParallelMessage* take(std::size_t payload_bytes) noexcept;
  void give_back(ParallelMessage& message) noexcept;

  EndpointState& state_;
  std::vector<std::unique_ptr<ParallelMessage>> all_;
  core::QueuedHandler* free_ = nullptr;
};

}  // namespace aqueduct::am
