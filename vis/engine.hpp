#pragma once

#include <aqueduct/vis.hpp>

#include "rma/transfers.hpp"
#include "vis/plan.hpp"
#include "vis/stages.hpp"
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
using Ending = rma::Transfers::Form;

/// What a caller asks for.
struct Request {
  What what = What::put;
  AtomicType type{};  ///< of an accumulate
  GlobalPtr<std::byte> base;
  const Shape& there;
  std::uint64_t here_base = 0;
  const Shape& here;
  PutOptions options{};
  const Signal* signal = nullptr;
};

/// Vector, indexed and strided transfers of one endpoint.
///
/// Nothing waits here: a transfer goes on, in steps, when there is progress. Whatever the number of pieces, the
/// endpoint's transfers share kMostStages buffers and kMostChunks chunks under way.
class Engine final : public core::Layer {
 public:
  explicit Engine(EndpointState& state);

  Begun start(const Request& request, Ending ending) noexcept;
  /// Takes this plan from now on, where it can be had; kPlans: as the model says. For measurements.
  void force(std::uint64_t plan) noexcept { forced_ = plan; }

  // core::Layer
  void advance() noexcept override;
  void peer_lost(Rank peer) noexcept override;
  void describe(std::string& text, Rank peer) const override;

 private:
  friend struct PackedTarget;
  /// What is left to do for now: nothing until answers come; to be tried again; nothing.
  enum class Step { waits, again, over };

  // engine.cpp
  Begun start_checked(const Request& request, Ending ending);
  std::optional<Begun> as_one(const Request& request, const Survey& there, const Survey& here,
                              Ending ending) noexcept;
  Begun begin(const Request& request, Transfer& transfer, Ending ending) noexcept;
  Question question(const Transfer& transfer, const core::Part* part) const noexcept;
  Plan choose(Transfer& transfer, core::Part* part, bool signalled) noexcept;
  Step go_on(Transfer& transfer) noexcept;
  void enqueue(Transfer& transfer) noexcept;
  void answered(Transfer& transfer) noexcept;
  void fail(Transfer& transfer, Status why) noexcept;
  static bool last_part_ended(core::Layer& layer, core::Op& op) noexcept;
  Transfer* take();
  void give_back(Transfer& transfer) noexcept;

  // check.cpp
  Status check(const Request& request, Survey& there, Survey& here);
  Status reject(const Request& request, ErrorCode code, const std::string& why);

  // A plan in each file.
  bool copy_direct(const Request& request, std::byte* mapped, const Survey& there) noexcept;
  Step pieces(Transfer& transfer) noexcept;
  Step atomics(Transfer& transfer) noexcept;
  Step put_packed(Transfer& transfer) noexcept;
  Step get_packed(Transfer& transfer) noexcept;
  Step get_box(Transfer& transfer) noexcept;
  Step native(Transfer& transfer) noexcept;

  core::Post send(Transfer& transfer, HandlerId handler, const PackedRequest& request, Stage& stage,
                  std::size_t bytes) noexcept;
  void scatter(Chunk& chunk, core::Bytes data) noexcept;
  std::span<Chunk> chunks() noexcept { return {chunks_.get(), chunks_ != nullptr ? kMostChunks : 0}; }
  /// One for the transfer, or null: there will be one after progress.
  Chunk* take_chunk(Transfer& transfer) noexcept;
  void give_back(Chunk& chunk) noexcept;
  std::uint64_t most_in_box(Rank peer) const noexcept;

  EndpointState& state_;
  rma::Transfers& rma_;
  Planner planner_;
  Stages stages_;
  std::unique_ptr<std::uint64_t[]> reply_;  ///< where the answer to a packed get is gathered
  std::unique_ptr<Chunk[]> chunks_;         ///< kMostChunks, made at the first use
  std::uint64_t chunks_taken_ = 0;          ///< a bit for each
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::vector<Transfer*> free_;
  std::vector<Transfer*> queue_;  ///< to be gone on with
  core::Busy busy_;               ///< while there are any
  std::uint64_t forced_ = kPlans;
};

}  // namespace aqueduct::vis
