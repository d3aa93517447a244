#pragma once

#include "conduits/udp/carrier/address.hpp"
#include "conduits/udp/carrier/path_mtu.hpp"
#include "conduits/udp/protocol/burst_patience.hpp"
#include "conduits/udp/protocol/decode.hpp"
#include "conduits/udp/protocol/gso_batch.hpp"
#include "conduits/udp/protocol/memory_shortage.hpp"
#include "conduits/udp/protocol/received_packets.hpp"
#include "conduits/udp/protocol/rtt.hpp"
#include "conduits/udp/protocol/seal.hpp"
#include "conduits/udp/protocol/send_buffers.hpp"
#include "conduits/udp/protocol/sent_packets.hpp"
#include "core/conduit.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace aqueduct::conduits::udp {

/// What a connection's packets do to the endpoint above.
class UpperLayer {
 public:
  /// Whether there is room for what a packet brings: `messages` messages with `bytes` bytes in all, and `signals`
  /// signals. If not, the packet counts as lost.
  virtual bool ready(std::size_t messages, std::size_t bytes, std::size_t signals) noexcept = 0;
  virtual void message(Rank from, core::Bytes bytes) noexcept = 0;
  virtual void completed(core::Token token, Status status) noexcept = 0;
  virtual void signalled(Rank from, Signal signal) noexcept = 0;
  /// Memory of this endpoint's segment `id`; empty if it has no such segment.
  virtual core::MutableBytes segment(std::uint32_t id) noexcept = 0;
  /// A peer's put or get (`call`) is outside this endpoint's segments. Called once per connection.
  virtual void refused(Rank from, const char* call, std::uint32_t segment, std::uint64_t offset,
                       std::size_t bytes) noexcept = 0;

 protected:
  ~UpperLayer() = default;
};

/// State that all connections of an endpoint share.
struct Common {
  Common(UpperLayer& the_upper, Rank my_rank, std::uint64_t job_number)
      : upper(the_upper), me(my_rank), job(job_number) {}

  UpperLayer& upper;
  Rank me;
  std::uint64_t job;
  Security security = Security::header;
  Secret secret{};
  Cipher cipher = best_cipher();       ///< one that every peer has
  std::size_t most_datagram = 65'504;  ///< limit of the setting and the socket
  std::size_t mtu_hint = 0;            ///< UDP payload that the interface carries, according to the system
  std::size_t burst = 65'504;          ///< most bytes in one system call
  std::size_t most_batch_packets = GsoBatch::kMostPackets;
  Time ack_delay = 500 * kMicrosecond;
  Time heartbeat = kSecond;
  Time timeout = 5 * kSecond;
  /// How long there may be no memory for what goes to or comes from a peer. Chosen: less than the timeout. A peer whose packets
  /// are dropped hears nothing, and takes this endpoint for lost after that; only this endpoint can say why.
  Time no_memory_limit() const noexcept { return timeout / 2; }
  /// The size of packets that need no probe: less than on other paths if the setting or the interface says so.
  std::size_t base_mtu() const noexcept {
    const std::size_t interface = mtu_hint == 0 ? kBaseMtu : std::max(mtu_hint, kLeastPacket);
    return std::min({kBaseMtu, most_datagram, interface}) / 8 * 8;
  }
  /// Advertised window: bytes that each peer may have in flight to this endpoint.
  std::uint32_t window = 65'536;
  core::Redirect* redirects = nullptr;  ///< a list: where puts of peers go in place of the segment

  Pool<Bundle> bundles{16'384, 16};
  static constexpr std::size_t kMostLongMessages = 4'096;
  Pool<LongMessage> long_messages{kMostLongMessages, 4};
  Pool<BulkTransfer> bulk_transfers{65'536, 64};
};

/// Statistics of the traffic with one peer.
struct ConnectionCounters {
  std::uint64_t sent = 0, received = 0, sent_bytes = 0, received_bytes = 0;  ///< packets of any kind
  std::uint64_t retransmitted = 0, duplicate = 0, out_of_order = 0, rejected = 0;
  std::uint64_t timeouts = 0, probes = 0;  ///< retransmission timeouts, tail-loss probes
};

/// The protocol state with one peer. Repairs loss, reordering and duplication; obeys congestion and flow control. Has
/// no clock and no socket: callers pass in the time and received packets, and ask for GSO batches to send.
class Connection {
 public:
  /// `peer_base`: the peer's Common::base_mtu().
  Connection(Common& common, Rank peer, const Secret& peer_secret, Time now,
             std::size_t peer_base = kBaseMtu);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Operations of the layers above (connection_post.cpp). retry: there is no room now.
  core::Post send(core::Bytes header, core::Bytes payload) noexcept;
  /// What a put reads when its packets leave. `copied`: a copy, so the source is free at once. Requires: at most
  /// kMostCopied bytes then.
  enum class Source : std::uint8_t { in_place, copied };
  /// When the peer should acknowledge a put: `any_time` if nobody waits for it.
  enum class Answer : std::uint8_t { soon, any_time };
  core::Post put(std::uint32_t segment, std::uint64_t offset, core::Bytes from, const Signal* signal,
                 core::Token token, Source source = Source::in_place, Answer answer = Answer::soon) noexcept;
  core::Post put_announced(std::uint32_t segment, std::uint64_t offset, core::Bytes from,
                           const Announcement& signal, core::Token token, Source source = Source::in_place,
                           Answer answer = Answer::soon) noexcept;
  core::Post get(std::uint32_t segment, std::uint64_t offset, core::MutableBytes to,
                 core::Token token) noexcept;
  core::Post update(std::uint32_t segment, std::uint64_t offset, const detail::AtomicCall& call,
                    core::Token token) noexcept;

  // Receiving (connection_receive.cpp).
  enum class Verdict : std::uint8_t { taken, rejected, closed };
  Verdict receive(Time now, Packet& packet, std::span<std::byte> datagram) noexcept;

  // Sending (connection_send.cpp).
  /// Puts the packets that may leave now into `batch`, which is empty. False: none may leave.
  bool fill(Time now, GsoBatch& batch, bool& may_fragment) noexcept;
  /// Writes a close packet.
  void fill_close(Time now, GsoBatch& batch) noexcept;
  /// Whether something waits to leave, for the window or otherwise.
  bool waiting() const noexcept;
  /// Whether enough waits to be worth a system call while earlier packets are in flight.
  bool full_load() const noexcept {
    return ready_count_ >= kFullBundles || long_messages_count_ >= kFullLongMessages ||
           long_message_bytes_waiting_ >= kFullBytes || copied_bytes_waiting_ >= kFullBytes ||
           shorts_waiting_ >= kFullShorts;
  }
  /// Whether waiting packets should leave at once. Messages usually come in series: only the first ones leave at once, because
  /// one system call, or one packet, then takes several of the others. Of long messages it is the first one. With two, the four
  /// messages of a packed put of 64 KiB took 16 % more time, near and far cores alike.
  bool idle() const noexcept {
    const std::uint32_t alone = long_messages_count_ != 0                        ? 1
                                : !patience_.waits() || !bulk_transfers_.empty() ? 4
                                : patience_.expects_more()                       ? 0
                                                                                 : 1;
    return sent_packets_.packets_in_flight() < alone;
  }
  // What has become of a message that was posted, or of those that waited.
  bool holds() const noexcept { return patience_.holds(); }
  void held(Time now) noexcept { patience_.held(now); }
  void posts() noexcept { patience_.posted(); }
  void progresses() noexcept { patience_.progressed(); }
  void leaves_at_once() noexcept {
    if (sent_packets_.packets_in_flight() != 0) patience_.left_at_once();
  }
  void leaves(Time now) noexcept { patience_.left(now); }

  // Timers (connection_time.cpp).
  /// When `tick` must be called.
  Time deadline() const noexcept;
  enum class Liveness : std::uint8_t {
    alive,
    silent,  ///< nothing was heard for the timeout
    /// In that time no packet above the base MTU arrived, but several, and at least half, of the shorter ones.
    black_hole,
    attempts_exhausted,  ///< a packet has been sent 65536 times
    no_memory,  ///< for Common::no_memory_limit this endpoint had no memory for anything to or from the peer
  };
  /// Runs the timers. If the answer is not `alive`, the caller must end the connection.
  Liveness tick(Time now) noexcept;
  /// Writes a ping if one is due: as a keep-alive, or to find out whether short packets arrive while long ones do not.
  bool fill_ping(Time now, GsoBatch& batch) noexcept;
  /// Writes a ping if one is due, without acknowledgements: for the middle of `receive`, in which a packet may be half applied.
  bool fill_bare_ping(Time now, GsoBatch& batch) noexcept;
  /// This endpoint itself was not running for `gap` until now, so the peer's silence in that time does not count.
  void discount_pause(Time now, Time gap) noexcept {
    heard_at_ = std::min(heard_at_ + gap, now);
    if (suspected()) black_hole_since_ = std::min(black_hole_since_ + gap, now);
    shortage_.discount_pause(now, gap);
  }
  /// The endpoint has had no memory for something to or from the peer.
  void short_of_memory() noexcept { shortage_.note(); }
  /// The system refused a datagram of `bytes` as too long.
  void too_long(Time now, std::size_t bytes) noexcept { mtu_.black_hole(now, bytes); }

  /// Ends all operations with `status`; later ones fail.
  void fail(Status status) noexcept;
  bool settled() const noexcept { return ended_ || (sent_packets_.empty() && !waiting()); }
  /// Replies to gets that still read from this endpoint's segments.
  std::size_t replies() const noexcept { return replies_; }
  /// Whether one of them reads from this segment.
  bool reads(SegmentId segment) noexcept;
  /// The memory of this segment is about to be released. Retransmissions of replies will not read it.
  void drop_replies(SegmentId segment) noexcept;

  Rank peer() const noexcept { return peer_; }
  Time heard_at() const noexcept { return heard_at_; }
  const ConnectionCounters& counters() const noexcept { return counters_; }
  std::string text(Time now) const;

  bool dirty = false;  ///< in the endpoint's list of connections that may have packets to send
  const Address* address = nullptr;

 private:
  template <class F>
  void for_each_reply(SegmentId segment, const F& each) noexcept;
  struct PendingGet {  // a get that this endpoint began
    core::Token token = 0;
    std::byte* to = nullptr;
    std::uint32_t bytes = 0;
    std::uint32_t arrived = 0;
    std::uint32_t next_free = 0;
  };
  struct Reassembly {  // reassembly of a message that arrives in fragments
    std::uint32_t id;
    std::uint32_t arrived;
    LongMessage* long_message;
  };
  struct PartialPut {  // a put with a signal that arrives in pieces
    std::uint32_t id;
    std::uint32_t missing;
    Announcement signal;
    bool good;  // every piece so far was inside the segment
  };

  /// Least reordering window, however short the path: threads migrate, interrupts come late.
  static constexpr Time kLeastReordering = 20 * kMicrosecond;
  /// After this many attempts a packet may be too long for its path.
  static constexpr std::uint32_t kSuspectAttempts = 3;
  /// This many short packets must have arrived to prove that the path carries short packets.
  static constexpr std::uint32_t kShortsThatProve = 4;
  static constexpr std::size_t kMostBundles = 48;
  // As much as this is worth a system call of its own, see full_load.
  static constexpr std::size_t kFullBundles = 16;
  static constexpr std::size_t kFullShorts = 32;
  static constexpr std::size_t kFullLongMessages = 24;
  static constexpr std::size_t kFullBytes = 48 * 1024;
  /// After this many bundles in a row something long may leave, if it waits.
  static constexpr std::uint32_t kMostShortsInRow = 16;
  /// After this many GSO batches of long messages a put or a reply to a get may leave.
  static constexpr std::uint32_t kMostLongBatchesInRow = 4;
  static constexpr std::size_t kMostLongMessages = 64;
  /// Bytes in all of them: 16 of the longest.
  static constexpr std::size_t kMostLongMessageBytes = 256 * 1024;
  static constexpr std::size_t kMostGets = 256;
  static constexpr std::size_t kMostBulkTransfers = 256;

  std::size_t trailer() const noexcept { return common_.security == Security::full ? Seal::kTrailer : 0; }

  /// Notes it if a pool had no object because there is no memory for more.
  template <class T>
  void note_shortage(const Pool<T>& pool) noexcept {
    if (pool.lacks_memory()) shortage_.note();
  }

  // post
  /// The most frames of one bundle at present: its packet must fit the path, also with the longest acknowledgement.
  std::size_t bundle_room() const noexcept {
    return std::min(Bundle::kBytes, mtu_.size() - kHeadroom - trailer());
  }
  std::byte* room(std::size_t bytes, bool with_token) noexcept;
  void close_bundle() noexcept;
  LongMessage* take_buffer(std::uint32_t bytes) noexcept;
  void give_buffer(LongMessage& buffer) noexcept;
  bool queue_bulk(const BulkTransfer& what) noexcept;
  bool grow_gets() noexcept;

  // send: which packet, and when
  bool may_send(Time now, std::size_t bytes) noexcept;
  /// Whether one more packet can be remembered until it is acknowledged.
  bool may_remember() noexcept {
    if (sent_packets_.full()) return false;
    if (sent_packets_.reserve()) [[likely]]
      return true;
    shortage_.note();
    return false;
  }
  void advance_pacing(Time now, std::size_t bytes) noexcept;
  SentPacket new_packet(Time now, SentPacket::Kind kind, std::size_t wire_bytes) noexcept;
  /// Appends a packet: the header is written at `front`, `frames` bytes of frames follow it there, then comes `data`.
  /// Authenticates or encrypts it.
  void append_packet(Time now, GsoBatch& batch, PacketHeader header, std::byte* front, std::size_t frames,
                     const std::byte* data, std::size_t data_bytes) noexcept;
  bool fill_lost(Time now, GsoBatch& batch, bool& may_fragment) noexcept;

  // send data (connection_send_data.cpp)
  bool fill_bundle(Time now, GsoBatch& batch) noexcept;
  bool fill_long_message(Time now, GsoBatch& batch) noexcept;
  bool fill_bulk(Time now, GsoBatch& batch) noexcept;
  /// The longest packet that may leave at present.
  std::size_t longest_packet() const noexcept;
  /// The longest packet of bulk data at present.
  std::size_t longest_bulk() const noexcept;
  /// Whether a packet that takes one of `most` send places asks for an immediate acknowledgement. One packet in each
  /// half of the places does.
  static bool requests_ack(std::size_t& since_request, std::size_t most) noexcept;
  void append_bundle(Time now, GsoBatch& batch, Bundle& bundle, std::uint64_t number,
                     std::uint16_t attempt) noexcept;
  void append_long_message(Time now, GsoBatch& batch, LongMessage& long_message, std::uint64_t number,
                           const SentPacket& packet) noexcept;
  void append_fragment(Time now, GsoBatch& batch, LongMessage& long_message, std::uint64_t number,
                       const SentPacket& piece) noexcept;
  void append_bulk(Time now, GsoBatch& batch, BulkTransfer& bulk, std::uint64_t number,
                   const SentPacket& piece) noexcept;
  std::size_t long_message_bytes(const LongMessage& long_message) const noexcept;
  std::size_t bulk_head(const BulkTransfer& bulk) const noexcept;

  // send control packets (connection_send_control.cpp)
  bool fill_control(Time now, GsoBatch& batch, PacketKind kind) noexcept;
  bool fill_probe(Time now, GsoBatch& batch) noexcept;
  /// Writes an acknowledgement at `to`; returns its bytes.
  std::size_t write_ack(Time now, std::byte* to, std::size_t most_ranges) noexcept;

  // receive
  bool authentic(Packet& packet, std::span<std::byte> datagram) noexcept;
  bool replayed(std::uint64_t number) noexcept;
  /// The peer lives: a packet of it has arrived that had not arrived before.
  void heard(Time now) noexcept;
  bool has_room(const Packet& packet, const Needs& needs) noexcept;
  bool has_room_for_pieces(const Packet& packet) noexcept;
  Verdict apply(Time now, const Packet& packet, bool fresh) noexcept;
  void apply(Time now, const Ack& ack) noexcept;
  bool apply(const Message& message) noexcept;
  bool apply(const Fragment& fragment) noexcept;
  bool apply(const Put& put) noexcept;
  bool carry_out(const Announcement& signal) noexcept;
  bool apply(const Get& get) noexcept;
  bool apply(const Data& data) noexcept;
  bool apply(const Update& update) noexcept;
  void refuse(const char* call, std::uint32_t segment, std::uint64_t offset, std::size_t bytes) noexcept;
  void delivered(Time now, std::uint64_t number, std::uint32_t echo) noexcept;
  void acknowledged(SentPacket& packet) noexcept;
  void want_ack(Time by) noexcept { ack_at_ = std::min(ack_at_, by); }

  // time
  /// The peer has missed a keep-alive, so lost packets prove nothing about the path's MTU.
  bool quiet(Time now) const noexcept { return now - heard_at_ > 2 * common_.heartbeat; }
  Time probe_timeout() const noexcept;
  Time retransmit_at() const noexcept;
  void suspect_black_hole(Time now, const SentPacket& lost) noexcept;
  /// Whether long packets are being retransmitted and none has arrived since.
  bool suspected() const noexcept { return black_hole_since_ != kNever; }
  void suspect_black_hole_since(Time since) noexcept;
  bool in_black_hole(Time now) noexcept;
  void note_short(std::size_t wire_bytes) noexcept { shorts_sent_ += wire_bytes <= mtu_.base() ? 1 : 0; }
  /// When a ping is due.
  Time ping_at() const noexcept;

  Common& common_;
  Rank peer_;
  Seal out_;
  Seal in_;
  std::uint64_t out_verification_tag_ = 0;  // with Security::none: a constant in place of the tag
  std::uint64_t in_verification_tag_ = 0;
  ConnectionCounters counters_;
  MemoryShortage shortage_;

  // Waiting to leave.
  Bundle* open_ = nullptr;
  Queue<Bundle> ready_;
  Queue<LongMessage> long_messages_;
  Queue<BulkTransfer> bulk_transfers_;
  std::size_t ready_count_ = 0;
  std::size_t long_messages_count_ = 0;
  std::size_t long_message_bytes_waiting_ = 0;
  std::size_t copied_bytes_waiting_ = 0;  // of puts whose source was copied
  BurstPatience patience_;
  std::size_t shorts_waiting_ = 0;   // operations put into bundles since no bundle waited
  std::uint32_t shorts_in_row_ = 0;  // bundles that left since something long left
  // Batches of long messages that left since one of a bulk transfer left.
  std::uint32_t long_batches_in_row_ = 0;
  std::size_t bundles_used_ = 0;  // waiting or in flight
  std::size_t long_messages_used_ = 0;
  std::size_t long_message_bytes_used_ = 0;  // bytes of their messages
  // Bundles that left since one asked for an immediate acknowledgement.
  std::size_t bundles_since_request_ = 0;
  std::size_t long_messages_since_request_ = 0;
  std::size_t bulk_transfers_used_ = 0;
  std::size_t replies_ = 0;  // how many of these are replies to gets
  std::uint32_t next_id_ = 0;
  std::size_t answer_probe_ = 0;

  // In flight.
  SentPackets sent_packets_;
  RoundTrip rtt_;
  Congestion congestion_;
  PathMtu mtu_;
  // Retransmissions of packets above the base MTU since one of them arrived.
  std::uint32_t large_retransmissions_ = 0;
  // Detects a path that carries only short packets. Over IPv6 no router fragments packets made for a larger MTU.
  Time black_hole_since_ = kNever;  // when the first long packet was retransmitted, or proof was last missing
  std::uint32_t shorts_sent_ = 0;   // short packets sent since then: each transmission counts, pings too
  std::uint32_t shorts_arrived_ = 0;               // how many of these have arrived
  std::optional<std::uint32_t> short_ping_stamp_;  // stamp of the ping whose echo counts as an arrival
  std::uint64_t peer_window_;
  std::uint64_t control_number_ = 0;
  Time next_departure_ = 0;       // pacing: the next packet leaves no earlier
  Time paced_until_ = kNever;     // when pacing lets a waiting packet leave; kNever: none waits for pacing
  Time recheck_ = kNever;         // when a packet may next count as lost
  bool tail_probe_due_ = false;   // a tail-loss probe is due: it does not wait for a window
  int expiries_ = 0;              // of the retransmission timer since the last acknowledgement
  std::uint32_t reordering_ = 4;  // the reordering window is the least round trip divided by this
  std::uint32_t peer_duplicates_ = 0;
  std::vector<PendingGet> gets_;
  std::uint32_t free_get_ = 0;  // index + 1
  std::size_t gets_used_ = 0;

  // Arrived.
  ReceivedPackets received_;
  std::uint64_t control_seen_ = 0;  // one more than the highest control number
  std::uint64_t control_bits_ = 0;  // which of the 64 numbers below control_seen_ have arrived
  std::vector<Reassembly> reassemblies_;
  std::vector<PartialPut> partial_puts_;
  std::uint32_t echo_ = 0;
  Time echo_at_ = 0;  // 0: nothing to echo
  Time ack_at_ = kNever;
  std::uint64_t unacknowledged_ = 0;  // bytes that arrived since the last acknowledgement left
  Time heard_at_;
  Time pinged_at_ = 0;
  bool ended_ = false;
  bool refused_ = false;             // an operation of the peer was refused, and reported
  bool attempts_exhausted_ = false;  // a packet has been sent 65536 times
};

}  // namespace aqueduct::conduits::udp
