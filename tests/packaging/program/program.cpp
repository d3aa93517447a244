// A user's program: a job of one rank that writes to itself and checks what arrived.
#include <aqueduct/aqueduct.hpp>

#include <cstdint>
#include <iostream>

int main() {
  auto job = aqueduct::Job::start();
  if (!job) {
    std::cerr << job.status().text() << '\n';
    return 1;
  }
  aqueduct::Endpoint& me = job->endpoint();
  const aqueduct::GlobalPtr<std::uint64_t> place{me.rank(), 0};
  if (const auto status = aqueduct::put_value(me, place, 42); !status) {
    std::cerr << status.text() << '\n';
    return 1;
  }
  const auto read = aqueduct::get_value(me, place);
  if (!read || *read != 42) {
    std::cerr << "the value put is not the value got\n";
    return 1;
  }
  if (const auto status = job->finish(); !status) {
    std::cerr << status.text() << '\n';
    return 1;
  }
  std::cout << "aqueduct " << aqueduct::library_version_text() << ": one rank, one value, as it should be\n";
}
