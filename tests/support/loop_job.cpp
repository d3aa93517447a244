#include "tests/support/loop_job.hpp"

#include <aqueduct/config.hpp>

#include <gtest/gtest.h>

namespace aqueduct::support {

void start_over_loop(std::optional<Job>& job, Rank ranks, const Settings& settings) {
  Config config;
  for (const auto& [name, value] :
       Settings{{"conduit", "loop"}, {"near", "off"}, {"segment_bytes", "4K"}, {"log", "off"}})
    ASSERT_TRUE(config.set(name, value)) << name;
  for (const auto& [name, value] : settings) ASSERT_TRUE(config.set(name, value)) << name;
  auto made = Job::in_process(ranks, config);
  ASSERT_TRUE(made) << made.status().text();
  job.emplace(*std::move(made));
}

}  // namespace aqueduct::support
