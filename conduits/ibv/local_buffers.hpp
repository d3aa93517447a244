#pragma once

#include "conduits/ibv/bounce_buffers.hpp"
#include "conduits/ibv/environment.hpp"
#include "conduits/ibv/memory.hpp"
#include "conduits/ibv/outstanding_requests.hpp"
#include "conduits/ibv/work.hpp"

namespace aqueduct::conduits::ibv {

/// The result of giving the device a local buffer.
struct Lent {
  enum class Kind : std::uint8_t {
    done,
    no_room,   ///< no bounce buffer or request is free now
    in_use,    ///< other transfers use the whole budget of registrations
    too_much,  ///< more than can be registered: see BouncedTransfers
    failed
  };
  Kind kind = Kind::done;
  ErrorCode why = ErrorCode::ok;  ///< if `failed`

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

/// Gives the device the local buffers of work requests. A buffer inside a segment is used as it is, unless siw would
/// garble what it sends from there (Sizes::garbled). A short one goes through a bounce buffer, and is copied at the
/// start or at the end. A longer one is registered while the transfer lasts.
class LocalBuffers {
 public:
  LocalBuffers(const Environment& env, Memory& memory)
      : env_(env), memory_(memory), cache_(env.options.keep_registered, env.options.pinned) {}

  /// Registers the bounce buffers. Returns 0, or an errno.
  int open();

  /// Fills in `work.piece`. `copies`: `buffer` is read, and a bounce buffer is filled from it now;
  /// otherwise the device writes to it.
  Lent lend(OutstandingRequest& entry, core::Bytes buffer, bool copies, Work& work) noexcept;
  /// Releases what the request holds; called when it has ended, or was never posted.
  void give_back(const OutstandingRequest& entry) noexcept {
    if (entry.bounce_buffer != nullptr) bounce_buffers_.give_back(entry.bounce_buffer);
    if (entry.borrowed != nullptr) cache_.give_back(*entry.borrowed);
  }

  BounceBuffers& bounce_buffers() noexcept { return bounce_buffers_; }
  /// Whether any request uses a registration.
  bool any_registered() noexcept { return cache_.in_use(); }
  /// The memory is about to be unmapped or freed: drops registrations of it.
  void invalidate(core::Bytes memory) noexcept { cache_.invalidate(memory); }

 private:
  const Environment& env_;
  Memory& memory_;
  LocalCache cache_;
  BounceBuffers bounce_buffers_;
};

}  // namespace aqueduct::conduits::ibv
