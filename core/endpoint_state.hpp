#pragma once

#include <aqueduct/config.hpp>
#include <aqueduct/endpoint.hpp>

#include "core/atomic_set.hpp"
#include "core/backoff.hpp"
#include "core/clock.hpp"
#include "core/conduit.hpp"
#include "core/layer.hpp"
#include "core/log.hpp"
#include "core/op.hpp"
#include "core/segment_table.hpp"
#include "core/wiped_memory.hpp"

#include <functional>
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
class Engine;
}
namespace aqueduct::coll {
class Barriers;
}
namespace aqueduct::runtime {
struct EndpointParts;
}

namespace aqueduct::detail {

/// Everything an endpoint is made of. Built by runtime/, used by the layers; each knows only those below it.
struct EndpointState {
  EndpointState(Rank my_rank, Rank all, const Config& settings);
  ~EndpointState();

  core::WipedMemory face_pages;
  Endpoint& face;  ///< what the user sees; on `face_pages`
  Rank rank;
  Rank ranks;
  const Config& config;
  core::Log log;

  // Who is reached how.
  std::unique_ptr<core::Conduit> near;     ///< null when switched off
  std::unique_ptr<core::Conduit> far;      ///< null in a job of one host
  std::vector<core::Conduit*> conduit_of;  // [rank]
  std::vector<std::uint32_t> host_of;      // [rank]
  std::vector<Rank> neighbours;
  std::vector<bool> lost;  // [rank]
  Rank lost_count = 0;

  core::OpPool ops;
  core::Op implicit;           ///< the group of `_nbi` operations outside a region
  core::Op* region = nullptr;  ///< the open access region
  core::SegmentTable segments;
  core::EndpointClock clock;
  core::Pacing pacing;
  Statistics statistics;

  runtime::EndpointParts* owner = nullptr;  ///< what holds this and the layers

  // The layers; null until built.
  am::Messages* messages = nullptr;
  rma::Transfers* transfers = nullptr;
  vis::Engine* vis = nullptr;
  coll::Barriers* barriers = nullptr;
  core::Inbox* inbox = nullptr;
  std::vector<core::Layer*> layers;
  std::unique_ptr<Team> world;
  std::uint32_t busy = 0;            ///< how many pieces of work wait in the layers for `advance`
  bool atomics_by_processor = true;  ///< atomics on mapped memory are plain instructions
  core::AtomicSet network_atomics;   ///< what the far conduit does, for every rank of the job

  bool polling = false;  ///< inside progress: handlers run, nothing may wait
  bool in_handler = false;
  std::uint32_t polls = 0;
  core::Clock::time_point checked_peers{};
  /// What the launcher says of lost peers; set by runtime/.
  std::function<void()> poll_losses;

  /// Whether this is the copy of a forked child, to which nothing belongs: whatever communicates or waits asks this first.
  bool in_child() const noexcept { return face.ranks() == 0; }
  /// Why something that `ranks` or segments seem not to have is refused.
  ErrorCode refusal() const noexcept {
    return in_child() ? ErrorCode::invalid_argument : ErrorCode::out_of_range;
  }
  /// The group that `_nbi` operations join now.
  core::Op& group() noexcept { return region != nullptr ? *region : implicit; }
  core::Conduit& conduit(Rank peer) noexcept { return *conduit_of[peer]; }
  /// Wakes a neighbour that may sleep over memory that this endpoint has changed.
  void wake(Rank peer) noexcept {
    if (core::CrossMap* map = conduit_of[peer]->cross_map()) map->wake(peer);
  }
  /// Said once per peer: tells the layers, fails what was on its way.
  void peer_lost(Rank peer) noexcept;

 private:
  /// Makes the face look at the table of segments.
  void show_segments() noexcept;
  static Endpoint& make_face(const core::WipedMemory& pages) noexcept;
};

}  // namespace aqueduct::detail

namespace aqueduct::core {

using aqueduct::detail::EndpointState;

/// One round: polls the conduits, then lets the layers go on. Nothing inside a handler.
int progress(EndpointState& state) noexcept;
/// Asks conduits and launcher who is gone; at most every 20 ms.
void check_peers(EndpointState& state) noexcept;

}  // namespace aqueduct::core
