// Numbers of handlers: the layers' first, then users'.

#include <aqueduct/aqueduct.hpp>

#include "am/messages.hpp"
#include "rma/wire.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace aqueduct::am {
namespace {

Result<Job> two_ranks(const std::string& handlers) {
  Config config;
  for (const auto& [name, value] : {std::pair<std::string, std::string>{"conduit", "loop"},
                                    {"near", "off"},
                                    {"segment_bytes", "4K"},
                                    {"log", "off"},
                                    {"handlers", handlers}})
    EXPECT_TRUE(config.set(name, value)) << name;
  return Job::in_process(2, config);
}

/// Checks a put in packets, which uses layers' handlers, and a barrier.
void expect_to_work(Job& job) {
  job.run_each([](Endpoint& ep) {
    const std::uint64_t value = 7 + ep.rank();
    EXPECT_TRUE(put_value(ep, GlobalPtr<std::uint64_t>{1 - ep.rank(), 0}, value));
    EXPECT_TRUE(ep.barrier());
    EXPECT_EQ(get_value(ep, GlobalPtr<std::uint64_t>{1 - ep.rank(), 0}).value_or(0), value);
    EXPECT_TRUE(ep.barrier());
  });
}

TEST(Handlers, AreAsManyAsTheSettingMayAskForAndNoneIsTheLibrarysOwn) {
  const auto all = Messages::settings();
  const auto info =
      std::find_if(all.begin(), all.end(), [](const auto& one) { return one.name == "handlers"; });
  ASSERT_NE(info, all.end());
  EXPECT_EQ(info->most, kMostUserHandlers);
  auto job = two_ranks(std::to_string(info->most));
  ASSERT_TRUE(job);
  std::uint32_t heard = 0;
  HandlerId last = 0;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    Endpoint& ep = job->endpoint(rank);
    for (std::uint32_t i = 0; i < kMostUserHandlers; ++i) {
      const auto made =
          on_short_request<NoArguments>(ep, [&heard, i](auto&, const NoArguments&) { heard = i; });
      ASSERT_TRUE(made) << i;
      EXPECT_EQ(made->id, kFirstUserHandler + i);
      last = made->id;
    }
    EXPECT_EQ(on_short_request<NoArguments>(ep, [](auto&, const NoArguments&) {}).status().code(),
              ErrorCode::refused);
  }
  EXPECT_EQ(last, 65535);
  expect_to_work(*job);
}

TEST(Handlers, TakeArgumentsWithoutADefaultConstructor) {
  struct Made {
    explicit Made(std::uint64_t first) : a(first), b(first + 1) {}
    std::uint64_t a;
    std::uint32_t b;
  };
  auto job = two_ranks("16");
  ASSERT_TRUE(job);
  std::array<std::uint64_t, 2> heard{};
  job->run_each([&](Endpoint& ep) {
    std::uint64_t& mine = heard[ep.rank()];
    const auto handler =
        on_short_request<Made>(ep, [&mine](RequestContext&, const Made& made) { mine = made.a + made.b; });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(ep.barrier());
    EXPECT_TRUE(request(ep, 1 - ep.rank(), *handler, Made(10 + ep.rank())));
    EXPECT_TRUE(ep.wait_until([&mine] { return mine != 0; }, std::chrono::seconds(60)));
  });
  EXPECT_EQ(heard[0], 11u + 12u);
  EXPECT_EQ(heard[1], 10u + 11u);
}

TEST(Handlers, OfTheLibraryAreNotReplaced) {
  auto job = two_ranks("16");
  ASSERT_TRUE(job);
  Messages& messages = *job->endpoint(0).state().messages;
  EXPECT_TRUE(messages.layers_problem());
  const aqueduct::detail::Callback other{
      [](void*, Incoming&, const std::byte*, MutableBytes) { ADD_FAILURE() << "this one was refused"; },
      nullptr};
  messages.add_internal(rma::kPut, AmCategory::medium_request, sizeof(rma::PutPiece), other);
  EXPECT_EQ(messages.layers_problem().code(), ErrorCode::internal);
  expect_to_work(*job);
}

TEST(Handlers, WithoutAFixedNumberGetTheNextOneWhileThereAreAny) {
  auto job = two_ranks("16");
  ASSERT_TRUE(job);
  std::uint32_t heard = 0;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    Messages& messages = *job->endpoint(rank).state().messages;
    for (HandlerId number = kFirstDealtHandler; number < kFirstUserHandler; ++number) {
      EXPECT_EQ(messages.add_internal(AmCategory::short_request, 0,
                                      {[](void* count, Incoming&, const std::byte*, MutableBytes) {
                                         ++*static_cast<std::uint32_t*>(count);
                                       },
                                       std::shared_ptr<void>(&heard, [](void*) {})}),
                number);
    }
    EXPECT_TRUE(messages.layers_problem());
  }
  Endpoint& sender = job->endpoint(0);
  for (HandlerId number = kFirstDealtHandler; number < kFirstUserHandler; ++number) {
    const auto post =
        sender.state().messages->try_request(1, AmCategory::short_request, number, {}, nullptr, {}, 0);
    ASSERT_NE(post.kind, core::Post::Kind::retry);
  }
  for (int i = 0; i < 1000 && heard < kFirstUserHandler - kFirstDealtHandler; ++i) {
    for (std::size_t rank = 0; rank < 2; ++rank) job->endpoint(rank).progress();
  }
  EXPECT_EQ(heard, kFirstUserHandler - kFirstDealtHandler);
  Messages& full = *job->endpoint(0).state().messages;
  full.add_internal(AmCategory::short_request, 0, {});
  EXPECT_EQ(full.layers_problem().code(), ErrorCode::internal);
  expect_to_work(*job);
}

TEST(Handlers, OfALayerBeyondItsNumbersAreRefused) {
  auto job = two_ranks("16");
  ASSERT_TRUE(job);
  Messages& messages = *job->endpoint(0).state().messages;
  messages.add_internal(kFirstUserHandler, AmCategory::short_request, 0, {});
  EXPECT_EQ(messages.layers_problem().code(), ErrorCode::internal);
}

}  // namespace
}  // namespace aqueduct::am
