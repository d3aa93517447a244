#include "tests/conformance/rank_process.hpp"

namespace aqueduct::conformance {

void configure(const Fabric& fabric, const Launch& launch, std::uint32_t process, Rank endpoints,
               Config& config) {
  const auto set = [&](const std::string& name, const std::string& value) {
    if (!config.set(name, value)) ADD_FAILURE() << config.problems().back().text;
  };
  const Settings place = fabric.enter ? fabric.enter(process) : Settings{};
  set("conduit", fabric.conduit);
  set("segment_bytes", std::to_string(launch.segment_bytes));
  if (!fabric.one_process()) set("endpoints", std::to_string(endpoints));
  for (const auto& [name, value] : fabric.settings) set(name, value);
  for (const auto& [name, value] : place) set(name, value);
  for (const auto& [name, value] : launch.settings) set(name, value);
}

int run_ranks(Result<Job>& job, const Launch& launch, const Body& body, const std::string& where) {
  if (!job) {
    ADD_FAILURE() << where << "the job did not start: " << job.status().text();
    return kFailed;
  }
  job->run_each([&](Endpoint& me) {
    SCOPED_TRACE(where + "rank " + std::to_string(me.rank()) + " of " + std::to_string(me.ranks()));
    body(me);
  });
  // Exits at once: other ranks, which may wait for this one, are told of its loss and end too.
  if (testing::Test::HasFailure()) return kFailed;
  const Status finished = job->finish();
  const bool may_miss_some = !launch.leaving.empty() && finished.code() == ErrorCode::peer_lost;
  if (!finished && !may_miss_some) ADD_FAILURE() << where << "finish: " << finished.text();
  return testing::Test::HasFailure() ? kFailed : 0;
}

}  // namespace aqueduct::conformance
