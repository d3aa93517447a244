// fault_finish_early [sum|barriers|left]: rank 1 calls finish while the others call barrier first, or an all-reduce, or barrier
// four times; or it leaves no barrier in flight where the others leave eight and three. That is wrong, but it must end.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  auto job = aqueduct::Job::start();
  if (!job) return job.status().exit_code();
  aqueduct::Endpoint& me = job->endpoint();
  std::uint64_t one = 1;
  const auto call = [&] {
    return what == "sum" ? all_reduce(me.world(), std::span(&one, 1), aqueduct::ReduceOp::sum) : me.barrier();
  };
  for (std::size_t i = me.rank() == 0 ? 8 : 3; what == "left" && me.rank() != 1 && i != 0; --i) {
    if (!me.world().barrier_nb().then(me, [](aqueduct::Status) {})) return 2;
  }
  const int calls = me.rank() == 1 || what == "left" ? 0 : what == "barriers" ? 4 : 1;
  for (int i = 0; i < calls; ++i) std::printf("call %s\n", call().text().c_str());
  std::printf("finish %s\n", job->finish().text().c_str());
  return 0;
}
