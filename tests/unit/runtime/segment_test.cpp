// A segment that one rank cannot have.

#include <aqueduct/aqueduct.hpp>

#include "conduits/registry.hpp"
#include "core/endpoint_state.hpp"
#include "runtime/builder.hpp"
#include "runtime/parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace aqueduct {
namespace {

TEST(SegmentOfAllRanks, ThatOneCannotHaveNobodyHas) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop"));
  ASSERT_TRUE(config.set("near", "off"));
  ASSERT_TRUE(config.set("segment_bytes", "4K"));
  ASSERT_TRUE(config.set("segments", "4"));
  ASSERT_TRUE(config.set("log", "off"));
  auto job = Job::in_process(3, config);
  ASSERT_TRUE(job);
  job->run_each([](Endpoint& ep) {
    core::SegmentTable& table = ep.state().segments;
    // Only rank 1 has no room, as if its AQUEDUCT_SEGMENTS differed.
    if (ep.rank() == 1) {
      for (int i = 0; i < 2; ++i) table.add({}, std::vector<core::SegmentPart>(ep.ranks()));
    }
    const auto before = table.size();
    std::vector<std::byte> own(64);
    const Status refused(ErrorCode::refused, 1);
    EXPECT_EQ(Segment::create(ep, 64).status(), refused);
    EXPECT_EQ(Segment::attach(ep, own).status(), refused);
    EXPECT_EQ(table.size(), before);
    EXPECT_EQ(ep.segment_bytes(0, before), 0u);
    if (ep.rank() == 1) {
      for (int i = 0; i < 2; ++i) table.take_back();
    }
    const auto segment = Segment::create(ep, 64);
    ASSERT_TRUE(segment);
    EXPECT_EQ(segment->id(), 2u);
    EXPECT_TRUE(put_value(ep, segment->at<int>((ep.rank() + 1) % 3), 5));
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job->finish());
}

// The two halves by themselves, as a runtime may want them.
TEST(SegmentOfAllRanks, HasItsAddressBeforeAnybodyKnowsOfIt) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop"));
  ASSERT_TRUE(config.set("segment_bytes", "4K"));
  auto job = Job::in_process(3, config);
  ASSERT_TRUE(job);
  job->run_each([](Endpoint& ep) {
    runtime::EndpointParts& parts = *ep.state().owner;
    const auto never_published = runtime::allocate_part(parts, 1000);
    const auto part = runtime::allocate_part(parts, 64 * (1 + ep.rank()));
    ASSERT_TRUE(never_published && part);
    part->memory[0] = static_cast<std::byte>(10 + ep.rank());
    const auto id = runtime::publish_part(parts, ep.world().state(), part);
    ASSERT_TRUE(id);
    EXPECT_EQ(ep.segment_of(*id).data(), part->memory.data());
    for (Rank rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(ep.segment_bytes(rank, *id), 64 * (1 + rank));
      const auto first = get_value(ep, GlobalPtr<std::byte>{rank, 0, *id});
      ASSERT_TRUE(first);
      EXPECT_EQ(*first, static_cast<std::byte>(10 + rank));
    }
    runtime::free_part(parts, *never_published);
    ASSERT_TRUE(runtime::release_segment(parts, *id));
    EXPECT_EQ(runtime::release_segment(parts, *id).code(), ErrorCode::closed);
  });
  EXPECT_TRUE(job->finish());
}

TEST(SegmentOfAllRanks, MayOutliveItsJob) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop"));
  ASSERT_TRUE(config.set("segment_bytes", "4K"));
  std::vector<std::optional<SegmentOf<double>>> kept(2);
  std::vector<std::optional<SegmentMemory>> unpublished(2);
  {
    auto job = Job::in_process(2, config);
    ASSERT_TRUE(job);
    job->run_each([&](Endpoint& ep) {
      auto made = Segment::create<double>(ep.world(), 8);
      ASSERT_TRUE(made);
      EXPECT_TRUE(made->is_mapped(ep.rank()));
      EXPECT_NE(made->base_of(ep.rank()), 0u);
      kept[ep.rank()] = *made;
      auto memory = Segment::allocate(ep, 64);
      ASSERT_TRUE(memory);
      unpublished[ep.rank()].emplace(*std::move(memory));
    });
    EXPECT_TRUE(job->finish());
    EXPECT_EQ(kept[0]->release().code(), ErrorCode::closed);
    unpublished[0].reset();
  }
  for (Rank rank = 0; rank < 2; ++rank) {
    SegmentOf<double> copied = *kept[rank];
    EXPECT_EQ(copied.release().code(), ErrorCode::closed);
    EXPECT_EQ(copied.base_of(rank), 0u);
    EXPECT_FALSE(copied.is_mapped(rank));
    EXPECT_EQ(copied.at(rank, 3), (GlobalPtr<double>{rank, 24, copied.id()}));
  }
}

// The address of nothing that a program attaches is no memory.
TEST(SegmentOfAllRanks, WithoutBytesIsNotMapped) {
  Config config;
  ASSERT_TRUE(config.set("segment_bytes", "4K"));
  auto job = Job::in_process(2, config);
  ASSERT_TRUE(job);
  job->run_each([](Endpoint& ep) {
    std::array<std::byte, 64> own{};
    const auto segment = Segment::attach(ep, std::span(own).first(ep.rank() == 0 ? 0 : own.size()));
    ASSERT_TRUE(segment);
    EXPECT_EQ(map_all(ep, segment->id()), 1u) << "that of rank 1 alone";
    for (Rank rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(is_mapped(ep, rank, segment->id()), rank == 1) << rank;
      EXPECT_EQ(segment->is_mapped(rank), rank == 1) << rank;
    }
    EXPECT_EQ(mapped_ranks(ep, segment->id()), std::vector<Rank>{1});
    EXPECT_EQ(ep.local(segment->at<std::byte>(0), 0), nullptr);
    EXPECT_EQ(base_of(ep, 0, segment->id()), 0u);
    EXPECT_TRUE(put(ep, segment->at<std::byte>(0), std::span<const std::byte>())) << "nothing to nothing";
    ASSERT_TRUE(ep.barrier());
    EXPECT_TRUE(Segment(*segment).release());
  });
  EXPECT_TRUE(job->finish());
}

// A rank that has come far in numbers takes the others of its team along.
TEST(SegmentOfATeam, HasANumberThatNoMemberHasUsed) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop"));
  ASSERT_TRUE(config.set("near", "off"));
  ASSERT_TRUE(config.set("segment_bytes", "4K"));
  auto job = Job::in_process(4, config);
  ASSERT_TRUE(job);
  job->run_each([](Endpoint& ep) {
    if (ep.rank() == 2) ep.state().segments.skip_to(50);
    auto team = ep.world().split(ep.rank() / 2, 0);
    ASSERT_TRUE(team && *team);
    const auto first = Segment::create(**team, 64);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->id(), ep.rank() / 2 == 0 ? 2u : 50u);
    const auto second = Segment::create(ep, 64);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->id(), 51u);
    EXPECT_TRUE(put_value(ep, second->at<int>((ep.rank() + 1) % 4), 5));
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job->finish());
}

/// Loop's conduit, which also records the memory that ends.
class Recorded final : public core::Conduit {
 public:
  Recorded(std::unique_ptr<core::Conduit> inner, std::vector<core::Bytes>& ended)
      : inner_(std::move(inner)), ended_(ended) {}

  const core::Properties& properties() const noexcept override { return inner_->properties(); }
  std::vector<std::byte> address() override { return inner_->address(); }
  Status connect(std::span<const std::vector<std::byte>> addresses) override {
    return inner_->connect(addresses);
  }
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override {
    return inner_->send(to, header, payload, token);
  }
  int poll(core::Inbox& inbox) noexcept override { return inner_->poll(inbox); }
  core::NativeRma* rma() noexcept override { return inner_->rma(); }
  core::CrossMap* cross_map() noexcept override { return inner_->cross_map(); }
  void memory_ends(core::Bytes memory) noexcept override { ended_.push_back(memory); }

 private:
  std::unique_ptr<core::Conduit> inner_;
  std::vector<core::Bytes>& ended_;
};

struct RecordedNetwork final : core::Network {
  Result<std::unique_ptr<core::Conduit>> open(Rank me) override {
    auto conduit = inner->open(me);
    if (!conduit) return conduit.status();
    return std::unique_ptr<core::Conduit>(std::make_unique<Recorded>(*std::move(conduit), ended[me]));
  }
  std::unique_ptr<core::Network> inner;
  std::array<std::vector<core::Bytes>, 2> ended;  // by rank
};

// Local buffers may lie in any memory that this process sees, so conduits hear of mapped parts, too.
TEST(SegmentOfAllRanks, TellsConduitsWhichMemoryEndsWithIt) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop"));
  ASSERT_TRUE(config.set("near", "off"));
  ASSERT_TRUE(config.set("loop_native", "all"));
  core::Log log(config, kNoRank);
  const core::Process process{&config, &log, /*job=*/1, 2, {0, 1}, {0, 0}};
  auto loop = conduits::find("loop")->entry->make(process);
  ASSERT_TRUE(loop);
  RecordedNetwork network;
  network.inner = *std::move(loop);
  {
    auto job = runtime::build_in_process(2, config, network);
    ASSERT_TRUE(job);
    job->run_each([&](Endpoint& ep) {
      auto segment = Segment::create(ep, 1000);
      ASSERT_TRUE(segment);
      const Rank other = 1 - ep.rank();
      ASSERT_TRUE(put_value(ep, segment->at<int>(other), 1));
      const std::byte* const mapped = ep.local(segment->at<std::byte>(other));
      ASSERT_NE(mapped, nullptr);
      ASSERT_TRUE(ep.barrier());
      const auto& ended = network.ended[ep.rank()];
      const auto was_told = [&ended](const std::byte* at) {
        return std::any_of(ended.begin(), ended.end(),
                           [at](core::Bytes one) { return one.data() == at && one.size() == 1000; });
      };
      const auto mine = segment->mine();
      EXPECT_TRUE(ended.empty());
      ASSERT_TRUE(segment->release());
      EXPECT_TRUE(was_told(mapped)) << "the other's part, which was mapped here";
      EXPECT_TRUE(was_told(mine.data()));
    });
    EXPECT_TRUE(job->finish());
  }
}

}  // namespace
}  // namespace aqueduct
