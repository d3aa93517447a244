#pragma once

#include <aqueduct/rank.hpp>

#include "core/endpoint_state.hpp"

#include <vector>

namespace aqueduct::coll {

struct LossMessage;

/// Losses of which only the network tells. Two ranks that live may lose each other, as when a link between them breaks. A
/// third one notices nothing, and would wait for what they do not do any more.
///
/// A rank whose conduit has lost a peer waits a while for the launcher to confirm that the peer has ended, since then all
/// ranks learn of it. If it does not, the rank tells the others, for which the peer is lost too from then on. They tell
/// the peer itself. If it lives, it takes all others for lost, and says so to them: it goes on alone, and nobody waits
/// for it, nor it for anybody.
///
/// Cost: a message for each other rank, only after such a loss.
class LossNews {
 public:
  explicit LossNews(core::EndpointState& state);
  LossNews(const LossNews&) = delete;
  LossNews& operator=(const LossNews&) = delete;

  /// The conduit of this rank has lost the peer.
  void add(Rank peer) noexcept;
  /// The launcher knows of it: all ranks learn so.
  void confirm(Rank peer) noexcept;
  /// Tells what has waited for long enough, as far as there is room. Cheap if there is nothing.
  void pass_on() noexcept;

 private:
  struct Loss {
    Rank peer;
    core::Clock::time_point since;
    std::vector<bool> told;  ///< [rank]
    bool reported = false;
  };
  void take(Rank source, const LossMessage& message) noexcept;
  void go_on_alone(Rank source) noexcept;
  /// Tells all who are not told, as far as there is room. Returns whether all are.
  bool tell(Loss& loss) noexcept;

  core::EndpointState& state_;
  std::vector<Loss> losses_;
  bool alone_ = false;
};

}  // namespace aqueduct::coll
