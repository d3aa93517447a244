#include "conduits/loop/loop_network.hpp"

#include "conduits/loop/loop_conduit.hpp"

namespace aqueduct::conduits::loop {

LoopNetwork::LoopNetwork(Rank ranks, const LoopOptions& options, core::Log* log, core::EndpointClock clock)
    : options_(options), log_(log), by_rank_(ranks) {
  if (options.seed != 0) turns_.emplace(ranks, options.seed, clock);
}

Result<std::unique_ptr<core::Conduit>> LoopNetwork::open(Rank me) {
  if (me >= ranks()) {
    if (log_ != nullptr) log_->error("loop: open({}): a job of {} ranks has no such rank", me, ranks());
    return {ErrorCode::out_of_range, me};
  }
  if (Status status = mailbox(me).open(options_.queue, options_.max_packet, options_.seed, me); !status) {
    if (log_ != nullptr) log_->error("loop: open({}): this rank was opened before; a rank opens once", me);
    return status;
  }
  if (turns_) turns_->join(me);
  return std::unique_ptr<core::Conduit>(std::make_unique<LoopConduit>(*this, me));
}

void LoopNetwork::close(Rank rank) noexcept {
  memory(rank).clear();
  mailbox(rank).close();
  closed_.fetch_add(1, std::memory_order_release);
  if (turns_) turns_->leave(rank);
}

}  // namespace aqueduct::conduits::loop
