#pragma once

#include "am/incoming.hpp"
#include "am/layer_handlers.hpp"
#include "am/outbox.hpp"
#include "am/parallel.hpp"
#include "am/prepared.hpp"
#include "am/raw_spaces.hpp"
#include "am/wire.hpp"
#include "core/busy.hpp"
#include "core/endpoint_inbox.hpp"
#include "core/endpoint_state.hpp"
#include "core/memory_patience.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::am {

using aqueduct::detail::Args;
using aqueduct::detail::Callback;
using aqueduct::detail::EndpointState;
using aqueduct::detail::Incoming;
using aqueduct::detail::MessageName;
using core::Bytes;
using core::MutableBytes;
using core::Post;
using core::Token;

/// The active messages of one endpoint.
///
/// Credits: a request takes one of the credits that this rank has with the target. The target returns the credit with
/// its reply or, if the handler does not reply, later, several at once. So a peer has at most `credits` requests in
/// flight to this rank. This bounds the replies that may have to be kept for it, and no packet is refused on arrival.
class Messages final : public core::EndpointInbox, public core::Layer {
 public:
  explicit Messages(EndpointState& state);
  ~Messages();

  /// The settings of this layer: the number of handlers, credits and prepared payloads.
  static std::span<const SettingInfo> settings() noexcept;

  struct Entry {
    std::uint64_t key = 0;  ///< of the messages that it accepts (key_of); 0: no handler is registered
    Callback callback;
  };

  /// Registers a layer's handler under its fixed number (am/layer_handlers.hpp). If the number is taken or not for
  /// layers, nothing is registered, `layers_problem` returns internal, and the start of the job fails.
  void add_internal(HandlerId id, AmCategory category, std::uint16_t args_bytes, Callback callback) noexcept;
  /// The same under the next number that is dealt out (kFirstDealtHandler), which it returns.
  HandlerId add_internal(AmCategory category, std::uint16_t args_bytes, Callback callback) noexcept;
  Status layers_problem() const noexcept { return layers_problem_; }
  /// Registers a user's handler under the next number.
  Result<HandlerId> add(AmCategory category, std::uint16_t args_bytes, std::uint16_t signature,
                        Callback callback, const HandlerOptions& options) noexcept;
  /// Whether a handler for such messages is registered here. All
  /// ranks register the same ones, so the target has it too.
  bool knows(AmCategory category, HandlerId id, const Args& args) const noexcept {
    return id < handlers_.size() && handlers_[id].key == key_of(category, args.bytes, args.signature);
  }

  /// Sends a short or medium request, if nothing stands in the way: the handler is known, there are credits and room, and
  /// the payload may be reused at once. Otherwise returns false, and nothing has happened. `head` is a MessageHead.
  bool request_quickly(Rank to, MessageName name, std::uint64_t* head, Bytes payload) noexcept;
  /// The same for the reply to a request.
  bool reply_quickly(Incoming& incoming, MessageName name, std::uint64_t* head, Bytes payload) noexcept;

  /// Begins a request without waiting. The answer is retry if there is no credit or no room. `token` is for
  /// Conduit::send: its completion says that the payload may be reused. May be called inside progress.
  Post try_request(Rank to, AmCategory category, HandlerId handler, const Args& args,
                   const LongTarget* target, Bytes payload, Token token) noexcept;
  /// Replies from inside a handler. Does not wait: the conduit or
  /// the outbox has room. The payload may be reused at return.
  Status reply(Incoming& incoming, AmCategory category, HandlerId handler, const Args& args,
               const LongTarget* target, Bytes payload) noexcept;

  /// The function that sends long requests. It is rma's, since moving
  /// bytes into a segment is a put, and am must not include rma.
  using LongSender = Status (*)(void* layer, Rank to, HandlerId handler, const Args& args, Bytes payload,
                                GlobalPtr<std::byte> place, const AmOptions& options) noexcept;
  void set_long_sender(LongSender send, void* layer) noexcept {
    send_long_ = send;
    send_long_layer_ = layer;
  }
  /// Refuses a null pointer to the bytes of a payload, which would end the process.
  [[gnu::cold]] Status refuse_null(const char* what, Rank to, std::size_t bytes) noexcept;
  /// Refuses a handler that this rank does not have, or that takes other messages: says which in the log.
  [[gnu::cold]] Status refuse_handler(AmCategory category, HandlerId handler, const Args& args) noexcept;
  /// Refuses a payload of more than `limit` bytes.
  [[gnu::cold]] Status refuse_size(const char* what, Rank to, std::size_t bytes, std::size_t limit) noexcept;
  /// Refuses a message to `to`, or a handler of messages if that is kNoRank, with more than kMaxArgs bytes of words.
  [[gnu::cold]] Status refuse_words(const char* what, Rank to, std::size_t words) noexcept;
  Status send_long(Rank to, HandlerId handler, const Args& args, Bytes payload, GlobalPtr<std::byte> place,
                   const AmOptions& options) noexcept {
    return send_long_(send_long_layer_, to, handler, args, payload, place, options);
  }

  /// Sends a request. Waits for a credit and for room, unless it
  /// is immediate. The options say when the payload may be reused.
  Status request(Rank to, AmCategory category, HandlerId handler, const Args& args, const LongTarget* target,
                 Bytes payload, const AmOptions& options) noexcept;

  /// For a fence: whether the target may not have handled all messages from here, and the conduit does not keep their
  /// order. The target then returns the credit of each message at once from now on, which shows that it has handled it.
  bool fence(Rank to) noexcept;

  /// Waits until no fence holds back a message to the peer.
  /// Errors: refused (`immediate`), no_memory (the request for the peer's credits finds no room), and those of wait_until.
  [[gnu::cold]] Status wait_for_turn(Rank to, bool immediate) noexcept;

  PreparedPool& prepared() noexcept { return prepared_; }
  RawSpaces& raw_spaces() noexcept { return raw_spaces_; }
  ParallelMessages& parallel() noexcept { return parallel_; }
  /// A request's handler has returned without a reply, outside of dispatch: its credit is to be returned.
  void owe_credit(Rank to) noexcept;
  /// For want of memory something could not be sent to the peer for too long, and no call or completion can tell of it: the peer
  /// is to be given up.
  void give_up(Rank to) noexcept {
    if (given_up_ == kNoRank) given_up_ = to;
  }
  /// A rank that has been given up since the last call of this, or kNoRank. The caller treats it as lost.
  Rank unreachable() noexcept { return std::exchange(given_up_, kNoRank); }
  /// Whether all messages have left this process, as far as the conduits tell.
  bool all_sent() const noexcept {
    return none_posted() && outbox_.waiting().empty() && returns_due_.empty() && none_to_follow();
  }
  /// Requests that leave inside progress, when their payload is in place: the long sender counts them.
  void will_follow(Rank to) noexcept { ++peers_[to].to_follow, ++to_follow_; }
  void has_followed(Rank to) noexcept { --peers_[to].to_follow, --to_follow_; }
  std::uint32_t to_follow(Rank to) const noexcept { return peers_[to].to_follow; }
  bool none_to_follow() const noexcept { return to_follow_ == 0; }

  /// The largest payload of a packet with `args_bytes` bytes of arguments.
  std::size_t room(Rank peer, bool with_target, std::size_t args_bytes) const noexcept;
  std::size_t medium_room(Rank peer) const noexcept { return peers_[peer].room; }
  std::uint32_t credits_per_peer() const noexcept { return credits_per_peer_; }
  /// Whether the peer has answered, or taken note of, all requests of this rank.
  bool has_all_credits(Rank peer) const noexcept { return peers_[peer].credits == credits_per_peer_; }
  std::uint32_t credits_left(Rank peer) const noexcept { return peers_[peer].credits; }

  /// Whether a packet is for a handler of the program's; others are the library's own. Any thread.
  static bool is_for_program(Bytes packet) noexcept;

  // core::Inbox
  void packet(Rank from, Bytes packet) noexcept override;
  void packet_in_parts(Rank from, Bytes head, core::MutableBytes payload) noexcept override;
  // core::Layer
  void advance() noexcept override;
  void peer_lost(Rank peer) noexcept override;
  void describe(std::string& text, Rank peer) const override;

  /// The number of credits of each peer: fewer with more ranks, since the outbox reserves ranks × credits places.
  static std::uint32_t choose_credits(const Config& config, Rank ranks) noexcept;

 private:
  struct Peer {
    core::Conduit* conduit = nullptr;
    std::uint32_t room = 0;       ///< largest payload of a packet with the longest arguments
    std::uint32_t quick = 0;      ///< the same if its conduit copies payloads, otherwise 0
    std::uint16_t credits = 0;    ///< number of requests that this rank may still send there
    std::uint16_t owed = 0;       ///< credits that this rank has yet to return
    std::uint16_t return_at = 0;  ///< number of owed credits that are returned in a packet of their own
    std::uint16_t kept = 0;       ///< places of the outbox with replies to it; at most the number of credits
    bool copies = true;           ///< of its conduit: a payload may be reused when send returns
    bool lost = false;            ///< it has no credits then
    bool in_order = false;        ///< its conduit delivers packets in the order of the sends
    bool asked_credits = false;   ///< it has been asked to return each credit at once
    std::uint32_t to_follow = 0;  ///< requests whose payload is not in place yet
    std::uint64_t full_at = 0;    ///< the last pass of `advance` that found no room there
  };

  static constexpr std::uint64_t key_of(AmCategory category, std::uint16_t args_bytes,
                                        std::uint16_t signature) noexcept {
    return aqueduct::detail::message_name(category, args_bytes, signature, 0);
  }
  /// The part of a key that a packet determines.
  static constexpr std::uint32_t wire_key(AmCategory category, std::uint16_t args_bytes) noexcept {
    return static_cast<std::uint32_t>(key_of(category, args_bytes, 0));
  }
  bool knows(MessageName name) const noexcept {
    const std::uint64_t handler = name >> 48;
    return handler < count_ && handlers_[handler].key == (name & (~std::uint64_t{0} >> 16));
  }
  bool send_quickly(Peer& peer, Rank to, PacketKind kind, std::uint64_t credits, MessageName name,
                    std::uint64_t* head, Bytes payload) noexcept;

  bool has_no_memory_for(Rank to, const Post& refused, core::MemoryPatience& patience,
                         std::uint32_t own) noexcept;
  void found_no_room(Rank to, const Post& refused) noexcept;
  /// Sends a packet. One to another rank that finds no memory is sent later, whatever the conduit calls that: the peer may wait for it
  /// for ever.
  Post send_or_later(core::Conduit& conduit, Rank to, Bytes head, Bytes payload, Token token) const noexcept {
    const Post post = conduit.send(to, head, payload, token);
    if (post.kind == Post::Kind::failed && post.why == ErrorCode::no_memory && to != state_.rank) [[unlikely]]
      return Post::retry(ErrorCode::no_memory);
    return post;
  }
  void count_sent(const Post& post, std::size_t payload_bytes, Token token) noexcept;
  // Packet: InOnePiece or InTwoPieces (am/packet_parts.hpp).
  template <class Packet>
  void take(Rank from, const PacketHeader& header, const Packet& packet) noexcept;
  template <class Packet>
  const char* run_handler(Incoming& incoming, const PacketHeader& header, const Packet& packet) noexcept;
  template <class Packet>
  [[gnu::noinline]] const char* run_raw(Incoming& incoming, const Packet& packet) noexcept;
  void kept_packet_sent(std::uint32_t place) noexcept override { free_place(place); }
  void free_place(std::uint32_t place) noexcept;
  void send_kept() noexcept;
  void look_busy() noexcept { busy_.set(!outbox_.waiting().empty() || !returns_due_.empty()); }
  [[gnu::cold]] Status request_slowly(Rank to, AmCategory category, HandlerId handler, const Args& args,
                                      const LongTarget* target, Bytes payload,
                                      const AmOptions& options) noexcept;
  [[gnu::cold]] void reject(Rank from, Bytes packet, std::string_view why) noexcept;
  void return_credits(Rank to) noexcept;
  void add_credit_returns() noexcept;
  Post ask_for_credits(Rank to) noexcept;
  bool may_leave(Rank to, Post& asked) noexcept;

  std::vector<Entry> handlers_;
  std::size_t count_ = handlers_.size();  ///< read by every message; the vector would have to divide
  HandlerId next_dealt_ = kFirstDealtHandler;
  std::uint32_t next_user_ = kFirstUserHandler;  ///< wider than a HandlerId, so that it does not wrap
  Status layers_problem_;
  std::vector<Peer> peers_;
  std::uint32_t credits_per_peer_;
  Outbox outbox_;
  PreparedPool prepared_;
  RawSpaces raw_spaces_;
  ParallelMessages parallel_;
  std::uint32_t to_follow_ = 0;                 ///< the same, for all peers
  std::vector<Rank> returns_due_;               ///< peers whose credits found no room to be returned
  std::vector<Rank> returns_now_;               ///< the same, while `advance` tries again
  std::uint64_t pass_ = 0;                      ///< number of the present pass of `advance`
  std::vector<core::MemoryPatience> patience_;  ///< [rank] while replies or returned credits wait for room
  Rank given_up_ = kNoRank;
  core::Busy busy_;  ///< set while the outbox or returns_due_ has something to send
  LongSender send_long_ = nullptr;
  void* send_long_layer_ = nullptr;
};

}  // namespace aqueduct::am
