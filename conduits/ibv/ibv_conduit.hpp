#pragma once

#include "conduits/ibv/bounced.hpp"
#include "conduits/ibv/burst.hpp"
#include "conduits/ibv/connection_manager.hpp"
#include "conduits/ibv/deals.hpp"
#include "conduits/ibv/door.hpp"
#include "conduits/ibv/link.hpp"
#include "conduits/ibv/link_map.hpp"
#include "conduits/ibv/memory.hpp"
#include "conduits/ibv/objects.hpp"
#include "conduits/ibv/rails.hpp"
#include "conduits/ibv/receive_room.hpp"
#include "conduits/ibv/slots.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"
#include "core/pieces.hpp"
#include "core/to_self.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace aqueduct::conduits::ibv {

/// One rank's way to the others by RDMA verbs: a reliable-connected queue pair to each peer that it talks to.
class IbvConduit final : public core::Conduit,
                         public core::NativeRma,
                         public core::NativeSignal,
                         public core::NativeVector,
                         public core::NativeAtomics,
                         public core::Waitable {
 public:
  /// `verbs` and `port` outlive it.
  IbvConduit(const Verbs& verbs, const Port& port, Objects objects, const IbvOptions& options,
             std::uint64_t job, Rank ranks, Rank me, core::Log& log);
  ~IbvConduit() override;

  /// Makes the endpoint ready to receive. The log says what was refused. `rails`: ports beside the first one, for large
  /// transfers; they outlive it.
  Status start(std::span<const Port> rails = {});

  const core::Properties& properties() const noexcept override { return properties_; }
  std::vector<std::byte> address() override;
  Status connect(std::span<const std::vector<std::byte>> addresses) override;
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override;
  int poll(core::Inbox& inbox) noexcept override;

  core::NativeRma* rma() noexcept override { return this; }
  core::NativeSignal* signal() noexcept override { return this; }
  core::NativeVector* vector() noexcept override;
  core::NativeAtomics* atomics() noexcept override { return objects_.sizes.atomics ? this : nullptr; }
  core::Waitable* waitable() noexcept override { return this; }
  void check_peers(core::Inbox& inbox) noexcept override;
  void forget(Rank peer) noexcept override;
  std::string state_of(Rank peer) const override;

  // NativeRma, NativeSignal (ibv_rma.cpp, ibv_signal.cpp)
  Result<std::vector<std::byte>> register_segment(SegmentId id, core::MutableBytes memory) override;
  void unregister_segment(SegmentId id) noexcept override;
  Result<std::uint64_t> import_key(Rank peer, core::Bytes key) override;
  void forget_key(Rank, std::uint64_t key) noexcept override { memory_.forget(key); }
  core::Post put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                 core::Token token) noexcept override;
  core::Post get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                 core::Token token) noexcept override;
  core::Post put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, Signal signal,
                        core::Token token) noexcept override;

  // NativeVector (ibv_vector.cpp)
  std::size_t most_local() const noexcept override;
  std::size_t most_remote() const noexcept override;
  core::Post put_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> to,
                        std::span<const core::Bytes> from, core::Token token) noexcept override;
  core::Post get_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> from,
                        std::span<const core::MutableBytes> to, core::Token token) noexcept override;

  // NativeAtomics (ibv_atomics.cpp)
  bool can(AtomicOp op, AtomicType type) const noexcept override;
  core::Post atomic(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                    core::Token token) noexcept override;

  // Waitable (ibv_wait.cpp)
  void arm() noexcept override;
  void disarm() noexcept override;
  void sleep(std::chrono::nanoseconds limit) noexcept override;
  std::chrono::nanoseconds within() const noexcept override;
  int descriptor() const noexcept override {
    if (manager_.is_open()) return manager_.descriptor();
    return rails_.empty() ? objects_.channel->fd : rails_.descriptor();
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Chosen: places in each queue that only the conduit's own small writes may take, so that credits always go back.
  static constexpr std::uint32_t kReserved = 2;

  /// A work request on the stack, and its piece of memory.
  struct Work {
    ibv_send_wr request{};
    ibv_sge piece{};
  };

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

  Status refused(const char* what, int error) const noexcept;
  void drain() noexcept;

  // What is posted: ibv_post.cpp.
  Link* reach(Rank peer) noexcept {
    Link* const link = peer < ranks_ ? links_[peer].get() : nullptr;
    return link != nullptr && link->ready ? link : knock(peer);
  }
  // What a peer does not end must leave room for the others: nobody has more under way than is still free.
  Flight* begin(Link& link, Flight::Kind kind, core::Token token) noexcept {
    const std::uint32_t reserved = kind == Flight::Kind::own ? 0 : reserved_;
    if (link.flights.room() <= reserved || left_ <= reserved || link.flights.count() > left_) [[unlikely]]
      return nullptr;
    --left_;
    return &link.flights.begin(kind, token);
  }
  core::Post no_link(Rank peer) const noexcept;
  core::Post launch(Link& link, ibv_send_wr& request, bool tells) noexcept;
  // Writes whose end says nothing of their arrival: ibv_confirm.cpp.
  bool must_confirm(Link& link) noexcept {
    return !objects_.sizes.confirms && link.flights[link.flights.next() - 1].kind == Flight::Kind::put;
  }
  void add_confirmation(Link& link, Work& read) noexcept;
  core::Post launch_confirmed(Link& link, ibv_send_wr& request) noexcept;
  void fill_read_back(const Link& link, Work& read) noexcept;
  bool probe(Link& link, Flight::Kind kind) noexcept;
  int take_unordered(Link& link, std::uint32_t number, const ibv_wc& completion, core::Inbox& inbox) noexcept;
  static bool front_ended(Link& link) noexcept;
  static void note_end(Link& link, std::uint32_t number) noexcept;
  // Gives the device a list of requests, the newest last. False: the newest at least was not taken.
  bool hand_over(Link& link, ibv_send_wr* first) noexcept {
    ibv_send_wr* bad = nullptr;
    const int error = ::ibv_post_send(link.pair.get(), first, &bad);
    if (error == 0) [[likely]]
      return true;
    refused(link, error, bad);
    return false;
  }
  void refused(Link& link, int error, const ibv_send_wr* bad) noexcept;
  core::Post take_back(Link& link) noexcept;
  void ring() noexcept;
  void undo(Link& link) noexcept;
  void name(Link& link, ibv_send_wr& request, bool tells) noexcept;
  core::Post send_message(Link& link, PacketHead::Kind what, core::Bytes header, core::Bytes payload,
                          ibv_send_wr& request, Flight::Kind kind, core::Token token) noexcept;
  bool post_own(Link& link, std::uint64_t at, std::uint32_t key, std::uint64_t value,
                bool has_value) noexcept;
  void give_credits(Link& link) noexcept;
  void owe(Link& link) noexcept;
  bool has_credit(Link& link) noexcept;

  // Local buffers, and puts: ibv_rma.cpp.
  // What a peer's adapter would refuse costs the connection; so it is not asked.
  bool in_range(Rank peer, const Key& key, std::uint64_t offset, std::size_t bytes,
                const char* what) noexcept {
    if (offset <= key.bytes && bytes <= key.bytes - offset) [[likely]]
      return true;
    out_of_range(peer, key, offset, bytes, what);
    return false;
  }
  void out_of_range(Rank peer, const Key& key, std::uint64_t offset, std::size_t bytes,
                    const char* what) noexcept;
  Lent lend(Flight& flight, core::Bytes buffer, bool copies, Work& work) noexcept;
  core::Post write(Link& link, Flight& flight, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                   bool inject, Work& work, bool tells) noexcept;
  core::Post announce(Link& link, std::uint64_t key, std::uint64_t offset, core::Bytes from, Signal signal,
                      core::Token token) noexcept;
  core::Post put_long(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                      core::Token token) noexcept;
  core::Post read(Link& link, Flight& flight, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                  Work& work) noexcept;
  core::Post put_to_self(const Key& key, std::uint64_t offset, core::Bytes from) noexcept;

  // Local memory that cannot be registered: ibv_bounced.cpp.
  core::Post or_bounce(core::Post post, std::span<const Bounced> transfer) noexcept;
  void go_on_bouncing() noexcept;
  core::Post bounce_piece(Bounced& one) noexcept;
  core::Post announce_bounced(Bounced& one) noexcept;
  int end_bounced(Rank peer, core::Inbox& inbox) noexcept;

  // Lists of pieces: ibv_vector.cpp.
  struct Pieces;
  template <class Local>
  core::Post transfer_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> remote,
                             std::span<const Local> local, ibv_wr_opcode opcode, core::Token token) noexcept;
  Lent add_piece(Link& link, Pieces& pieces, std::uint64_t key, std::uint64_t offset, core::Bytes part,
                 void* result, bool goes_on, ibv_wr_opcode opcode) noexcept;
  core::Post launch_all(Link& link, Pieces& pieces) noexcept;

  // Large transfers over several rails: ibv_rails.cpp.
  bool is_large(std::size_t bytes) const noexcept { return bytes > properties_.max_ordered; }
  std::optional<core::Post> deal(Rank peer, std::uint64_t key, std::uint64_t offset,
                                 core::MutableBytes buffer, ibv_wr_opcode opcode, core::Token token) noexcept;
  core::Post begin_share(Deal& deal, Share& share) noexcept;
  std::optional<core::Post> begin_by_rail(Deal& deal, Share& share) noexcept;
  void give_back(Share& share) noexcept;
  int end_share(Share& share, Status status, core::Inbox& inbox) noexcept;
  int poll_rails(core::Inbox& inbox) noexcept;

  // The rails' queue pairs: ibv_rail_links.cpp.
  void make_rails(Rank peer) noexcept;
  void connect_rails(Rank peer, const Hello& hello) noexcept;
  void leave_rail(Rail& rail, Rank peer, const char* why) noexcept;
  void leave_rail(Rail& rail, const char* why) noexcept;
  int end_shares_with(Rank peer, core::Inbox& inbox) noexcept;
  void take_events(Rail& rail) noexcept;

  void empty_channel() noexcept;  // ibv_wait.cpp

  // How connections are made: ibv_meet.cpp.
  Link* knock(Rank peer) noexcept;
  Link* make_link(Rank peer) noexcept;
  bool listen(Link& link, const Hello& hello) noexcept;
  void learn(Link& link, const Hello& hello) noexcept;
  Hello hello_for(const Link& link) const noexcept;
  bool can_count() const noexcept { return objects_.sizes.depth <= BesidePut::kMostDepth; }
  bool make_way(Link& link) noexcept;
  void say_hello(Link& link) noexcept;
  void heard(const Hello& hello) noexcept;
  void knock_again() noexcept;

  // The same over iWARP: ibv_meet_calls.cpp.
  bool renew(Link& link) noexcept;
  void call(Link& link) noexcept;
  void call_later(Link& link) noexcept;
  void accept(Link& link, Call call, const Hello& hello) noexcept;
  void called(const ConnectionManager::Event& event) noexcept;
  void take_calls() noexcept;
  void take_hang_ups() noexcept;
  void greet() noexcept;

  // What comes back: ibv_poll.cpp.
  int take(const ibv_wc& completion, core::Inbox& inbox) noexcept;
  int take_message(const ibv_wc& completion, core::Inbox& inbox) noexcept;
  int take_flight(const ibv_wc& completion, core::Inbox& inbox) noexcept;
  void give_room() noexcept;
  void give_owed() noexcept;
  int end_front(Link& link, Status status, core::Inbox& inbox) noexcept;
  int tell(Flight::Kind kind, core::Token token, Status status, core::Inbox& inbox) noexcept;

  // What goes wrong: ibv_lost.cpp.
  void explain(const Link& link, const Flight& flight, const ibv_wc& completion) noexcept;
  void take_events() noexcept;
  void suspect(Rank peer, const char* why) noexcept;
  bool is_suspected(Rank peer) const noexcept;
  int lose(core::Inbox& inbox) noexcept;
  int bury(Rank peer, core::Inbox& inbox) noexcept;
  void give_up(const char* why) noexcept;
  Status loss_of(Rank peer) const noexcept {
    return {peer == me_ ? ErrorCode::network_failed : ErrorCode::peer_lost, peer};
  }

  const Verbs& verbs_;
  const Port& port_;
  core::Log& log_;
  IbvOptions options_;
  std::uint64_t job_;
  Rank me_;
  Rank ranks_;
  core::Properties properties_;
  Objects objects_;
  Memory memory_;
  LocalCache cache_;
  Slots slots_;
  BouncedTransfers bounced_;
  RegisteredPages
      cells_;  // of 8 bytes, one for each rank: how many of my messages it has taken; then one for each
               // that is read to for nothing
  ReceiveRoom receive_;
  Door door_;
  ConnectionManager manager_;  // instead of the door, over iWARP; ends after the links
  core::ToSelf to_self_;
  std::vector<Address> addresses_;
  std::vector<std::uint8_t> gone_;  // by rank
  std::vector<std::unique_ptr<Link>> links_;
  LinkMap by_pair_;
  Burst burst_;
  std::uint32_t left_;                  // work requests that there is room for
  std::uint32_t inline_bytes_;          // what a work request itself may carry
  std::uint32_t burst_bytes_;           // of these, puts that may go in a burst
  std::uint32_t reserved_ = kReserved;  // places in each queue that callers' requests leave
  std::uint64_t round_ = 1;             // of poll
  std::vector<Link*> taken_from_;       // in this poll: their buffers go back
  std::vector<Link*> owing_;            // credits that found no room, or that an answer may bring along
  std::vector<Link*> owing_now_;        // of the last poll, while they are given
  std::vector<Link*> knocking_;
  std::vector<Link*> to_greet_;       // over iWARP: that I have called, and who wait for a word
  std::vector<Link*> hung_up_;        // over iWARP: connections that have ended
  std::uint32_t polls_uncalled_ = 0;  // since calls were looked for
  std::vector<Rank> forgotten_;       // the launcher's word, until the next poll
  std::vector<Rank> suspected_;       // the device's word, until the next poll
  Rank probed_ = 0;
  bool bounce_said_ = false;
  bool lacks_credit_ = false;  // something could not be posted for that, since the last poll
  bool more_ = false;          // the last poll may have left completions
  bool look_at_channel_ = false;
  bool disarmed_ = true;
  bool broken_ = false;
  Rails rails_;
  Deals deals_;
  std::size_t turn_ = 0;  // of the rails, to be dealt the next share
};

}  // namespace aqueduct::conduits::ibv
