// fault_exchange END [BYTES]: until the file END exists, all ranks put to, get from and message one
// another and check the data. Rank 0 prints the number of rounds from time to time. A rank that
// fails prints why, and also waits for END.

#include <aqueduct/aqueduct.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <unistd.h>

using namespace aqueduct;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds kBetweenWords{100};
constexpr std::chrono::seconds kPatience{60};
/// Each segment starts with a word in which rank 0 declares the last round. Behind this offset it has one part for
/// each rank that writes to it.
constexpr std::uint64_t kParts = 64;

struct Token {
  std::uint64_t round;
};

class Exchange {
 public:
  Exchange(Endpoint& me, std::size_t bytes) : me_(me), sent_(bytes), got_(bytes) {}

  Status prepare() {
    auto handler = on_medium_request<Token>(me_, [this](auto& context, const Token& token, auto payload) {
      ++messages_;
      wrong_ += !holds(payload, context.source(), me_.rank(), token.round);
    });
    if (!handler) return handler.status();
    handler_ = *handler;
    return me_.barrier();
  }

  /// One round, at whose end all ranks have checked all of its data. The loss of any rank fails it on every rank.
  Status round(std::uint64_t number, bool is_last) {
    Status first;
    const auto note = [&](const Status& status) {
      if (first.ok()) first = status;
    };
    const std::size_t message = std::min<std::size_t>(sent_.size(), 1000);
    for (Rank to = 0; to < me_.ranks(); ++to) {
      fill(sent_, me_.rank(), to, number);
      note(put_signal(me_, part(to, me_.rank()), sent_, {0, 1}));
      note(request(me_, to, handler_, {number}, std::span(sent_).first(message)));
      if (me_.rank() == 0) note(put_value(me_, GlobalPtr<std::uint64_t>{to, 0}, is_last ? number : 0));
    }
    note(wait_until(me_, 0, number * me_.ranks(), kAnyRank, kPatience));
    if (!first) return first;
    for (Rank from = 0; from < me_.ranks(); ++from) {
      const auto mine = me_.segment().subspan(part(me_.rank(), from).offset(), sent_.size());
      wrong_ += !holds(mine, from, me_.rank(), number);
      note(get(me_, got_, part(from, me_.rank())));
      wrong_ += !holds(got_, me_.rank(), from, number);
    }
    const auto until = Clock::now() + kPatience;
    while (first.ok() && messages_ < number * me_.ranks()) {
      if (me_.progress() == 0) std::this_thread::yield();
      if (Clock::now() > until) note(ErrorCode::timed_out);
      for (Rank rank = 0; rank < me_.ranks(); ++rank) {
        if (me_.is_lost(rank)) note({ErrorCode::peer_lost, rank});
      }
    }
    return first.ok() ? me_.barrier() : first;
  }
  /// Whether rank 0 has declared this round the last; rank 0 may already be in the next one.
  bool was_last(std::uint64_t number) const {
    return *reinterpret_cast<const volatile std::uint64_t*>(me_.segment().data()) == number;
  }
  std::uint64_t wrong() const { return wrong_; }

 private:
  GlobalPtr<std::byte> part(Rank owner, Rank writer) const {
    return {owner, kParts + writer * std::uint64_t{sent_.size()}};
  }
  static std::byte byte(std::size_t at, Rank from, Rank to, std::uint64_t round) {
    return static_cast<std::byte>(at * 7 + (at >> 8) + from * 31 + to * 101 + round * 13);
  }
  static void fill(std::span<std::byte> into, Rank from, Rank to, std::uint64_t round) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = byte(i, from, to, round);
  }
  static bool holds(std::span<const std::byte> found, Rank from, Rank to, std::uint64_t round) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i] != byte(i, from, to, round)) return false;
    }
    return true;
  }

  Endpoint& me_;
  std::vector<std::byte> sent_;
  std::vector<std::byte> got_;
  MediumRequest<Token> handler_;
  std::uint64_t messages_ = 0;
  std::uint64_t wrong_ = 0;
};

bool exists(const char* path) { return ::access(path, F_OK) == 0; }

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  const char* const end = argv[1];
  auto job = Job::start();
  if (!job) return job.status().exit_code();
  Endpoint& me = job->endpoint();
  Exchange exchange(me, argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 20'000);
  Status status = exchange.prepare();
  std::printf("pid %u is %d\n", me.rank(), ::getpid());
  std::fflush(stdout);
  auto next_word = Clock::now();
  std::uint64_t rounds = 0;
  bool is_over = false;
  while (status.ok() && !is_over) {
    ++rounds;
    status = exchange.round(rounds, exists(end));
    is_over = exchange.was_last(rounds);
    if (me.rank() != 0 || Clock::now() < next_word) continue;
    std::printf("rounds %llu\n", static_cast<unsigned long long>(rounds));
    std::fflush(stdout);
    next_word = Clock::now() + kBetweenWords;
  }
  if (!status) {
    std::printf("noticed %s\n", status.text().c_str());
    std::fflush(stdout);
    // A rank that exits is lost to the others, which should notice by themselves.
    for (const auto until = Clock::now() + kPatience; !exists(end) && Clock::now() < until;) ::usleep(1000);
    std::printf("finish %s\n", job->finish().text().c_str());
    return 0;
  }
  std::printf("wrong %llu\n", static_cast<unsigned long long>(exchange.wrong()));
  return exchange.wrong() == 0 ? job->finish().exit_code() : 3;
}
