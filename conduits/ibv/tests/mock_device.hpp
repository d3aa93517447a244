#pragma once

#include "conduits/ibv/verbs.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace aqueduct::conduits::ibv::mock {

/// Properties of a device, and its faults. They may be changed at any time.
struct Device {
  std::string name = "mock0";
  ibv_transport_type transport = IBV_TRANSPORT_IB;
  ibv_device_attr limits{};
  ibv_port_attr port{};
  std::vector<ibv_gid_entry> gids;
  std::uint32_t most_inline = 220;
  std::uint32_t pages_on_demand =
      0;  ///< ibv_odp_transport_cap_bits of connected queue pairs; 0: no on-demand paging
  bool opens = true;
  int requests = 0;         ///< posted to its connected queue pairs so far
  std::uint64_t bytes = 0;  ///< carried by those requests
  int post_send = 0;        ///< result of posting to its connected queue pairs
  bool connects = true;     ///< its queue pairs can be connected
  bool unplugged = false;   ///< requests on its connected queue pairs get no answer
  bool silent = false;      ///< requests are not carried out before `resume`
  bool slow = false;        ///< requests are not carried out before a completion queue is polled

  Device();
  bool iwarp() const noexcept { return transport == IBV_TRANSPORT_IWARP; }
  /// As an iWARP adapter: without datagrams, immediate data, atomics; writes and messages complete when they leave.
  /// As siw, it sends wrong bytes when a payload of 32 bytes or fewer crosses a page.
  void make_iwarp();
};

/// Faults of the whole network.
struct Faults {
  std::size_t lockable = SIZE_MAX;  ///< bytes that can be pinned, in all
  bool gone = false;                ///< the device refuses every call
  int post_send = 0;                ///< result of posting to connected queue pairs
  int room = -1;  ///< how many requests connected queue pairs still take; -1: as many as they should
  ibv_wc_status next =
      IBV_WC_SUCCESS;      ///< how the next request on a connected queue pair ends; then success again
  int drop_datagrams = 0;  ///< how many will be lost
  int stop_datagrams = 0;  ///< how many fail to leave, which stops the queue pair
  int refused_starts = 0;  ///< how often a queue pair of datagrams is not made ready
  int no_way = 0;  ///< how many address vectors of peers are refused, of handles and connections; -1: all
  int no_way_error = EHOSTUNREACH;
  int receives = -1;    ///< how many receives the queues still take; -1: all
  bool silent = false;  ///< requests on connected queue pairs are not carried out
  bool no_pairs = false;
  int refused_calls = 0;    ///< how many connection requests find no listener
  int timed_out_calls = 0;  ///< how many time out, though the peer has received them
  int overlooked = 0;  ///< as siw: posts that the accepting side of a connection takes only when more arrive
};

/// Counts since the start, or since they were reset.
struct Counts {
  int writes = 0;
  int signalled_writes = 0;  ///< with immediate
  int reads = 0;
  int sends = 0;
  int atomics = 0;
  int datagrams = 0;
  int doorbells = 0;    ///< calls that posted to connected queue pairs
  int completions = 0;  ///< of requests on connected queue pairs
  int not_ready = 0;    ///< messages that found no receive
  int ways = 0;         ///< address handles that were asked for
  int calls = 0;        ///< connection requests by librdmacm
  int overruns = 0;     ///< completions that found no room
  int breaches = 0;     ///< uses beyond a limit that the device has reported

  int requests() const { return writes + signalled_writes + reads + sends + atomics; }
};

struct Pair;

struct Completions : ibv_cq {
  struct Entry {
    ibv_wc what;
    Pair* pair;
    std::uint64_t ends;  ///< ends the queue pair's requests up to this number; 0: a receive
  };
  std::deque<Entry> entries;
  bool armed = false;
};

struct Receive {
  std::uint64_t id;
  ibv_sge piece;
};
struct Receives : ibv_srq {
  std::deque<Receive> posted;
};

struct Request {
  ibv_send_wr what;
  std::vector<ibv_sge> pieces;
  std::vector<std::byte> bytes;  ///< inline data
  std::uint64_t number;
  bool completed = false;  ///< before it was carried out
};

struct Pair : ibv_qp {
  ibv_qp_cap room{};
  std::uint32_t peer = 0;
  std::uint32_t datagram_key = 0;
  std::uint8_t reads = 0;
  std::deque<Receive> receives;
  std::deque<Request> requests;  ///< not carried out yet
  bool waits = false;            ///< it has accepted a connection, and may not send before the other side has
  int overlooks = 0;             ///< posts of its peer that it will overlook
  bool overlooked = false;       ///< its requests have been, until it posts again
  std::uint64_t posted = 0;
  std::uint64_t ended = 0;  ///< whose completions the conduit has polled
};

/// A network of adapters in this process. Requests are carried out when they are posted. All else is as with a real
/// one: queues fill up, keys are checked, unsignaled requests free their places only with a later completion.
/// Thread-safe. Only one can exist at a time, because verbs are plain functions.
class Network {
 public:
  Network();
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  Verbs verbs() const;

  std::vector<Device> devices{Device{}};
  Faults faults;
  Counts counts;

  /// Bytes that are pinned now, and the most that have been since the start or since `reset_peak`.
  std::size_t registered() const { return locked_; }
  std::size_t peak() const { return peak_; }
  void reset_peak() { peak_ = locked_; }
  /// Bytes that are registered now without being pinned.
  std::size_t on_demand() const { return on_demand_; }
  /// The MTUs of connected queue pairs.
  std::vector<ibv_mtu> mtus;
  /// Gives every open context an event.
  void event(ibv_event_type type);
  /// A process has died: its queue pairs (those of that completion queue) no longer answer.
  void kill(std::uint32_t pair_number);
  /// Carries out what `silent` has held back.
  void resume();

 private:
  friend struct Calls;
  friend struct ConnectionMock;

  bool refuses_way();

  Pair* find(std::uint32_t number);
  void begin_all(Pair& pair, bool now = false);
  bool begin(Pair& pair, Request& request);
  ibv_wc_status carry_out(Pair& pair, Pair& peer, Request& request, bool& not_ready);
  bool take(Pair& peer, const std::vector<std::byte>& bytes, ibv_wc what, std::size_t offset);
  void datagram(Pair& pair, Request& request);
  bool gather(const Pair& pair, const Request& request, std::vector<std::byte>& bytes);
  bool scatter(const Pair& pair, const Request& request, const std::byte* bytes, std::size_t count);
  bool local(const Pair& pair, const ibv_sge& piece) const;
  std::byte* remote(const Pair& pair, std::uint64_t at, std::uint32_t key, std::size_t bytes,
                    int access) const;
  Device& device_of(const Pair& pair);
  void complete(ibv_cq* queue, Completions::Entry entry);

  struct Region {
    std::unique_ptr<ibv_mr> what;
    int access;
  };
  struct Context : ibv_context {
    std::deque<ibv_event_type> events;
    int events_end = -1;
    std::size_t device_index = 0;
  };
  bool can_begin(const Pair& pair, const ibv_send_wr& request);
  void complete_early(Pair& pair, Request& request);

  std::recursive_mutex mutex_;
  std::vector<std::unique_ptr<ibv_device>> shown_;
  std::vector<ibv_device*> list_;
  std::vector<Context*> contexts_;
  std::map<std::uint32_t, Pair*> pairs_;
  std::map<std::uint32_t, Region> regions_;
  std::size_t locked_ = 0;
  std::size_t peak_ = 0;
  std::size_t on_demand_ = 0;
  std::uint32_t next_ = 17;
};

/// librdmacm over that network. Addresses are ignored: a listener is found by its port.
ConnectionCalls connection_calls();
void use_for_calls(Network& network);
/// The queue pair of a connection has died with its process: the other side gets an event.
void hang_up(Network& network, std::uint32_t pair_number);

}  // namespace aqueduct::conduits::ibv::mock
