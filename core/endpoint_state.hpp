#pragma once

#include <aqueduct/config.hpp>
#include <aqueduct/endpoint.hpp>

#include "core/atomic_set.hpp"
#include "core/backoff.hpp"
#include "core/clock.hpp"
#include "core/conduit.hpp"
#include "core/continuations.hpp"
#include "core/group_record.hpp"
#include "core/guard.hpp"
#include "core/handler_queue.hpp"
#include "core/hidden_layout.hpp"
#include "core/layer.hpp"
#include "core/log.hpp"
#include "core/network_profile.hpp"
#include "core/op.hpp"
#include "core/peer_order.hpp"
#include "core/segment_table.hpp"
#include "core/stand_in.hpp"
#include "core/wiped_memory.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace aqueduct::am {
class Messages;
}
namespace aqueduct::rma {
class Transfers;
}
namespace aqueduct::vis {
class PieceTransfers;
}
namespace aqueduct::coll {
class Barriers;
}
namespace aqueduct::runtime {
struct EndpointParts;
}

namespace aqueduct::detail {

/// The state of an endpoint: conduits, operations, segments and layers. runtime/ builds it. A layer uses core and the
/// layers below it.
struct EndpointState {
  EndpointState(Rank my_rank, Rank all, const Config& settings);
  ~EndpointState();

  core::WipedMemory face_pages;
  Endpoint& face;  ///< what the user sees; on `face_pages`
  Rank rank;
  Rank ranks;
  const Config& config;
  core::Guard guard;  ///< who may use all of this now; see core/entry.hpp
  core::Log log;

  // How each peer is reached.
  std::unique_ptr<core::Conduit> near;                   ///< null when switched off
  std::unique_ptr<core::Conduit> far;                    ///< null in a job of one host
  std::vector<core::Conduit*> conduit_of;                // [rank]
  std::vector<std::uint32_t> host_of;                    // [rank]
  std::map<std::string, core::NetworkProfile> profiles;  // [conduit] that were asked for
  std::vector<Rank> neighbours;
  /// By index among the neighbours: where each was at the start, as "0-3,8".
  std::vector<std::string> cpus_of;
  std::vector<bool> lost;  // [rank]
  Rank lost_count = 0;
  std::atomic<std::uint32_t> refusals_named{0};  ///< in the log: core/refuse.hpp
  /// The first lost ranks, as this one has learned of them. Others may have left only because of these.
  std::array<Rank, 8> first_lost{};
  bool lost_by_conduit = false;  ///< within `peer_lost`: a conduit of this endpoint has found the loss

  std::uint32_t busy = 0;  ///< number of layers with queued work: see core::Busy
  /// Number of layers that wait for memory which others change. They too go on in progress, but a sleep need not be
  /// short: who changes the memory wakes this rank.
  std::uint32_t watching = 0;
  core::OpPool ops;
  core::Op unobserved;         ///< a group of the operations whose group was destroyed; it never ends
  core::GroupList groups;      ///< the program's groups, and `implicit`
  core::GroupRecord implicit;  ///< the group of `_nbi` operations outside a region
  core::Op* region = nullptr;  ///< the open access region, which all threads share
  core::Continuations continuations;
  core::HandlerQueue handlers;  ///< messages whose handlers run outside the lock
  core::SegmentTable segments;
  core::HiddenSizes hidden;  ///< what the collectives engine has in segment 1
  core::PeerOrder order;     ///< what fences hold back
  core::EndpointClock clock;
  bool own_time = false;  ///< the clock is a conduit's: it goes on only when the rank polls or waits
  core::Pacing pacing;
  Statistics statistics;

  runtime::EndpointParts* owner = nullptr;  ///< the owner of this state
  /// For handles that may outlive the endpoint: this, and null once it has ended.
  std::shared_ptr<EndpointState*> link = std::make_shared<EndpointState*>(this);

  // The layers that the hot path uses; null until built. Others are found by their class: `layer<L>()`.
  am::Messages* messages = nullptr;
  rma::Transfers* transfers = nullptr;
  vis::PieceTransfers* vis = nullptr;
  coll::Barriers* barriers = nullptr;
  core::Inbox* inbox = nullptr;
  std::vector<core::BuiltLayer> layers;  ///< in building order; they end in reverse order
  std::unique_ptr<Team> world;
  std::unique_ptr<core::StandIn> stand_in;  ///< null: no thread goes on with collective operations
  bool atomics_by_processor = true;         ///< processors do the atomics that belong to no domain
  core::AtomicSet network_atomics;  ///< the atomics that the far conduit does at every rank of the job
  /// Which words the far conduit treats as one at every rank of the job: the least of their properties.
  core::WholeWords network_words = core::WholeWords::puts_and_gets;
  /// The most bytes of one native put or get that every rank of the job can do on each of its conduits.
  std::uint64_t least_transfer = ~std::uint64_t{0};
  bool through_sockets = false;  ///< a conduit of a rank of the job has Properties::through_sockets
  /// What rank 0 has told all ranks about tuning, as words; null: nothing. The same on all of them (coll/tune).
  std::shared_ptr<const std::vector<std::uint64_t>> tuning;
  /// [rank] whether its host has more of the job's ranks than processors. The same on all ranks.
  std::vector<bool> crowded;
  bool near_serves_host = false;  ///< every rank of this host has a near conduit
  /// NativeCollectives::offer of the one conduit that serves all ranks of the job; 0: there is none, or the offers differ.
  std::uint64_t collectives_of_all = 0;

  /// Inside progress: handlers run, nothing may wait. Under the lock, so it is this thread. Also in the calls of a handler
  /// outside the lock, and so is `in_handler`.
  alignas(std::uint32_t) bool polling = false;
  bool in_handler = false;
  // Beside these two, so that is_plain() looks at all of them at once.
  bool guarded = guard.guards();
  bool fenced = false;  ///< fences count the operations
  /// The present round of progress is a StandIn's: what it finds of losses waits for the program's next one.
  bool stands_in = false;
  bool sets_up = false;  ///< a thread makes or releases a segment: see runtime/set_up_call.hpp
  /// This thread is in a continuation: operations may begin, but nothing else may be waited for. False whenever the lock
  /// is let go of, so other threads never see it.
  bool in_continuation = false;
  /// Rounds of progress that the program has made. Written under the lock; the stand-in reads it without.
  std::atomic<std::uint32_t> polls{0};
  std::uint64_t moves = 0;                      ///< what layers have begun in `advance`, as a count
  std::uint64_t arrivals = 0;                   ///< what progress has found since the start, in all
  std::atomic<std::uint64_t> notifications{0};  ///< operations on mapped memory with `notify`
  core::Clock::time_point checked_peers{};
  /// Calls `peer_lost` for the ranks that the launcher has reported; set by runtime/.
  std::function<void()> poll_losses;
  std::vector<StatisticsRow> statistics_rows;

  /// The layer of this class; null until it is built. A layer's constructor finds the layers below it.
  template <class L>
  L* layer() const noexcept {
    for (const core::BuiltLayer& built : layers) {
      if (built.layer_class == &core::kLayerClass<L>) return static_cast<L*>(built.layer.get());
    }
    return nullptr;
  }
  /// Adds rows to the statistics of this endpoint, such as a layer's. The counters live as long as the layer.
  void add_statistics(std::initializer_list<StatisticsRow> rows) {
    statistics_rows.insert(statistics_rows.end(), rows);
  }

  /// Whether this is a forked child's copy of the state. Conduits and peers belong to the parent, so every call that
  /// communicates or waits checks this first and refuses.
  bool in_child() const noexcept { return face.ranks() == 0; }
  /// Whether a call that does not wait may begin, without an Entry and without a look at fences; one that waits may if this
  /// thread is not `in_continuation` either. Reads first whether another thread, such as a stand-in, may be in the endpoint,
  /// and then nothing that it may change.
  bool is_plain() const noexcept {
    if (guarded) [[unlikely]]
      return false;
    std::uint32_t hindrances;
    std::memcpy(&hindrances, &polling, sizeof hindrances);
    return hindrances == 0 && !in_child();
  }
  /// The error for a rank or segment that does not exist here: in a forked child, none does.
  ErrorCode refusal() const noexcept {
    return in_child() ? ErrorCode::invalid_argument : ErrorCode::out_of_range;
  }
  /// The group that `_nbi` operations of this thread join now.
  core::Op& group() noexcept { return region != nullptr && !in_continuation ? *region : implicit.all; }
  /// Whether a collective call, or a wait for more than an operation that begins here, must be refused.
  bool must_not_wait() const noexcept { return polling || in_continuation; }
  core::Conduit& conduit(Rank peer) noexcept { return *conduit_of[peer]; }
  /// Wakes a neighbour if it sleeps: this endpoint has changed memory for which it may be waiting.
  void wake(Rank peer) noexcept {
    if (core::CrossMap* map = conduit_of[peer]->cross_map()) map->wake(peer);
  }
  /// As `wake`, after plain stores, such as those of a put. Does nothing for this rank itself.
  void wake_after_stores(Rank peer) noexcept {
    if (peer == rank || peer >= ranks || in_child()) return;
    // The stores must be visible before `wake` looks whether the peer sleeps. An atomic read-modify-write is a barrier
    // on all machines that we know (conduits/smp/smp_map.cpp); TSan does not follow fences.
    notifications.fetch_add(1);
    wake(peer);
  }
  /// A peer is gone. The first call for each peer closes its windows, tells conduits and layers, and ends the
  /// operations that only packets carried, with peer_lost. Further calls do nothing.
  void peer_lost(Rank peer) noexcept;

 private:
  /// Makes the face look at the table of segments.
  void show_segments() noexcept;
  static Endpoint& make_face(const core::WipedMemory& pages) noexcept;
};

}  // namespace aqueduct::detail

namespace aqueduct::core {

using aqueduct::detail::EndpointState;

/// One round of progress: polls the conduits, then lets layers with queued work continue. Returns the number of
/// arrivals. Does nothing when it is called inside itself, as by a handler. Lets go of the lock while it runs handlers
/// that run outside. Requires: an Entry, if threads share the endpoint.
int progress(EndpointState& state) noexcept;
/// Asks the conduits and the launcher for lost peers, at most every 20 ms.
void check_peers(EndpointState& state) noexcept;

/// What messages to a rank cost: Endpoint::network_model. Requires: there is such a rank, and its conduit is open.
NetworkModel network_model_of(aqueduct::detail::EndpointState& state, Rank peer);

}  // namespace aqueduct::core
