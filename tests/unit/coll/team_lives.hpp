#pragma once

// A job in this process whose teams are made, used and ended.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/wire.hpp"
#include "tests/support/loop_job.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace aqueduct::coll::lives {

class TeamLives : public testing::Test {
 protected:
  void start(Rank ranks, const char* operations = "1024", const char* native = "rma") {
    support::start_over_loop(job_, ranks, {{"operations", operations}, {"loop_native", native}});
  }
  /// A job whose barriers of all ranks are those of smp, or go by messages.
  void start_with_barriers(Rank ranks, bool of_conduit) {
    if (!of_conduit) {
      start(ranks);
      return without_scratch();
    }
    Config config;
    ASSERT_TRUE(config.set("segment_bytes", "4K"));
    ASSERT_TRUE(config.set("log", "off"));
    auto made = Job::in_process(ranks, config);
    ASSERT_TRUE(made);
    job_.emplace(std::move(*made));
    ASSERT_TRUE(Barriers::has_native(job_->endpoint(0).world().state()));
  }
  /// Takes the scratch of the team of all ranks away, as if it had none: its barriers then go by messages.
  void without_scratch() {
    for (std::size_t rank = 0; rank < job_->endpoints(); ++rank) {
      aqueduct::detail::EndpointState& state = job_->endpoint(rank).state();
      state.layer<Collectives>()->leave(state.world->state(), /*together=*/false);
    }
  }
  /// Delivers an arrival to rank 0 as if rank 1 had sent it.
  void say(const Arrival& arrival) {
    const am::PacketHeader header{
        am::PacketKind::request, AmCategory::short_request, kArrive, 0, sizeof arrival, 0, 0};
    std::vector<std::byte> packet(sizeof header + sizeof arrival);
    std::memcpy(packet.data(), &header, sizeof header);
    std::memcpy(packet.data() + sizeof header, &arrival, sizeof arrival);
    job_->endpoint(0).state().messages->packet(1, packet);
  }

  /// Delivers to rank 1, as if rank 0 had sent it, that rank 0 has failed in the second round of an exchange.
  void say_that_an_exchange_failed(std::uint64_t team, std::uint64_t number) {
    const ExchangePiece piece{team, number, kDown, static_cast<std::uint32_t>(ErrorCode::no_memory), 0, 0};
    const am::PacketHeader header{
        am::PacketKind::request, AmCategory::medium_request, kExchange, 0, sizeof piece, 0, 0};
    std::vector<std::byte> packet(sizeof header + sizeof piece);
    std::memcpy(packet.data(), &header, sizeof header);
    std::memcpy(packet.data() + sizeof header, &piece, sizeof piece);
    job_->endpoint(1).state().messages->packet(0, packet);
  }

  std::optional<Job> job_;
};

}  // namespace aqueduct::coll::lives
