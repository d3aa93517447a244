#pragma once

#include "conduits/ibv/bounce_buffers.hpp"
#include "conduits/ibv/environment.hpp"
#include "conduits/ibv/memory.hpp"
#include "conduits/ibv/outstanding_requests.hpp"
#include "conduits/ibv/work.hpp"

namespace aqueduct::conduits::ibv {

/// What became of lending the device a local buffer.
struct Lent {
  enum class Kind : std::uint8_t {
    done,
    no_room,   ///< of slots or requests: there will be some
    in_use,    ///< others use what could be registered
    too_much,  ///< more than can be registered: it goes by way of slots only, see or_bounce
    failed
  };
  Kind kind = Kind::done;
  ErrorCode why = ErrorCode::ok;  ///< of `failed`

  core::Post post() const noexcept {
    switch (kind) {
      case Kind::done: return core::Post::done();
      case Kind::no_room:
      case Kind::in_use: return core::Post::retry();
      case Kind::too_much: return core::Post::failed(ErrorCode::no_memory);
      case Kind::failed: break;
    }
    return core::Post::failed(why);
  }
};

/// Gives the device the local buffers of work requests: one inside a segment as it is; a short one by way of a slot, whose
/// bytes are copied now or at the end; a longer one registered while the transfer lasts.
class LocalBuffers {
 public:
  LocalBuffers(const Environment& env, Memory& memory)
      : env_(env), memory_(memory), cache_(env.options.keep_registered, env.options.pinned) {}

  /// Registers the slots. 0, or an errno.
  int open();

  /// Fills in the work's piece. `copies`: the bytes are to be copied now, if they go by way of a slot.
  Lent lend(OutstandingRequest& entry, core::Bytes buffer, bool copies, Work& work) noexcept;
  /// The request has ended, or has never begun.
  void give_back(const OutstandingRequest& entry) noexcept {
    if (entry.bounce_buffer != nullptr) bounce_buffers_.give_back(entry.bounce_buffer);
    if (entry.borrowed != nullptr) cache_.give_back(*entry.borrowed);
  }

  BounceBuffers& bounce_buffers() noexcept { return bounce_buffers_; }
  /// Whether any request has a registration.
  bool any_registered() noexcept { return cache_.in_use(); }
  /// The memory ends: nothing of it may stay registered.
  void invalidate(core::Bytes memory) noexcept { cache_.invalidate(memory); }

 private:
  const Environment& env_;
  Memory& memory_;
  LocalCache cache_;
  BounceBuffers bounce_buffers_;
};

}  // namespace aqueduct::conduits::ibv
