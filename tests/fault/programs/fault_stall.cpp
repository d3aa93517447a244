// fault_stall signal|barrier: rank 0 waits long for rank 1, which arrives once rank 0 has reported a stall.

#include <aqueduct/aqueduct.hpp>

#include <chrono>
#include <string_view>
#include <thread>

using namespace aqueduct;

namespace {

/// Waits without the library, because the report is about a rank that makes no progress.
bool told_to_go_on(Endpoint& me) {
  const auto* flag = reinterpret_cast<const volatile std::uint64_t*>(me.segment().data());
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (*flag == 0) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// In rank 0's process, a thread waits for the report and then releases rank 1.
void let_go_after_stall(Endpoint& me, std::uint64_t* flag) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (me.statistics().stalls == 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  *static_cast<volatile std::uint64_t*>(flag) = 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const std::string_view mode = argv[1];
  auto job = Job::start();
  if (!job) return job.status().exit_code();
  Endpoint& me = job->endpoint();
  auto* flag = me.local(GlobalPtr<std::uint64_t>{1, 0});
  if (flag == nullptr || !me.barrier()) return 2;
  if (me.rank() == 1) {
    if (!told_to_go_on(me)) return 3;
    if (mode == "signal" && !signal(me, 0)) return 4;
  }
  if (me.rank() == 0) {
    std::thread helper([&] { let_go_after_stall(me, flag); });
    const Status status = mode == "signal" ? wait_until(me, 0, 1, 1) : Status{};
    const Status barrier = me.barrier();
    helper.join();
    if (!status || !barrier) return 5;
  } else if (!me.barrier()) {
    return 6;
  }
  return job->finish().exit_code();
}
