#include <aqueduct/coroutine.hpp>

#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace aqueduct::conformance {
namespace {

class Coroutines : public FabricTest {};

constexpr std::uint64_t kTableWords = 64;

/// Writes words of which each names another one into my segment.
void fill_table(Endpoint& me) {
  for (std::uint64_t i = 0; i < kTableWords; ++i) {
    const std::uint64_t to = (5 * i + 3 + me.rank()) % kTableWords;
    std::memcpy(me.segment().data() + i * 8, &to, 8);
  }
}

Task<std::uint64_t> read_word(Endpoint& me, std::uint64_t at) {
  std::uint64_t word = 0;
  const Status read = co_await get_nb(me, std::span(&word, 1), GlobalPtr<std::uint64_t>{next(me), at * 8});
  EXPECT_TRUE(read) << read.text();
  co_return word;
}

Task<> follow(Endpoint& me, std::uint64_t start, int hops, int& ended) {
  std::uint64_t at = start;
  std::uint64_t expected = start;
  for (int hop = 0; hop < hops; ++hop) {
    at = co_await read_word(me, at);
    expected = (5 * expected + 3 + next(me)) % kTableWords;
  }
  EXPECT_EQ(at, expected) << "from word " << start;
  ++ended;
}

TEST_P(Coroutines, FollowManyChainsAtATime) {
  as_each_of(2, 8 * kTableWords, [](Endpoint& me) {
    fill_table(me);
    ASSERT_TRUE(me.barrier());
    const int tasks = reasonable(me, 100'000) < 100'000 ? 100 : 1'000;
    int ended = 0;
    std::vector<Task<>> all;
    for (int i = 0; i < tasks; ++i) {
      all.push_back(follow(me, static_cast<std::uint64_t>(i) % kTableWords, 1 + i % 5, ended));
    }
    EXPECT_EQ(ended, 0) << "a task begins when it is run";
    ASSERT_TRUE(aqueduct::run(me, all));
    EXPECT_EQ(ended, tasks);
    const auto word = aqueduct::run(me, read_word(me, 7));
    ASSERT_TRUE(word);
    EXPECT_EQ(*word, (5 * 7 + 3 + next(me)) % kTableWords);
    ASSERT_TRUE(me.barrier());
  });
}

Task<> put_and_read(Endpoint& me, std::vector<Status>& seen) {
  const auto sent = pattern(me.rank(), 40'000);
  const GlobalPtr<std::byte> there{next(me), 0};
  Event named = put_nb(me, there, sent);
  seen.push_back(co_await named);
  seen.push_back(named.status());
  seen.push_back(co_await put_nb(me, there + 60'000, sent));  // outside
  seen.push_back(co_await Event());
  seen.push_back(me.barrier());
  std::vector<std::byte> read(sent.size());
  seen.push_back(co_await get_nb(me, read, GlobalPtr<const std::byte>(there)));
  EXPECT_TRUE(holds(read, sent));
}

TEST_P(Coroutines, GetTheStatusOfNamedAndUnnamedEvents) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    std::vector<Status> seen;
    ASSERT_TRUE(aqueduct::run(me, put_and_read(me, seen)));
    ASSERT_EQ(seen.size(), 6u);
    EXPECT_TRUE(seen[0]);
    EXPECT_TRUE(seen[1]) << "an Event with a name keeps its outcome";
    EXPECT_EQ(seen[2].code(), ErrorCode::out_of_range);
    EXPECT_TRUE(seen[3]);
    EXPECT_EQ(seen[4].code(), ErrorCode::in_handler) << "a task waits by co_await only";
    EXPECT_TRUE(seen[5]);
    ASSERT_TRUE(me.barrier());
  });
}

Task<std::uint64_t> read_and_throw(Endpoint& me) {
  static_cast<void>(co_await read_word(me, 0));
  throw std::runtime_error("no such word");
}
Task<> catch_once(Endpoint& me, std::string& caught) {
  try {
    static_cast<void>(co_await read_and_throw(me));
  } catch (const std::runtime_error& error) {
    caught = error.what();
  }
  static_cast<void>(co_await read_and_throw(me));
}

TEST_P(Coroutines, PassExceptionsToWhoAwaitsOrRunsThem) {
  as_each_of(2, 8 * kTableWords, [](Endpoint& me) {
    fill_table(me);
    ASSERT_TRUE(me.barrier());
    std::string caught;
    int ended = 0;
    std::vector<Task<>> all;
    all.push_back(catch_once(me, caught));
    all.push_back(follow(me, 3, 20, ended));
    EXPECT_THROW(static_cast<void>(aqueduct::run(me, all)), std::runtime_error);
    EXPECT_EQ(caught, "no such word");
    EXPECT_EQ(ended, 1) << "the others end before run throws";
    ASSERT_TRUE(me.barrier());
  });
}

Task<std::uint64_t> at_once(std::uint64_t word) { co_return word; }

Task<> add_many(std::uint64_t count, std::uint64_t& sum) {
  for (std::uint64_t i = 0; i < count; ++i) sum += co_await at_once(i);
  co_await Task<>();
}

// Whatever the compiler makes of a resumption.
TEST_P(Coroutines, ThatEndAtOnceDoNotDeepenTheStack) {
  as_each_of(1, 64, [](Endpoint& me) {
    constexpr std::uint64_t kCount = 1'000'000;
    std::uint64_t sum = 0;
    ASSERT_TRUE(aqueduct::run(me, add_many(kCount, sum)));
    EXPECT_EQ(sum, kCount * (kCount - 1) / 2);
  });
}

Task<> run_another(Endpoint& me, Status& inner) {
  std::vector<Task<>> none;
  inner = aqueduct::run(me, none);
  co_return;
}

TEST_P(Coroutines, AreNotRunInsideOneAnother) {
  as_each_of(1, 64, [](Endpoint& me) {
    Status inner;
    ASSERT_TRUE(aqueduct::run(me, run_another(me, inner)));
    EXPECT_EQ(inner.code(), ErrorCode::in_handler);
    std::vector<Task<>> nothing(2);
    EXPECT_TRUE(aqueduct::run(me, nothing)) << "tasks that were moved from are over";
  });
}

INSTANTIATE_TEST_SUITE_P(On, Coroutines, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
