#pragma once

#include "conduits/ibv/verbs.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace aqueduct::conduits::ibv::mock {

/// What the next device is like, and what goes wrong with it. May be changed at any time.
struct Device {
  std::string name = "mock0";
  ibv_transport_type transport = IBV_TRANSPORT_IB;
  ibv_device_attr limits{};
  ibv_port_attr port{};
  std::vector<ibv_gid_entry> gids;
  std::uint32_t most_inline = 220;
  std::uint32_t pages_on_demand =
      0;  ///< of ibv_odp_transport_cap_bits, over connected queue pairs; 0: none at all
  bool opens = true;
  int requests = 0;         ///< posted to its connected queue pairs so far
  std::uint64_t bytes = 0;  ///< that they carried
  int post_send = 0;        ///< what posting answers on its connected queue pairs
  bool connects = true;     ///< its queue pairs can be connected
  bool unplugged = false;   ///< what is begun on its connected queue pairs finds no answer
  bool silent = false;      ///< it is not begun before `resume`
  bool slow = false;        ///< it is not begun before somebody looks for what has ended

  Device();
  bool iwarp() const noexcept { return transport == IBV_TRANSPORT_IWARP; }
  /// As an iWARP adapter: without datagrams, immediate data, atomics; its writes and messages end when they leave.
  void make_iwarp();
};

/// Things that go wrong.
struct Faults {
  std::size_t lockable = SIZE_MAX;  ///< bytes that can be pinned, in all
  bool gone = false;                ///< the device: whatever is asked of it is refused
  int post_send = 0;                ///< what posting answers on connected queue pairs
  ibv_wc_status next =
      IBV_WC_SUCCESS;      ///< how the next request on a connected queue pair ends; then success again
  int drop_datagrams = 0;  ///< so many are lost
  bool silent = false;     ///< nothing posted to connected queue pairs is begun
  bool no_pairs = false;
  int refused_calls = 0;    ///< so many calls find nobody who listens
  int timed_out_calls = 0;  ///< so many are given up, though the peer has got them
};

/// What has been asked of it since the start, or since it was set back.
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
  int calls = 0;        ///< for connections, by librdmacm
  int overruns = 0;     ///< completions that found no room
  int breaches = 0;     ///< of a limit that the conduit had been told

  int requests() const { return writes + signalled_writes + reads + sends + atomics; }
};

struct Pair;

struct Completions : ibv_cq {
  struct Entry {
    ibv_wc what;
    Pair* pair;
    std::uint64_t ends;  ///< requests of the pair's, up to this one; 0: a receive
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
  std::vector<std::byte> bytes;  ///< inline ones
  std::uint64_t number;
  bool completed = false;  ///< before it was begun
};

struct Pair : ibv_qp {
  ibv_qp_cap room{};
  std::uint32_t peer = 0;
  std::uint32_t datagram_key = 0;
  std::uint8_t reads = 0;
  std::deque<Receive> receives;
  std::deque<Request> requests;  ///< not begun
  bool waits = false;            ///< it has answered a call, and may not send before the other side has
  std::uint64_t posted = 0;
  std::uint64_t ended = 0;  ///< that the conduit has heard of
};

/// A network of adapters in this process. Requests are done when they are posted; all the rest is as with a real one:
/// queues fill up, keys are checked, unsignalled requests free their places only with a later one's completion.
/// Thread-safe. There is one at a time, because verbs are plain functions.
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
  /// Bytes that are registered now, and not pinned.
  std::size_t on_demand() const { return on_demand_; }
  /// The MTUs that connected queue pairs have been given.
  std::vector<ibv_mtu> mtus;
  /// Tells every open context.
  void event(ibv_event_type type);
  /// A process has died: its queue pairs (those that hear on that completion queue) answer no more.
  void kill(std::uint32_t pair_number);
  /// Posts what was kept back by `silent`.
  void resume();

 private:
  friend struct Calls;
  friend struct ConnectionMock;

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

/// librdmacm over that network. Addresses mean nothing: a listener is found by its port.
ConnectionCalls connection_calls();
void use_for_calls(Network& network);
/// The queue pair of a connection has died with its process: the other side hears of it.
void hang_up(Network& network, std::uint32_t pair_number);

}  // namespace aqueduct::conduits::ibv::mock
