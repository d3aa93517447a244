#pragma once

#include "am/incoming.hpp"
#include "am/layer_handlers.hpp"
#include "am/outbox.hpp"
#include "am/prepared.hpp"
#include "am/wire.hpp"
#include "core/busy.hpp"
#include "core/endpoint_inbox.hpp"
#include "core/endpoint_state.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::am {

using aqueduct::detail::Args;
using aqueduct::detail::Callback;
using aqueduct::detail::EndpointState;
using aqueduct::detail::Incoming;
using core::Bytes;
using core::MutableBytes;
using core::Post;
using core::Token;

/// Active messages of one endpoint: what packets carry.
///
/// Credits: a request costs one of the credits that this rank has with the target; the target gives it back with
/// its reply, or, when it does not reply, many at a time. So a peer never has more than `credits` requests on
/// their way here, which bounds what must be kept for it, and nothing is ever refused on arrival.
class Messages final : public core::EndpointInbox, public core::Layer {
 public:
  explicit Messages(EndpointState& state);
  ~Messages();

  struct Entry {
    std::uint64_t key = 0;  ///< of the messages that it takes; 0: no such handler
    Callback callback;
  };

  /// Registers a layer's own handler under its fixed number. Of a number that is another's, or not for layers, nothing is
  /// replaced: `layers_problem` says so then, and the endpoint is not to be used.
  void add_internal(HandlerId id, AmCategory category, std::uint16_t args_bytes, Callback callback) noexcept;
  Status layers_problem() const noexcept { return layers_problem_; }
  /// Registers a user's handler under the next number.
  Result<HandlerId> add(AmCategory category, std::uint16_t args_bytes, std::uint16_t signature,
                        Callback callback) noexcept;
  /// Whether such a message may be sent: the same handlers are registered on all ranks.
  bool knows(AmCategory category, HandlerId id, const Args& args) const noexcept {
    return id < handlers_.size() && handlers_[id].key == key_of(category, args.bytes, args.signature);
  }

  /// Begins a request without waiting: retry when there is no credit or no room. `token` names the payload's
  /// end of use, as for Conduit::send.
  Post try_request(Rank to, AmCategory category, HandlerId handler, const Args& args,
                   const LongTarget* target, Bytes payload, Token token) noexcept;
  /// Replies, from inside a handler: there is always room, and the payload is free at return.
  Status reply(Incoming& incoming, AmCategory category, HandlerId handler, const Args& args,
               const LongTarget* target, Bytes payload) noexcept;

  /// Who carries long requests: moving bytes into a segment is the business of rma/, above this.
  using LongSender = Status (*)(void* layer, Rank to, HandlerId handler, const Args& args, Bytes payload,
                                GlobalPtr<std::byte> place, const AmOptions& options) noexcept;
  void set_long_sender(LongSender send, void* layer) noexcept {
    send_long_ = send;
    send_long_layer_ = layer;
  }
  Status send_long(Rank to, HandlerId handler, const Args& args, Bytes payload, GlobalPtr<std::byte> place,
                   const AmOptions& options) noexcept {
    return send_long_(send_long_layer_, to, handler, args, payload, place, options);
  }

  /// A request, waiting for room unless it is immediate; the payload's end of use as the options say.
  Status request(Rank to, AmCategory category, HandlerId handler, const Args& args, const LongTarget* target,
                 Bytes payload, const AmOptions& options) noexcept;

  PreparedPool& prepared() noexcept { return prepared_; }
  /// Whether everything that was sent has left this process, as far as the conduits say.
  bool all_sent() const noexcept { return none_posted() && outbox_.waiting().empty() && thanks_due_.empty(); }

  /// Largest payload of one packet with `args_bytes` of arguments.
  std::size_t room(Rank peer, bool with_target, std::size_t args_bytes) const noexcept;
  std::size_t medium_room(Rank peer) const noexcept { return peers_[peer].room; }
  std::uint32_t credits_per_peer() const noexcept { return credits_per_peer_; }
  std::uint32_t credits_left(Rank peer) const noexcept { return peers_[peer].credits; }

  // core::Inbox
  void packet(Rank from, Bytes packet) noexcept override;
  // core::Layer
  void advance() noexcept override;
  void peer_lost(Rank peer) noexcept override;
  void describe(std::string& text, Rank peer) const override;

  /// How many credits each peer has: many for few ranks, few for many.
  static std::uint32_t choose_credits(const Config& config, Rank ranks) noexcept;

 private:
  struct Peer {
    core::Conduit* conduit = nullptr;
    std::uint32_t room = 0;     ///< payload of one packet, whatever its arguments
    std::uint16_t credits = 0;  ///< requests I may still send there
    std::uint16_t owed = 0;     ///< credits of theirs that I hold
    std::uint16_t kept = 0;  ///< places of the outbox that hold replies to it: as many as credits at the most
    bool copies = true;      ///< its conduit takes payloads at the call
    bool lost = false;
    std::uint64_t full_at = 0;  ///< the pass of `advance` that found no room there
  };

  static constexpr std::uint64_t wire_key(AmCategory category, std::uint16_t args_bytes) noexcept {
    return std::uint64_t{1} | (static_cast<std::uint64_t>(category) << 8) | (std::uint64_t{args_bytes} << 16);
  }
  static constexpr std::uint64_t key_of(AmCategory category, std::uint16_t args_bytes,
                                        std::uint16_t signature) noexcept {
    return wire_key(category, args_bytes) | (std::uint64_t{signature} << 32);
  }
  static constexpr std::uint64_t kWireMask = 0xffffffff;  ///< what a packet tells of a key

  void count_sent(const Post& post, std::size_t payload_bytes, Token token) noexcept;
  const char* run_handler(Incoming& incoming, const PacketHeader& header, Bytes packet) noexcept;
  void kept_packet_sent(std::uint32_t place) noexcept override { free_place(place); }
  void free_place(std::uint32_t place) noexcept;
  void send_kept() noexcept;
  void look_busy() noexcept { busy_.set(!outbox_.waiting().empty() || !thanks_due_.empty()); }
  void dispatch(Rank from, Peer& peer, const PacketHeader& header, Bytes packet) noexcept;
  [[gnu::cold]] Status request_slowly(Rank to, AmCategory category, HandlerId handler, const Args& args,
                                      const LongTarget* target, Bytes payload,
                                      const AmOptions& options) noexcept;
  [[gnu::cold]] void reject(Rank from, const PacketHeader& header, std::string_view why) noexcept;
  void thank(Rank to) noexcept;

  std::vector<Entry> handlers_;
  std::uint32_t next_user_ = kFirstUserHandler;  ///< wider than a number, so that it does not begin anew
  Status layers_problem_;
  std::vector<Peer> peers_;
  std::uint32_t credits_per_peer_;
  Outbox outbox_;
  PreparedPool prepared_;
  std::vector<Rank> thanks_due_;  ///< peers whose credits could not be returned at once
  std::vector<Rank> thanks_now_;  ///< those that `advance` is at
  std::uint64_t pass_ = 0;        ///< of `advance`
  core::Busy busy_;               ///< something waits in the outbox, or in thanks_due_
  LongSender send_long_ = nullptr;
  void* send_long_layer_ = nullptr;
};

}  // namespace aqueduct::am
