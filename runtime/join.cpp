#include "bootstrap/client.hpp"
#include "bootstrap/launcher.hpp"
#include "bootstrap/pmi1.hpp"
#include "bootstrap/pmix.hpp"
#include "conduits/builtin.hpp"
#include "runtime/start.hpp"

#include <fmt/format.h>

#include <charconv>
#include <mutex>
#include <set>

namespace aqueduct::runtime {
namespace {

using bootstrap::Bootstrap;
using bootstrap::Launcher;

template <class T>
bool read_variable(const char* name, T& number) {
  const std::string text = bootstrap::environment_variable(name).value_or("");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

Result<std::unique_ptr<Bootstrap>> join_pmi1(std::chrono::milliseconds limit,
                                             const bootstrap::Report& report) {
  bootstrap::Pmi1Place place;
  if (!read_variable("PMI_FD", place.descriptor) || !read_variable("PMI_RANK", place.process) ||
      !read_variable("PMI_SIZE", place.processes) || place.process >= place.processes) {
    report(
        "PMI_FD, PMI_RANK and PMI_SIZE are not what mpiexec.hydra sets (three numbers, the rank below the "
        "size); "
        "unset them, or set AQUEDUCT_LAUNCHER=alone");
    return ErrorCode::bad_setting;
  }
  return bootstrap::from_pmi1(place, limit, report);
}

/// The launcher's sockets that this process has used. Each serves one Job. Afterwards its descriptor number may belong
/// to another file, so a second Job must not use it. This is a fact about the process, so it is global.
struct TakenSockets {
  std::mutex mutex;
  std::set<std::string> names;
};
TakenSockets& taken_sockets() {
  static TakenSockets taken;
  return taken;
}

/// "AQUEDUCT_BOOTSTRAP=…" or "PMI_FD=…"; empty if the launcher passes no socket.
std::string socket_of(Launcher launcher, const Config& config) {
  if (launcher == Launcher::aqrun)
    return fmt::format("{}={}", bootstrap::kVariable, config.text("bootstrap"));
  if (launcher == Launcher::pmi1) return "PMI_FD=" + bootstrap::environment_variable("PMI_FD").value_or("");
  return {};
}

Result<std::unique_ptr<Bootstrap>> join(Launcher launcher, const Config& config,
                                        const bootstrap::Report& report) {
  const std::chrono::nanoseconds timeout(config.nanoseconds("bootstrap_timeout"));
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(timeout);
  switch (launcher) {
    case Launcher::aqrun: return bootstrap::from_launcher(config.text("bootstrap"), limit, report);
    case Launcher::pmix: return bootstrap::from_pmix(config.text("pmix_library"), limit, report);
    case Launcher::pmi1: return join_pmi1(limit, report);
    case Launcher::alone: break;
  }
  return bootstrap::alone();
}

}  // namespace

Status join(Job::Impl& job) {
  // A program may set the library's own variable as a setting, so the setting counts, not the environment.
  const auto variable = [own = job.config.text("bootstrap")](const char* name) {
    return name == std::string_view(bootstrap::kVariable) ? std::optional(own)
                                                          : bootstrap::environment_variable(name);
  };
  const bootstrap::Launch launch = bootstrap::find_launcher(job.config.text("launcher"), variable);
  conduits::prepare_process();
  const std::string socket = socket_of(launch.by, job.config);
  TakenSockets& taken = taken_sockets();
  const std::lock_guard one_by_one(taken.mutex);
  if (taken.names.contains(socket)) {
    job.log.error("{}: {}", socket, bootstrap::kOneJob);
    return ErrorCode::bootstrap_failed;
  }
  auto joined = join(launch.by, job.config, [&log = job.log](std::string_view why) { log.error("{}", why); });
  // After a failure too, which has closed the socket. A value that cannot be read names no socket.
  if (!socket.empty() && joined.status().code() != ErrorCode::bad_setting) taken.names.insert(socket);
  if (!joined) return joined.status();
  if (launch.by == Launcher::alone && !launch.doubt.empty()) job.log.warn("{}", launch.doubt);
  job.bootstrap = std::move(*joined);
  job.launcher = job.bootstrap->launcher();
  job.log.debug("started by {}: {}", job.launcher, launch.why);
  return {};
}

}  // namespace aqueduct::runtime
