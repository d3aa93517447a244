// stress_exchange MESSAGES SECONDS: every rank sends MESSAGES messages to every other rank, for at most SECONDS. Then
// all check that each message was handled exactly once with its own bytes: by the count, sum and exclusive or of
// numbers that only the right messages produce. Every hundredth message comes with a put, which is read back.

#include <aqueduct/aqueduct.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace aqueduct;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds kPatience{120};
constexpr std::uint64_t kPutEvery = 100;
constexpr std::size_t kPutBytes = 4000;

std::uint64_t mix(std::uint64_t x) {  // splitmix64's last step: every bit depends on every other
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::uint64_t content(Rank from, Rank to, std::uint64_t number) {
  return mix((std::uint64_t{from} << 52) ^ (std::uint64_t{to} << 40) ^ number);
}

struct Tally {
  std::uint64_t count = 0, sum = 0, mixed = 0;
  void add(std::uint64_t what) {
    ++count;
    sum += what;
    mixed ^= what;
  }
  bool operator==(const Tally&) const = default;
};

struct Argument {
  std::uint64_t number;
  std::uint64_t content;
};

class Exchange {
 public:
  explicit Exchange(Endpoint& me) : me_(me), found_(me.ranks()), puts_(kPutBytes / 8) {}

  Status prepare() {
    auto handler = on_short_request<Argument>(me_, [this](auto& context, const Argument& argument) {
      const Rank from = context.source();
      found_[from].add(argument.content);
      wrong_ += argument.content != content(from, me_.rank(), argument.number) ? 1 : 0;
    });
    if (!handler) return handler.status();
    handler_ = *handler;
    return me_.barrier();
  }

  /// Sends message `number` to all other ranks.
  Status send(std::uint64_t number) {
    for (Rank step = 1; step < me_.ranks(); ++step) {
      const Rank to = (me_.rank() + step) % me_.ranks();
      const Status sent = request(me_, to, handler_, {number, content(me_.rank(), to, number)});
      if (!sent) return sent;
      if (number % kPutEvery == 0) {
        if (const Status put = put_and_look(to, number); !put) return put;
      }
    }
    return {};
  }

  /// Waits for `sent` messages from each other rank, and checks them.
  Status settle(std::uint64_t sent) {
    const auto until = Clock::now() + kPatience;
    for (Rank from = 0; from < me_.ranks(); ++from) {
      if (from == me_.rank()) continue;
      while (found_[from].count < sent) {
        if (me_.progress() == 0) std::this_thread::yield();
        if (Clock::now() > until) return {ErrorCode::timed_out, from};
      }
    }
    if (const Status all = me_.barrier(); !all) return all;  // any duplicate has arrived by now
    for (Rank from = 0; from < me_.ranks(); ++from) {
      Tally expected;
      for (std::uint64_t n = 0; from != me_.rank() && n < sent; ++n)
        expected.add(content(from, me_.rank(), n));
      wrong_ += found_[from] == expected ? 0 : 1;
    }
    return {};
  }
  std::uint64_t wrong() const { return wrong_; }

 private:
  Status put_and_look(Rank to, std::uint64_t number) {
    const GlobalPtr<std::uint64_t> place{to, std::uint64_t{me_.rank()} * kPutBytes};
    for (std::size_t i = 0; i < puts_.size(); ++i) puts_[i] = content(me_.rank(), to, number + i);
    if (const Status put = aqueduct::put(me_, place, puts_); !put) return put;
    std::vector<std::uint64_t> back(puts_.size());
    if (const Status got = get(me_, back, place); !got) return got;
    wrong_ += back == puts_ ? 0 : 1;
    return {};
  }

  Endpoint& me_;
  std::vector<Tally> found_;
  std::vector<std::uint64_t> puts_;
  ShortRequest<Argument> handler_;
  std::uint64_t wrong_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  const std::uint64_t most = std::strtoull(argv[1], nullptr, 10);
  const auto until = Clock::now() + std::chrono::seconds(std::strtol(argv[2], nullptr, 10));
  auto job = Job::start();
  if (!job) return job.status().exit_code();
  Endpoint& me = job->endpoint();
  Exchange exchange(me);
  Status status = exchange.prepare();
  std::uint64_t sent = 0;
  // All ranks stop at the same number: after each round rank 0 says whether to go on.
  constexpr std::uint64_t kRound = 10'000;
  for (bool go_on = true; status.ok() && go_on;) {
    for (const auto end = std::min(most, sent + kRound); status.ok() && sent < end; ++sent)
      status = exchange.send(sent);
    if (!status) break;
    const GlobalPtr<std::uint64_t> word{0, std::uint64_t{me.ranks()} * kPutBytes};
    if (me.rank() == 0) status = put_value(me, word, std::uint64_t{sent < most && Clock::now() < until});
    if (status.ok()) status = me.barrier();
    const auto answer = get_value(me, word);
    if (!answer) status = answer.status();
    if (status.ok()) status = me.barrier();
    go_on = status.ok() && *answer != 0;
  }
  if (status.ok()) status = exchange.settle(sent);
  if (!status) {
    std::printf("rank %u: after %llu messages: %s\n", me.rank(), static_cast<unsigned long long>(sent),
                status.text().c_str());
    return 4;
  }
  std::printf("rank %u: %llu messages from each, %llu wrong\n", me.rank(),
              static_cast<unsigned long long>(sent), static_cast<unsigned long long>(exchange.wrong()));
  return exchange.wrong() == 0 ? job->finish().exit_code() : 3;
}
