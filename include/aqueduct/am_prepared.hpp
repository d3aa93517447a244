#pragma once

#include <aqueduct/am.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

/// Negotiated payloads: room is asked for (`prepare`), filled, and sent (`commit`) or given back (`cancel`).
namespace aqueduct {

class HandlerSpace;  // am_raw.hpp
struct RawCall;

namespace detail {

struct Prepared;
struct PreparedRelease {
  Endpoint* ep = nullptr;
  void operator()(Prepared*) const noexcept;
};
std::size_t room_of(const Prepared&) noexcept;
MutableBytes buffer_of(Prepared&) noexcept;
Status set_place(Endpoint&, Prepared&, GlobalPtr<std::byte> place) noexcept;
Status commit(Endpoint&, Prepared&, AmCategory, HandlerId, Args, std::size_t used, const AmOptions&) noexcept;
Status commit_reply(Incoming&, Prepared&, AmCategory, HandlerId, Args, std::size_t used) noexcept;

/// What the payloads of requests and of replies have in common.
class Negotiated {
 public:
  /// The room for the payload: from `least` to `most` bytes. 0 after `commit` and `cancel`.
  std::size_t size() const noexcept { return prepared_ ? room_of(*prepared_) : 0; }
  /// The lent buffer, of `size()` bytes. Empty if the caller has its own, and after `commit` and `cancel`.
  std::span<std::byte> buffer() noexcept { return prepared_ ? buffer_of(*prepared_) : MutableBytes{}; }
  /// Gives the room back; nothing is sent. The destructor does the same.
  void cancel() noexcept { prepared_.reset(); }
  /// Names the place of a long payload that was prepared without one.
  ///
  /// Errors: invalid_argument (not long, or it has a place, or on another rank, or committed before).
  Status set_place(GlobalPtr<std::byte> place) noexcept {
    return prepared_ ? detail::set_place(*ep_, *prepared_, place) : ErrorCode::invalid_argument;
  }

 protected:
  Negotiated(Endpoint& ep, Prepared* prepared, bool is_long) noexcept
      : prepared_(prepared, PreparedRelease{&ep}), ep_(&ep), is_long_(is_long) {}
  /// Gives the room back if the message was sent.
  Status sent(Status status) noexcept {
    if (status) prepared_.reset();
    return status;
  }

  std::unique_ptr<Prepared, PreparedRelease> prepared_;
  Endpoint* ep_;
  bool is_long_;
};

}  // namespace detail

/// The room for one payload of a request: fill `buffer()`, or the caller's own buffer, then call a `commit`. The
/// destructor gives an uncommitted one back.
///
/// Every `commit` sends the first `used` bytes. It is immediate if its options or those of the prepare say so.
///
/// Completion: as `request`. The room goes back to the library on success; after a failure it may be committed again.
/// Lifetime:   a lent buffer until `commit` returns, and a source event is finished then; the caller's own as
///             AmOptions::source_event says.
/// Errors:     as `request`; too_large (`used` exceeds `size()`), wrong_handler (medium instead of long, or the
///             reverse), invalid_argument (committed or cancelled before, or a long payload without a place).
class PreparedPayload : public detail::Negotiated {
 public:
  PreparedPayload(Endpoint& ep, detail::Prepared* prepared, bool is_long) noexcept
      : Negotiated(ep, prepared, is_long) {}

  template <class A>
  Status commit(MediumRequest<A> handler, const std::type_identity_t<A>& args, std::size_t used,
                const AmOptions& options = {}) noexcept {
    return send(is_long_, AmCategory::medium_request, handler.id, detail::pack(args), used, options);
  }
  template <class A>
  Status commit(LongRequest<A> handler, const std::type_identity_t<A>& args, std::size_t used,
                const AmOptions& options = {}) noexcept {
    return send(!is_long_, AmCategory::long_request, handler.id, detail::pack(args), used, options);
  }
  /// Sends to a plain handler, in the category that was prepared. Errors: also too_large (more than 16 words).
  Status commit_plain(HandlerId handler, std::span<const std::uint32_t> args, std::size_t used,
                      const AmOptions& options = {}) noexcept;
  /// Sends to a raw handler (am_raw.hpp). Errors: also too_large (more than 16 words).
  Status commit_raw(const HandlerSpace& space, const RawCall& call, std::size_t used,
                    const AmOptions& options = {}) noexcept;

 private:
  Status send(bool mismatch, AmCategory category, HandlerId handler, detail::Args args, std::size_t used,
              const AmOptions& options) noexcept {
    if (mismatch) return ErrorCode::wrong_handler;
    if (!prepared_) return ErrorCode::invalid_argument;
    return sent(detail::commit(*ep_, *prepared_, category, handler, args, used, options));
  }
  AmCategory category() const noexcept {
    return is_long_ ? AmCategory::long_request : AmCategory::medium_request;
  }
};

/// The room for one payload of a reply, from RequestContext or RawContext. It must not outlive the handler.
///
/// Completion, Lifetime: as RequestContext::reply: the payload may be reused when a `commit` returns.
/// Errors:               as RequestContext::reply; otherwise as PreparedPayload. wrong_handler also if a raw request is
///                       answered with a plain reply, or the reverse. The room remains, and may be committed rightly.
class PreparedReply : public detail::Negotiated {
 public:
  PreparedReply(Endpoint& ep, detail::Prepared* prepared, bool is_long, detail::Incoming& incoming,
                std::uint32_t space) noexcept
      : Negotiated(ep, prepared, is_long), incoming_(&incoming), space_(space) {}

  template <class A>
  Status commit(MediumReply<A> handler, const std::type_identity_t<A>& args, std::size_t used) noexcept {
    return send(is_long_, handler.id, detail::pack(args), used);
  }
  template <class A>
  Status commit(LongReply<A> handler, const std::type_identity_t<A>& args, std::size_t used) noexcept {
    return send(!is_long_, handler.id, detail::pack(args), used);
  }
  Status commit_plain(HandlerId handler, std::span<const std::uint32_t> args, std::size_t used) noexcept;
  /// Replies in the number space of the raw request.
  Status commit_raw(const RawCall& call, std::size_t used) noexcept;

 private:
  Status send(bool mismatch, HandlerId handler, detail::Args args, std::size_t used) noexcept {
    if (mismatch) return ErrorCode::wrong_handler;
    if (!prepared_) return ErrorCode::invalid_argument;
    const AmCategory category = is_long_ ? AmCategory::long_reply : AmCategory::medium_reply;
    return sent(detail::commit_reply(*incoming_, *prepared_, category, handler, args, used));
  }

  detail::Incoming* incoming_;
  std::uint32_t space_;
};

/// Negotiates the payload of a medium request to `to`. A lent buffer saves a copy where the caller builds the payload.
/// `options.immediate` holds for the commit: it returns `refused` instead of waiting, as if its own options said so. The
/// other options are those of the commit; here they change nothing.
///
/// Completion: local; it never waits. The room, `size()`, is from bounds.least to bounds.most bytes.
/// Errors:     too_large (less than bounds.least), invalid_argument (least above most, or the caller's buffer is shorter
///             than `least`), out_of_range, refused (AQUEDUCT_PREPARED are in use), peer_lost, no_memory.
/// Cost:       a buffer of one packet at its first use.
Result<PreparedPayload> prepare_medium(Endpoint& ep, Rank to, const PayloadBounds& bounds,
                                       const AmOptions& options = {}) noexcept;
/// Negotiates the payload of a long request to `to`. Where `to` is mapped here, a lent buffer is the destination itself;
/// elsewhere a lent buffer has at most one packet. The caller's own buffer may have any size. The room ends with the
/// target's segment.
///
/// Completion, Errors: as prepare_medium; out_of_range also if `least` bytes are not inside the target's segment.
Result<PreparedPayload> prepare_long(Endpoint& ep, GlobalPtr<std::byte> to, const PayloadBounds& bounds,
                                     const AmOptions& options = {}) noexcept;
/// The same for a place that `set_place` names later. A lent buffer has at most one packet.
Result<PreparedPayload> prepare_long(Endpoint& ep, Rank to, const PayloadBounds& bounds,
                                     const AmOptions& options = {}) noexcept;

/// As above, with a lent buffer of exactly `bytes` bytes.
Result<PreparedPayload> prepare_medium(Endpoint& ep, Rank to, std::size_t bytes,
                                       const AmOptions& options = {}) noexcept;
Result<PreparedPayload> prepare_long(Endpoint& ep, GlobalPtr<std::byte> to, std::size_t bytes,
                                     const AmOptions& options = {}) noexcept;

}  // namespace aqueduct
