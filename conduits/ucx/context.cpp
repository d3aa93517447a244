#include "conduits/ucx/context.hpp"

#include "conduits/ucx/info_text.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include <sys/utsname.h>

namespace aqueduct::conduits::ucx {
namespace {

constexpr const char* kNoSharedMemory = "^sm";
constexpr std::string_view kLoopback = "lo";

/// UCX's own settings: the environment's, with the conduit's changes.
class Configuration {
 public:
  explicit Configuration(const Library& ucp) : ucp_(ucp) {
    status_ = ucp_.config_read(nullptr, nullptr, &config_);
  }
  ~Configuration() {
    if (config_ != nullptr) ucp_.config_release(config_);
  }
  Configuration(const Configuration&) = delete;
  Configuration& operator=(const Configuration&) = delete;

  void set(const char* name, const std::string& value) {
    if (status_ == UCS_OK) status_ = ucp_.config_modify(config_, name, value.c_str());
  }
  ucs_status_t status() const noexcept { return status_; }
  const ucp_config_t* get() const noexcept { return config_; }

 private:
  const Library& ucp_;
  ucp_config_t* config_ = nullptr;
  ucs_status_t status_ = UCS_OK;
};

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

/// Since Linux 5.12 a child gets copies of the pages that an adapter knows, at once.
bool system_copies_for_children() noexcept {
  utsname system{};
  int major = 0, minor = 0;
  if (::uname(&system) != 0 || std::sscanf(system.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 5 || (major == 5 && minor >= 12);
}

/// UCX keeps the pages of registered memory from the children of this process, with whatever else lies in them: a child may end
/// at once. Unless it is told not to, which it reads from the environment alone, when a context is made. Other threads may be
/// reading the environment, so it is changed once, before the first context.
void leave_pages_to_children() {
  static const bool once = [] {
    constexpr const char* kVariable = "UCX_IB_FORK_INIT";
    if (!is_set(kVariable) && system_copies_for_children()) ::setenv(kVariable, "n", 0);
    return true;
  }();
  static_cast<void>(once);
}

ucs_status_t init(const Library& ucp, const ContextOptions& options, const std::string& devices,
                  ucp_context_h& made) {
  leave_pages_to_children();
  Configuration configuration(ucp);
  if (!options.transports.empty()) {
    configuration.set("TLS", options.transports);
  } else if (options.other_hosts_only && !is_set("UCX_TLS")) {
    configuration.set("TLS", kNoSharedMemory);
  }
  if (!devices.empty()) configuration.set("NET_DEVICES", devices);
  // UCX's posix transport would allocate all of a segment in /dev/shm at once. If the segment is too large for the machine, the
  // system kills processes. Memory of sysv is taken when it is touched, and a size beyond the limits is refused.
  if (!is_set("UCX_ALLOC_PRIO")) configuration.set("ALLOC_PRIO", "md:sysv,mmap");
  if (configuration.status() != UCS_OK) return configuration.status();
  ucp_params_t params{};
  params.field_mask =
      UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_WAKEUP;
  params.mt_workers_shared = options.threads ? 1 : 0;
  params.estimated_num_eps = options.ranks;
  return ucp.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, configuration.get(), &made);
}

/// The network devices of resources such as tcp/eth0, each once.
std::vector<std::string> devices_of(const std::vector<std::string>& resources) {
  std::vector<std::string> devices;
  for (const std::string& resource : resources) {
    const std::string device = resource.substr(resource.find('/') + 1);
    if (device != "memory0" && device != "memory" && std::ranges::find(devices, device) == devices.end())
      devices.push_back(device);
  }
  return devices;
}

/// The network devices without the loopback, as a list for UCX; empty: the loopback is not among them, or is the only one.
std::string without_loopback(const std::vector<std::string>& resources) {
  std::vector<std::string> devices = devices_of(resources);
  return std::erase(devices, kLoopback) > 0 ? fmt::format("{}", fmt::join(devices, ",")) : std::string();
}

/// The first name in a list of devices that UCX does not have; empty if it has them all. The name mlx5_0 stands for the port
/// mlx5_0:1 too. Patterns and lists of what to leave out are not checked.
std::string unknown_device(std::string_view list, const std::vector<std::string>& known) {
  if (list.starts_with('^')) return {};  // all but those
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    if (one.empty() || one == "all" || one.find_first_of("*?[") != std::string_view::npos) continue;
    const bool is_known = std::ranges::any_of(known, [&](const std::string& device) {
      return device == one || (device.starts_with(one) && device[one.size()] == ':');
    });
    if (!is_known) return std::string(one);
  }
  return {};
}

/// Whether there is a thread for UCX and one for the conduit. UCX 1.13.1 starts its own in ucp_init, and aborts the program if it gets
/// none (ucs/async/thread.c:226). Other processes of the user may still take the last one in between.
bool gives_threads() noexcept {
  const auto starts = [](auto body) {
    try {
      return std::thread(body);
    } catch (const std::exception&) {
      return std::thread();
    }
  };
  std::atomic<bool> over = false;
  std::thread first =
      starts([&] { over.wait(false); });  // it stays: an ended one is counted for a moment still
  std::thread second = starts([] {});
  const bool both = first.joinable() && second.joinable();
  over = true;
  over.notify_all();
  if (first.joinable()) first.join();
  if (second.joinable()) second.join();
  return both;
}

}  // namespace

std::unique_ptr<Context> Context::open(const ContextOptions& options, std::string& why) {
  const auto ucp = Library::load(why);
  return ucp ? open(*ucp, options, why) : nullptr;
}

std::unique_ptr<Context> Context::open(const Library& ucp, const ContextOptions& options, std::string& why) {
  if (options.threads && !ucp.has_threads()) {
    why = fmt::format(
        "UCX {} was built without threads (--enable-mt), so a process can have one endpoint: start a process "
        "for each "
        "rank, or install a UCX that has them",
        ucp.version());
    return nullptr;
  }
  if (!gives_threads()) {
    why =
        "the system does not give the two threads that UCX and its conduit need: raise `ulimit -u`, the "
        "number of processes and threads, or the container's limit (pids.max)";
    return nullptr;
  }
  const auto attempt = [&](const std::string& devices) -> std::unique_ptr<Context> {
    ucp_context_h handle = nullptr;
    if (const ucs_status_t status = init(ucp, options, devices, handle); status != UCS_OK) {
      const char* tls = std::getenv("UCX_TLS");
      why = fmt::format(
          "UCX {} cannot be opened: {}. AQUEDUCT_UCX_TRANSPORTS is '{}', UCX_TLS '{}', devices '{}'; "
          "ucx_info -d lists "
          "what this host has",
          ucp.version(), ucp.status_string(status), options.transports, tls != nullptr ? tls : "", devices);
      return nullptr;
    }
    return std::unique_ptr<Context>(new Context(ucp, handle));
  };
  auto context = attempt(options.devices);
  // UCX goes on without a device that it does not have, with shared memory alone if it must.
  if (context != nullptr && !context->resources().empty() &&
      !unknown_device(options.devices, devices_of(context->resources())).empty()) {
    const auto all = attempt("all");
    if (all == nullptr) return nullptr;
    const std::vector<std::string> known = devices_of(all->resources());
    if (const std::string unknown = unknown_device(options.devices, known); !unknown.empty()) {
      why = fmt::format("AQUEDUCT_UCX_DEVICES names '{}', which UCX does not have here{}: it has {}", unknown,
                        options.transports.empty() ? "" : " with AQUEDUCT_UCX_TRANSPORTS",
                        known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
      return nullptr;
    }
  }
  if (context == nullptr || options.one_host || !options.devices.empty() || is_set("UCX_NET_DEVICES"))
    return context;
  // UCX takes two hosts with one kernel (network namespaces) for the same host, and would connect them by the loopback.
  const std::string devices = without_loopback(context->resources());
  return devices.empty() ? std::move(context) : attempt(devices);
}

Context::Context(const Library& ucp, ucp_context_h handle) : ucp_(ucp), handle_(handle) {
  for (const std::string& line : info_lines([&](std::FILE* out) { ucp_.context_print_info(handle_, out); })) {
    if (line.find("resource") == std::string::npos) continue;
    if (std::string name = text_after(line, "-- "); !name.empty()) resources_.push_back(std::move(name));
  }
}

Context::~Context() {
  if (leaked_) return;
  for (const ucp_mem_h memory : kept_) ucp_.mem_unmap(handle_, memory);
  ucp_.cleanup(handle_);
}

std::string Context::network() const {
  std::vector<std::string> between = resources_;
  std::erase_if(between, [](const std::string& one) { return one.starts_with("self/"); });
  std::ranges::sort(between);
  between.erase(std::unique(between.begin(), between.end()), between.end());
  return fmt::format("{}", fmt::join(between, ", "));
}

bool Context::has(std::string_view transport) const noexcept {
  return std::ranges::any_of(resources_, [&](const std::string& resource) {
    return resource.size() > transport.size() && resource[transport.size()] == '/' &&
           resource.starts_with(transport);
  });
}

bool Context::has_hardware() const noexcept {
  static constexpr std::string_view kCards[] = {"rc_verbs", "rc_mlx5", "dc_mlx5",
                                                "ud_verbs", "ud_mlx5", "ugni_rdma"};
  return std::ranges::any_of(kCards, [&](std::string_view card) { return has(card); });
}

bool Context::maps_memory() const noexcept { return has("sysv") && !is_set("UCX_ALLOC_PRIO"); }

void Context::keep(ucp_mem_h memory) noexcept try {
  const std::lock_guard lock(mutex_);
  kept_.push_back(memory);
} catch (const std::bad_alloc&) {
  leaked_ = true;  // the memory is never unmapped, so UCX must stay too
}

bool Context::shares_memory() const noexcept {
  return has("posix") || has("sysv") || has("xpmem") || has("cma") || has("knem");
}

}  // namespace aqueduct::conduits::ucx
