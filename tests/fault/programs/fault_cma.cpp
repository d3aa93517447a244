// Two ranks write into each other's own memory, which cannot be mapped; prints
// whether that went natively or by reference.

#include <aqueduct/aqueduct.hpp>

#include <cstdio>
#include <vector>

using namespace aqueduct;

int main() {
  auto job = Job::start();
  if (!job) return job.status().exit_code();
  Endpoint& me = job->endpoint();
  const Rank other = 1 - me.rank();
  std::vector<std::byte> memory(300'000);
  auto segment = Segment::attach(me, memory);
  if (!segment) return segment.status().exit_code();
  const std::vector<std::byte> sent(memory.size(), std::byte(me.rank() + 1));
  std::vector<std::byte> got(memory.size());
  if (!put(me, segment->at<std::byte>(other), sent) || !me.barrier()) return 2;
  if (memory != std::vector<std::byte>(memory.size(), std::byte(other + 1))) return 3;
  if (!get(me, got, segment->at<std::byte>(other)) || got != sent) return 4;
  const auto counts = me.statistics();
  std::printf("native %llu reference %llu\n",
              static_cast<unsigned long long>(counts.native_puts + counts.native_gets),
              static_cast<unsigned long long>(counts.reference_puts + counts.reference_gets));
  return job->finish().exit_code();
}
