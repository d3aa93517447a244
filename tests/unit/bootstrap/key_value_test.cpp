#include "bootstrap/key_value.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace aqueduct::bootstrap {
namespace {

using Blob = std::vector<std::byte>;
using Audience = KeyValueSpace::Audience;

/// A process manager for threads, with that many processes per host. Values for
/// neighbours are visible on their host only.
class StoreManager {
 public:
  StoreManager(std::uint32_t processes, std::uint32_t on_host, std::uint32_t gather_from = kGatherFrom)
      : processes_(processes),
        on_host_(on_host),
        gather_from_(gather_from),
        all_(static_cast<std::ptrdiff_t>(processes)) {}

  /// Runs `body` with each process's bootstrap, each on its own thread.
  void run(const std::function<void(std::uint32_t, Bootstrap&)>& body) {
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < processes_; ++i) {
      threads.emplace_back(
          [this, i, &body] { body(i, *over(std::make_unique<Space>(*this, i), gather_from_)); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::size_t gets() const { return gets_; }
  std::size_t puts() const { return puts_; }
  /// No process can get this process's values.
  void lose_what_is_given_by(std::uint32_t process) { lost_ = process; }
  /// Every fence fails from now on.
  void break_down() { broken_ = true; }

 private:
  class Space final : public KeyValueSpace {
   public:
    Space(StoreManager& manager, std::uint32_t process) : manager_(manager), process_(process) {}
    std::string_view launcher() const noexcept override { return "threads"; }
    std::uint32_t process() const noexcept override { return process_; }
    std::uint32_t processes() const noexcept override { return manager_.processes_; }
    std::string host() const override { return "h" + std::to_string(process_ / manager_.on_host_); }
    bool knows_as_neighbour(std::uint32_t other) const override { return near(other); }
    Status put(std::string_view name, std::span<const std::byte> value, Audience audience) override {
      const std::lock_guard lock(manager_.mutex_);
      ++manager_.puts_;
      const Value mine{{value.begin(), value.end()}, audience};
      EXPECT_TRUE(manager_.values_.emplace(key(process_, name), mine).second) << name << " was put twice";
      return {};
    }
    Status fence() override {
      manager_.all_.arrive_and_wait();
      return manager_.broken_ ? Status(ErrorCode::timed_out) : Status{};
    }
    Result<Blob> get(std::uint32_t process, std::string_view name) override {
      const std::lock_guard lock(manager_.mutex_);
      ++manager_.gets_;
      const auto found = manager_.values_.find(key(process, name));
      if (found == manager_.values_.end() || process == manager_.lost_) return ErrorCode::bootstrap_failed;
      const Audience audience = found->second.audience;
      if (audience == Audience::neighbours && !near(process)) return ErrorCode::bootstrap_failed;
      if (audience == Audience::others && near(process)) return ErrorCode::bootstrap_failed;
      return found->second.bytes;
    }
    void poll_losses(const std::function<void(std::uint32_t)>&) noexcept override {}
    void leave() noexcept override {}
    void abort(int, std::string_view) noexcept override {}

   private:
    static std::string key(std::uint32_t process, std::string_view name) {
      return std::to_string(process) + "/" + std::string(name);
    }
    bool near(std::uint32_t other) const { return process_ / manager_.on_host_ == other / manager_.on_host_; }

    StoreManager& manager_;
    const std::uint32_t process_;
  };
  struct Value {
    Blob bytes;
    Audience audience;
  };

  const std::uint32_t processes_, on_host_, gather_from_;
  std::barrier<> all_;
  std::mutex mutex_;
  std::map<std::string, Value> values_;
  std::size_t puts_ = 0, gets_ = 0;
  bool broken_ = false;
  std::optional<std::uint32_t> lost_;
};

Blob blob(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
std::string word(const char* what, std::uint32_t process) { return what + std::to_string(process); }

/// The parameter is the number of processes from which one of them gathers for the others.
class KeyValueBootstrap : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Ways, KeyValueBootstrap, testing::Values(2u, 1000u),
                         [](const auto& info) { return info.param == 2 ? "gathered" : "direct"; });

TEST_P(KeyValueBootstrap, GivesEveryPartToEveryoneAndOneNumberToTheJob) {
  StoreManager manager(5, 2, GetParam());
  std::mutex mutex;
  std::set<std::uint64_t> jobs;
  manager.run([&](std::uint32_t i, Bootstrap& me) {
    for (const char* round : {"a", "b", "c"}) {
      // Tests empty contributions too.
      const auto all = me.exchange(i == 2 ? Blob{} : blob(word(round, i)));
      ASSERT_TRUE(all);
      ASSERT_EQ(all->size(), 5u);
      for (std::uint32_t p = 0; p < 5; ++p) EXPECT_EQ((*all)[p], p == 2 ? Blob{} : blob(word(round, p)));
    }
    const std::lock_guard lock(mutex);
    jobs.insert(me.job());
  });
  EXPECT_EQ(jobs.size(), 1u);
  EXPECT_FALSE(jobs.contains(0));
}

void exchange_in_parts(StoreManager& manager, std::uint32_t processes, std::uint32_t on_host) {
  manager.run([&](std::uint32_t i, Bootstrap& me) {
    ASSERT_TRUE(me.exchange(blob("first")));
    std::vector<bool> near(processes);
    for (std::uint32_t p = 0; p < processes; ++p) near[p] = p / on_host == i / on_host;
    const Blob to_near = blob(word("near", i)), to_far = blob(word("far", i));
    const auto all = me.exchange_parts({to_near, to_far}, near);
    ASSERT_TRUE(all);
    for (std::uint32_t p = 0; p < processes; ++p) {
      EXPECT_EQ((*all)[p], blob(word(near[p] ? "near" : "far", p))) << "process " << p << " as seen by " << i;
    }
  });
}

TEST_P(KeyValueBootstrap, GivesNeighboursAndOthersTheirParts) {
  StoreManager manager(6, 2, GetParam());
  exchange_in_parts(manager, 6, 2);
}

TEST_P(KeyValueBootstrap, GivesThePartsAlsoWhereTheLauncherKnowsOtherHostsThanTheLibrary) {
  for (const std::uint32_t pretended : {1u, 3u, 6u}) {
    StoreManager manager(6, 2, GetParam());
    exchange_in_parts(manager, 6, pretended);
  }
}

// A process that could not start gives empty parts. It counts as a neighbour
// all the same, and the others get its parts.
TEST_P(KeyValueBootstrap, GivesThePartsOfOneWithoutAnything) {
  StoreManager manager(4, 2, GetParam());
  manager.run([&](std::uint32_t i, Bootstrap& me) {
    ASSERT_TRUE(me.exchange(blob("first")));
    const std::vector<bool> near{i < 2, i < 2, i >= 2, i >= 2};
    const Blob to_near = i == 1 ? Blob{} : blob(word("near", i)),
               to_far = i == 1 ? Blob{} : blob(word("far", i));
    const auto all = me.exchange_parts({to_near, to_far}, near);
    ASSERT_TRUE(all);
    for (std::uint32_t p = 0; p < 4; ++p) {
      EXPECT_EQ((*all)[p], p == 1 ? Blob{} : blob(word(near[p] ? "near" : "far", p)))
          << "process " << p << " as seen by " << i;
    }
  });
}

TEST(KeyValueBootstrapOnOneHost, PutsNothingForOthers) {
  StoreManager manager(4, 4, /*gather_from=*/1000);
  exchange_in_parts(manager, 4, 4);
  EXPECT_EQ(manager.puts(), 2u * 4);  // one in each exchange
  EXPECT_EQ(manager.gets(), 2u * 4 * 4);
}

TEST(KeyValueBootstrapOfMany, AsksForAboutTwoValuesPerProcessAndExchange) {
  constexpr std::uint32_t kProcesses = 40;
  StoreManager manager(kProcesses, 10);
  exchange_in_parts(manager, kProcesses, 10);
  // In each exchange, or part of one, one process gathers for all, or for those of its host.
  EXPECT_EQ(manager.gets(), 3u * (kProcesses + kProcesses));
  EXPECT_EQ(manager.puts(), 3u * kProcesses + 1 + 4 + 1);
}

// Without an error value, the others would wait for ever for what the gatherer could not get.
TEST(KeyValueBootstrapOfMany, FailsForAllWhereTheGathererFails) {
  StoreManager manager(9, 9);
  manager.lose_what_is_given_by(3);
  manager.run([&](std::uint32_t, Bootstrap& me) {
    EXPECT_EQ(me.exchange(blob("x")).status().code(), ErrorCode::bootstrap_failed);
  });
}

TEST_P(KeyValueBootstrap, FailsForGoodOnceAnExchangeHasFailed) {
  StoreManager manager(2, 2, GetParam());
  manager.break_down();
  manager.run([&](std::uint32_t, Bootstrap& me) {
    EXPECT_EQ(me.exchange(blob("x")).status().code(), ErrorCode::timed_out);
    EXPECT_EQ(me.exchange(blob("x")).status().code(), ErrorCode::timed_out);
    const Blob part = blob("x");
    EXPECT_EQ(me.exchange_parts({part, part}, {true, true}).status().code(), ErrorCode::timed_out);
  });
  EXPECT_EQ(manager.puts(), 2u);
}

// Bootstraps without a key-value space send both parts in one exchange.
TEST(BootstrapParts, TravelTogetherWhereTheLauncherDoesNotTellHostsApart) {
  const auto me = alone();
  const Blob to_near = blob("near"), to_far = blob("far");
  const auto near = me->exchange_parts({to_near, to_far}, {true});
  const auto far = me->exchange_parts({to_near, to_far}, {false});
  ASSERT_TRUE(near && far);
  EXPECT_EQ(near->at(0), to_near);
  EXPECT_EQ(far->at(0), to_far);
}

}  // namespace
}  // namespace aqueduct::bootstrap
