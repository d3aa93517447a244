#pragma once

#include <aqueduct/vis.hpp>

#include "rma/transfers.hpp"
#include "vis/plan.hpp"
#include "vis/staging_buffers.hpp"
#include "vis/transfer.hpp"
#include "vis/wire.hpp"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace aqueduct::vis {

using aqueduct::detail::EndpointState;
using Begun = rma::Transfers::Begun;
using Completion = rma::Transfers::Completion;

/// The arguments of a call. `there` is the remote side, `here` the local side.
struct Request {
  What what = What::put;
  AtomicType type{};  ///< for an accumulate
  GlobalPtr<std::byte> base;
  const Shape& there;
  std::uint64_t here_base = 0;
  const Shape& here;
  PutOptions options{};
  const Signal* signal = nullptr;
  core::Op* part_of =
      nullptr;  ///< with Completion::group: joins this one, in place of any group of the program
};

/// Vector, indexed and strided transfers of one endpoint.
///
/// A call checks its arguments, copies directly if the peer is mapped, and otherwise chooses a plan and takes the
/// first step. What cannot be posted then is continued by `advance`, one step in each round of progress. No step
/// waits. Memory is bounded whatever the number of transfers and pieces: they share kMostStagingBuffers and
/// kMostChunks chunks.
///
/// Handlers (target.cpp) run at the peer of a packed transfer, to unpack or gather, and here, to scatter the answer
/// to a packed get. A handler never continues a transfer itself: it puts it into the queue for `advance`.
class PieceTransfers final : public core::Layer {
 public:
  explicit PieceTransfers(EndpointState& state);

  /// The settings of this layer: the plan for transfers of pieces.
  static std::span<const SettingInfo> settings() noexcept;

  /// Starts a transfer. Errors: as in vis.hpp; a failure before anything has begun is in the Status.
  Begun start(const Request& request, Completion completion) noexcept;
  /// Takes this plan from now on, wherever it is possible; kPlans: chooses again. For measurements.
  void force(std::uint64_t plan) noexcept { forced_ = plan; }

  // core::Layer
  void advance() noexcept override;
  void peer_lost(Rank peer) noexcept override;
  void describe(std::string& text, Rank peer) const override;

 private:
  friend struct PackedTarget;
  /// The result of a step.
  ///
  /// waits  nothing to do until an answer arrives: its handler queues the transfer
  /// again  try again in the next round of progress (no room now, or boxes to poll for)
  /// over   all is posted, or the transfer has failed: only its operation is left
  enum class Step { waits, again, over };

  // piece_transfers.cpp
  Begun start_checked(const Request& request, Completion completion);
  std::optional<Begun> as_one(const Request& request, const Survey& there, const Survey& here,
                              Completion completion) noexcept;
  Begun begin(const Request& request, Transfer& transfer, Completion completion) noexcept;
  Question question(const Transfer& transfer, const core::SegmentPart* part) const noexcept;
  Plan choose(Transfer& transfer, core::SegmentPart* part, bool signalled) noexcept;
  Step go_on(Transfer& transfer) noexcept;
  bool gives_up_without_memory(Transfer& transfer) noexcept;
  void enqueue(Transfer& transfer) noexcept;
  void answered(Transfer& transfer) noexcept;
  void fail(Transfer& transfer, Status why) noexcept;
  static bool last_part_ended(core::Layer& layer, core::Op& op) noexcept;
  Transfer* take();
  void give_back(Transfer& transfer) noexcept;

  // check.cpp
  Status check(const Request& request, Survey& there, Survey& here);
  Status reject(const Request& request, ErrorCode code, const std::string& why);

  // Each plan has a file of its own.
  bool copy_direct(const Request& request, std::byte* mapped, const Survey& there) noexcept;
  bool copy_regular(const Request& request) noexcept;
  Step pieces(Transfer& transfer) noexcept;
  Step atomics(Transfer& transfer) noexcept;
  Step put_packed(Transfer& transfer) noexcept;
  Step get_packed(Transfer& transfer) noexcept;
  Step get_box(Transfer& transfer) noexcept;
  Step native(Transfer& transfer) noexcept;

  core::Post send(Transfer& transfer, HandlerId handler, const PackedRequest& request, StagingBuffer& stage,
                  std::size_t bytes) noexcept;
  void scatter(Chunk& chunk, core::Bytes data) noexcept;
  std::span<Chunk> chunks() noexcept { return {chunks_.get(), chunks_ != nullptr ? kMostChunks : 0}; }
  /// A buffer for the next packet or box, or null. If memory is missing, `refused_` says so.
  StagingBuffer* take_stage() noexcept;
  /// Gives a free chunk to the transfer. Null if all chunks are in use, which progress frees, or for want of memory, as above.
  Chunk* take_chunk(Transfer& transfer) noexcept;
  void give_back(Chunk& chunk) noexcept;
  std::uint64_t most_in_box(Rank peer) const noexcept;

  EndpointState& state_;
  rma::Transfers& rma_;
  Planner planner_;
  StagingBuffers staging_buffers_;
  std::unique_ptr<std::uint64_t[]> reply_;  ///< buffer in which a handler gathers the answer to a packed get
  std::unique_ptr<Chunk[]> chunks_;         ///< kMostChunks, allocated at the first use
  std::uint64_t chunks_taken_ = 0;          ///< a bit for each chunk in use
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::vector<Transfer*> free_;
  std::vector<Transfer*> queue_;              ///< to be continued by `advance`
  core::Busy busy_;                           ///< set while the queue is not empty
  core::Post refused_ = core::Post::retry();  ///< why the latest step has found no room
  std::uint64_t forced_ = kPlans;
};

}  // namespace aqueduct::vis
