#pragma once

#include <aqueduct/job.hpp>

#include "bootstrap/bootstrap.hpp"
#include "core/descriptors.hpp"
#include "core/log.hpp"
#include "core/network.hpp"
#include "runtime/choice.hpp"
#include "runtime/leaving.hpp"
#include "runtime/parts.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

namespace aqueduct {

/// The part of a job in one process. The order of the members matters, because they end in reverse order: endpoints,
/// networks, bootstrap.
struct Job::Impl {
  explicit Impl(const Config& settings)
      : config(settings),
        log(config, kNoRank),
        leaving(std::chrono::nanoseconds(settings.nanoseconds("exit_timeout"))) {}

  // Freed after the start, or kept while a network library may open files.
  core::StandardPlaces standard_places;
  Config config;
  core::Log log;
  std::string launcher;
  std::unique_ptr<bootstrap::Bootstrap> bootstrap;
  runtime::ConduitChoice choice;
  core::Process process;
  std::vector<std::vector<Rank>> ranks_of;  // [process]
  std::unique_ptr<core::Network> near_network;
  std::unique_ptr<core::Network> own_far_network;
  core::Network* far_network = nullptr;
  std::vector<std::unique_ptr<runtime::EndpointParts>> endpoints;
  bool finished = false;
  runtime::Leaving leaving;
  std::atomic<bool> has_left{false};  ///< the launcher counts this process as gone in good order
  const pid_t process_id = ::getpid();
  Impl* kept = nullptr;  ///< in a forked child: the job that was kept before this one

  /// Whether this is a forked child's copy. Compares the process id too, for systems that do not wipe pages and for the
  /// time before there is an endpoint.
  bool in_child() const noexcept {
    const auto is_copy = [](const auto& parts) { return parts->state.in_child(); };
    return ::getpid() != process_id || std::any_of(endpoints.begin(), endpoints.end(), is_copy);
  }

  // The processes that the launcher has reported as lost. The threads of all endpoints read it.
  std::mutex losses_mutex;
  std::vector<std::uint32_t> losses;
};

}  // namespace aqueduct
