// fault_lost_link: all ranks add up a number again and again, until that fails. Each prints why, and what a team of those that
// are not lost adds up to: its size. The first ranks also finish the job while others still look for their team.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include <cstdint>
#include <cstdio>
#include <span>

using namespace aqueduct;

namespace {

/// Adds up 1 for each member. Zero: it failed.
std::uint64_t count(Team& team, Status& status) {
  const std::uint64_t one = 1;
  std::uint64_t sum = 0;
  status = all_reduce(team, std::span(&one, 1), std::span(&sum, 1), ReduceOp::sum);
  return status ? sum : 0;
}

}  // namespace

int main() {
  auto job = Job::start();
  if (!job) return job.status().exit_code();
  Endpoint& me = job->endpoint();
  Status status;
  for (std::uint64_t round = 1; count(me.world(), status) == me.ranks(); ++round) {
    if (me.rank() != 0 || round % 100 != 0) continue;
    std::printf("rounds %llu\n", static_cast<unsigned long long>(round));
    std::fflush(stdout);
  }
  std::printf("noticed %s\n", status.text().c_str());
  std::fflush(stdout);
  auto team = me.world().without_lost();
  Status counted = team.status();
  const std::uint64_t members = team ? count(*team, counted) : 0;
  std::printf("goes on with %llu: %s\n", static_cast<unsigned long long>(members), counted.text().c_str());
  std::printf("finish %s\n", job->finish().text().c_str());
  return 0;
}
