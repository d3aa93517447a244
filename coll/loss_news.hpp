#pragma once

#include <aqueduct/rank.hpp>

#include "core/endpoint_state.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace aqueduct::coll {

struct LossMessage;

/// Losses that only a conduit reports. Two ranks that live may lose each other, as when a link between them breaks. A third one
/// notices nothing, and would wait for what they do not do any more.
///
/// A rank whose conduit has lost a peer waits a while for the launcher to confirm that the peer has ended, since then all
/// ranks learn of it. If it does not, the rank tells the others, for which the peer is lost too from then on. They tell
/// the peer itself. If it lives, it treats all others as lost, tells them so, and goes on alone: nobody waits for it, nor it
/// for anybody. So does a rank that reaches none of the others, without having been told. The launcher tells those, if it can: they
/// may not notice by themselves, as over a network that connects at first use.
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
  /// Whether this rank has lost a peer that nobody has said to be lost, or to finish, and the others do not know that: those that
  /// live may wait for this rank.
  bool untold() const noexcept;
  /// Whether this rank has lost all others so, and none of them could be told. Holds once.
  bool take_cut_off() noexcept { return std::exchange(cut_off_, false); }

 private:
  /// Something to tell.
  struct Loss {
    enum class Kind : std::uint8_t {
      own,    ///< this rank's conduit has lost the peer: all are told
      heard,  ///< another rank has: the peer is told, then it is lost to this rank
      alone   ///< the others have lost this rank: all are told, then they are lost to this rank
    };
    Kind kind;
    Rank peer;
    core::Clock::time_point since;
    std::vector<bool> told;  ///< [rank]
    bool reported = false;
  };
  void take(Rank source, const LossMessage& message) noexcept;
  void go_on_alone(Rank source) noexcept;
  /// Whether the peer is lost, or will soon be.
  bool knows_of(Rank peer) const noexcept;
  void remember(Loss::Kind kind, Rank peer) noexcept;
  /// Goes on with it. Returns whether it is over.
  bool go_on(Loss& loss, bool finishing) noexcept;
  /// Tells those who are not told, as far as there is room. Returns whether all are.
  bool tell(Loss& loss) noexcept;

  core::EndpointState& state_;
  std::vector<Loss> losses_;
  bool alone_ = false;
  bool cut_off_ = false;
};

}  // namespace aqueduct::coll
