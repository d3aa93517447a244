#pragma once

#include <aqueduct/job.hpp>

#include "bootstrap/bootstrap.hpp"
#include "core/descriptors.hpp"
#include "core/log.hpp"
#include "core/network.hpp"
#include "runtime/choice.hpp"
#include "runtime/parts.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

namespace aqueduct {

/// A job as one process holds it. Members end in reverse order: endpoints, networks, bootstrap.
struct Job::Impl {
  explicit Impl(const Config& settings) : config(settings), log(config, kNoRank) {}

  core::StandardPlaces
      standard_places;  // until the start is over, or for as long as a library may open something
  Config config;
  core::Log log;
  std::string launcher;
  std::unique_ptr<bootstrap::Bootstrap> bootstrap;
  runtime::Choice choice;
  core::Process process;
  std::vector<std::vector<Rank>> ranks_of;  // [process]
  std::unique_ptr<core::Network> near_network;
  std::unique_ptr<core::Network> own_far_network;
  core::Network* far_network = nullptr;
  std::vector<std::unique_ptr<runtime::EndpointParts>> endpoints;
  bool finished = false;
  const pid_t process_id = ::getpid();
  Impl* kept = nullptr;  ///< of a forked child's copies: the one before

  /// Whether this is a forked child's copy. By the number of the process too: where the system wipes no pages, and while
  /// there is no endpoint.
  bool in_child() const noexcept {
    const auto is_copy = [](const auto& parts) { return parts->state.in_child(); };
    return ::getpid() != process_id || std::any_of(endpoints.begin(), endpoints.end(), is_copy);
  }

  // Which processes the launcher has said to be gone; every endpoint's thread asks.
  std::mutex losses_mutex;
  std::vector<std::uint32_t> losses;
};

}  // namespace aqueduct
