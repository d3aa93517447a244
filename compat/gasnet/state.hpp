#pragma once

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/handles.hpp>

#include <gasnetex.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What this process knows of its GASNet job. There is one: GASNet-EX has one client in a process.

struct aqg_client {
  std::string name;
  gex_Flags_t flags = 0;
  void* data = nullptr;
};

/// Memory that may be bound to endpoints. Its memory stays with Aqueduct until the job ends: to release a segment there
/// is collective, and to destroy one here is local.
struct aqg_segment {
  void* data = nullptr;
  char* address = nullptr;
  std::size_t bytes = 0;
  bool attached = false;                          ///< by gex_Segment_Attach
  std::optional<aqueduct::SegmentMemory> memory;  ///< allocated by Aqueduct, and not published yet
};

struct aqg_endpoint {
  gex_EP_Index_t index = 0;
  gex_Flags_t flags = 0;
  gex_EP_Capabilities_t capabilities = 0;
  aqg_segment* segment = nullptr;
  void* data = nullptr;
  std::array<gex_AM_Entry_t, 256> handlers = {};
  std::array<bool, 256> known = {};  ///< whether the number has a handler
  std::array<bool, 256> any_args =
      {};  ///< registered by gasnet_attach, which does not say how many arguments
};

namespace aqueduct::gasnet {

inline constexpr unsigned kEndpoints = GASNET_MAXEPS;

/// The segment that is bound to an endpoint of some rank; 0 bytes if none is known here.
struct Bound {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  gex_EP_Capabilities_t capabilities = GEX_EP_CAPABILITY_ALL;  ///< of that endpoint
  std::uint32_t reserved = 0;                                  ///< it is sent as it lies in memory
};

/// A team as this layer keeps it. A gex_TM_t points to its first part.
struct Tm : aqg_team {
  Team* team = nullptr;  ///< of the endpoint, or `own`
  std::optional<Team> own;
  std::uint32_t name = 0;  ///< equal on all members, and different for each team of this rank
  gex_Flags_t flags = 0;
  void* data = nullptr;
  void* scratch = nullptr;
  std::size_t scratch_bytes = 0;
  std::atomic<bool> barrier_is_split{
      false};  ///< a barrier without an event is under way: Team::notify's, or a blocking one
  std::map<std::uint32_t, std::uint32_t>
      reductions;  ///< by functions of the client's so far, by element and commutativity
};
/// Ends the job: a call for a team was given none.
[[noreturn]] void no_team();
inline Tm& whole(gex_TM_t tm) {
  if (tm == nullptr || aqg_is_pair(tm)) [[unlikely]]
    no_team();
  return *static_cast<Tm*>(tm);
}

struct State {
  State(Job&& started, Endpoint& endpoint, HandlerSpace handlers)
      : job(std::move(started)), ep(endpoint), space(handlers) {}

  Job job;
  Endpoint& ep;
  HandlerSpace space;
  aqg_client client;
  std::array<std::unique_ptr<aqg_endpoint>, kEndpoints> endpoints;
  std::array<aqg_place*, kEndpoints> places{};             ///< by job rank; null: nothing is known
  aqg_shift* shifts = nullptr;                             ///< of the primordial endpoints, by job rank
  std::array<std::unique_ptr<Bound[]>, kEndpoints> bound;  ///< likewise
  Tm* world = nullptr;
  std::optional<Team> exit_team;         ///< of gasnet_exit, and of what is collective before it
  std::vector<std::string> environment;  ///< of rank 0: NAME=VALUE

  std::size_t medium = 0;  ///< the largest payload of a medium message to any rank
  std::size_t long_request = 0;
  std::size_t long_reply = 0;
  std::size_t least_long_reply = 0;    ///< for a buffer that is lent
  std::uint64_t most_segment = 0;      ///< of this rank
  std::uint64_t most_segment_all = 0;  ///< the least of all ranks'

  std::vector<Rank> nbrhd;     ///< the ranks that share memory with this one
  std::vector<Rank> host;      ///< the ranks of this host
  std::vector<Rank> nbrhd_of;  ///< the number of each rank's neighbourhood
  std::vector<Rank> host_of;   ///< the number of each rank's host
  Rank nbrhds = 0;
  Rank hosts = 0;

  bool legacy = false;  ///< GASNet-1's calls may be used
  bool threads_deferred = false;

  Rank me() const noexcept { return ep.rank(); }
};

/// gex_System_SetVerboseErrors, and gasnet_set_waitmode: also before the start.
extern std::atomic<bool> verbose_errors;
extern std::atomic<int> wait_mode;

/// Null before gex_Client_Init.
extern State* the_state;
/// Ends the process: a call came before gex_Client_Init.
[[noreturn]] void not_started() noexcept;
inline State& state() noexcept {
  if (the_state == nullptr) [[unlikely]]
    not_started();
  return *the_state;
}

/// A place of which nothing is known: its window is always closed.
inline constexpr aq_window kClosedWindow{nullptr, 0};
inline constexpr aqg_place kNoPlace{0, ~0u, 0, &kClosedWindow, &kClosedWindow};

/// Zeroes at the end of a page, for what inline calls read: a load from the start of one would wait for the stores of the
/// transfer before (docs/decisions/0108-tables-at-the-end-of-pages.md). For the life of the process.
void* at_end_of_page(std::size_t bytes);
/// Other threads may read it meanwhile.
void set_shift(aqg_shift& shift, const aqg_shift& to) noexcept;
/// Looks whether one rank, another one each time, is lost: what is addressed to it goes through the library from then on, which says so.
void look_for_a_loss() noexcept;
/// The places of an endpoint of each rank: nothing is known yet.
aqg_place* make_places(Rank ranks);
/// The same of shifts, of the primordial endpoints.
aqg_shift* make_shifts(Rank ranks);
/// That of a segment that lies at a place, and is this rank's own or not.
aqg_shift shift_of(const aqg_place& place, const Bound& bound, bool is_own) noexcept;

/// An endpoint of some rank, and this rank's endpoint that addresses it.
struct Peer {
  Rank rank;
  unsigned local;   ///< the number of the endpoint here
  unsigned remote;  ///< and there
};
inline Peer peer_of(gex_TM_t tm, gex_Rank_t rank) noexcept {
  const auto word = reinterpret_cast<std::uintptr_t>(tm);
  if ((word & 1) != 0) {
    return {rank, static_cast<unsigned>(word >> 8 & 0xfff), static_cast<unsigned>(word >> 20 & 0xfff)};
  }
  if (rank >= tm->size) [[unlikely]]
    return {kNoRank, 0, 0};  // the call that follows says so
  return {tm->ranks != nullptr ? tm->ranks[rank] : rank, 0, 0};
}

/// Where `address` of the peer's process lies. Of no segment if the peer's is not known here: Aqueduct refuses it.
inline GlobalPtr<std::byte> place_of(const Peer& peer, const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const aqg_place* const known =
      peer.remote < kEndpoints && peer.rank < state().ep.ranks() ? state().places[peer.remote] : nullptr;
  if (known == nullptr) return {peer.rank, at, ~SegmentId{0}};
  const aqg_place& place = known[peer.rank];
  return {peer.rank, at - place.base, place.segment};
}

/// Ends the job: a call has failed in a way that GASNet has no return value for.
[[noreturn]] void fail(const char* call, const Peer* peer, Status why);
[[noreturn]] void fail(const char* call, const char* why);
/// Returns false for `refused`, true for success, and otherwise fails.
inline bool done_or_refused(const char* call, const Peer& peer, Status status) {
  if (status) [[likely]]
    return true;
  if (status.code() == ErrorCode::refused) return false;
  fail(call, &peer, status);
}

/// The operations with implicit completion of one thread, and what else it has.
struct Thread {
  explicit Thread(Endpoint& ep) : puts(ep), gets(ep), messages(ep), atomics(ep) {}

  Group puts;
  Group gets;
  Group messages;
  Group atomics;
  struct Composite* region = nullptr;  ///< the access region that is open
  int in_loopback = 0;                 ///< handlers of messages to oneself that are running
  int rounds_at_end = 0;               ///< of the destructors of its thread
  Thread* next_ended = nullptr;
  struct {
    gex_AM_Index_t handler = 0;  ///< 0: not armed
    const void* payload = nullptr;
    std::size_t bytes = 0;
  } after_pieces;  ///< gex_VIS_SetPeerCompletionHandler
};
Thread& thread();
/// The group that an operation joins: the region's, or the one given.
Group* group_of(Thread& here, Group& group) noexcept;

/// Whether a handler of messages is running on this thread: of this layer's own, or of a message to oneself.
bool in_handler();
/// In checked builds ends the job if memory of this rank's own endpoint lies outside of its bound segment.
void check_own_place(const char* call, const Peer& peer, const void* address, std::size_t bytes);

/// How many handler-safe locks this thread holds.
extern thread_local int locks_held;

/// An event with parts, or without an Event: a put with an event of its source, an access region, a barrier of Team::notify.
struct alignas(16) Composite {
  std::atomic<void*> root{nullptr};           ///< the word of an Event; another thread may ask if it is done
  std::atomic<void*> leaf{nullptr};           ///< likewise, of the source
  Group* group = nullptr;                     ///< of a region: stands for both
  std::atomic<Composite*>* holder = nullptr;  ///< points here until the event is synced
  Tm* barrier = nullptr;                      ///< whose Team::notify the event stands for
  struct GatheredReduction* gathered = nullptr;  ///< what to combine when the event is synced
  Composite* next_free = nullptr;
};
/// Whether the operation is over.
bool composite_done(const Composite& event) noexcept;
inline gex_Event_t as_root(Composite* event) noexcept {
  return reinterpret_cast<gex_Event_t>(reinterpret_cast<std::uintptr_t>(event) | 2);
}
inline gex_Event_t as_leaf(Composite* event) noexcept {
  return reinterpret_cast<gex_Event_t>(reinterpret_cast<std::uintptr_t>(event) | 4);
}
/// The handle of an Event that has no parts. `refused` becomes GEX_EVENT_NO_OP.
gex_Event_t handle(const char* call, Event&& event);
/// The handle of an operation whose source has an Event; that one is stored in *lc.
gex_Event_t handle(const char* call, Event&& event, Event&& source, gex_Event_t* lc);

/// The handle of an operation; `holder` points to its event until it is synced. None if it is over.
gex_Event_t handle(const char* call, Event&& event, std::atomic<Composite*>& holder);

/// The handle of the barrier that Team::notify of that team has just begun. It does not count against AQUEDUCT_OPERATIONS.
gex_Event_t handle_of_split_barrier(Tm& tm);

/// Starts the job for a client; the error of gex_Client_Init.
int start(Threads threads, const char* client, gex_Flags_t flags);
/// Attaches the primordial segment.
int attach(std::uint64_t bytes, aqg_segment** segment);
/// Adds a handler to an endpoint; false if the number is taken or illegal. `index` 0 takes the highest free number.
bool add_handler(aqg_endpoint& ep, gex_AM_Entry_t& entry, bool any_args);
/// Registers the layer's own handler for all numbers.
Status add_raw_handlers(HandlerSpace& space);
/// Sends a message to a reply handler with no arguments, as a request.
void notify(const Peer& peer, gex_AM_Index_t handler, const void* payload, std::size_t bytes);
/// Prints an error if the client wants to see it, and returns the code.
int error(int code, const char* call, const char* why);
/// Catches the signals that end a job, and the end of main.
void watch_the_end();
/// Whether a list of signals such as "SIGINT,term,15" has this one. "*" has all.
bool is_listed(int number, std::string_view list);
/// Comes before catch_fatal_signal, and is of the thread that calls it: what is done before a signal ends the process.
void prepare_fatal_signals(bool with_backtraces, bool with_freezes);
/// Leaves a signal that has a handler alone.
void catch_fatal_signal(int number);
/// Those of GASNET_FREEZE_SIGNAL and GASNET_BACKTRACE_SIGNAL.
void catch_demand_signals();

}  // namespace aqueduct::gasnet
