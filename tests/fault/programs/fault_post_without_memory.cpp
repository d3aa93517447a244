// Rank 0 gets no more memory, and calls its peer: puts, gets, atomics and messages. Each must succeed or return no_memory,
// within a bound. Once there is memory again, all of them work. The first argument says who gives none: operator `new`, or the
// `system`, which gives none to network libraries either. Prints what each call returned.

#include <aqueduct/aqueduct.hpp>

#include "tests/fault/programs/failing_new.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

using namespace aqueduct;

namespace {

std::atomic<bool> gone{false};     ///< in all threads of the process
constexpr unsigned kSeconds = 30;  ///< for the calls without memory, each of which may take 5

/// Takes the memory away, and gives it back in the end.
class WithoutMemory {
 public:
  explicit WithoutMemory(bool of_system) : of_system_(of_system) {
    if (!of_system_) {
      gone = true;
      return;
    }
    ::getrlimit(RLIMIT_AS, &before_);
    const rlimit less_than_used{rlim_t{20} << 20, before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &less_than_used);
  }
  ~WithoutMemory() {
    gone = false;
    if (of_system_) ::setrlimit(RLIMIT_AS, &before_);
  }
  WithoutMemory(const WithoutMemory&) = delete;
  WithoutMemory& operator=(const WithoutMemory&) = delete;

 private:
  bool of_system_;
  rlimit before_{};
};

}  // namespace

bool new_fails(bool) noexcept { return gone; }

int main(int argc, char** argv) {
  auto job = Job::start();
  if (!job) return job.status().exit_code();
  Endpoint& me = job->endpoint();
  std::atomic<int> heard{0};
  auto handler = on_short_request<std::uint64_t>(me, [&](auto&, std::uint64_t) { ++heard; });
  if (!handler) return 2;
  if (me.rank() == 0) {
    const GlobalPtr<std::uint64_t> word{1, 8};
    const GlobalPtr<std::byte> there{1, 64};
    const std::vector<std::byte> sent(20'000, std::byte{7});
    std::vector<std::byte> got(sent.size());
    const std::pair<const char*, std::function<Status()>> calls[] = {
        {"message", [&] { return request(me, 1, *handler, 1); }},
        {"put", [&] { return put(me, there, sent); }},
        {"get", [&] { return get(me, got, there); }},
        {"atomic", [&] { return fetch_add(me, word, 1).status(); }},
    };
    std::vector<Status> returned;
    returned.reserve(std::size(calls));
    {
      const WithoutMemory none(argc > 1 && std::string_view(argv[1]) == "system");
      ::alarm(kSeconds);
      for (const auto& [name, call] : calls) returned.push_back(call());
    }
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < returned.size(); ++i) {
      std::printf("%s: %s\n", calls[i].first, returned[i].text().c_str());
      const bool fair =
          returned[i].ok() || (returned[i] == Status(ErrorCode::no_memory, 1) && !me.is_lost(1));
      wrong += fair ? 0 : 1;
    }
    // Now there is memory again.
    ::alarm(kSeconds);
    for (const auto& [name, call] : calls) {
      const Status status = call();
      if (status) continue;
      std::printf("wrong: %s with memory: %s\n", name, status.text().c_str());
      ++wrong;
    }
    if (got != sent) std::printf("wrong: %s\n", "the bytes"), ++wrong;
    std::fflush(stdout);
    if (wrong != 0) return 1;
  }
  // Rank 1 calls nobody before it is called: a rank without memory cannot take a connection, and would be taken for lost.
  if (me.rank() == 1 && !me.wait_until([&] { return heard > 0; }, std::chrono::seconds(kSeconds))) return 4;
  ::alarm(kSeconds);
  if (!me.barrier()) return 3;
  return job->finish().exit_code();
}
