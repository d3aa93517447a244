#include "conduits/ucx/library.hpp"

#include <fmt/core.h>

#include <cstdlib>

#include <dlfcn.h>

namespace aqueduct::conduits::ucx {
namespace {

constexpr const char* kName = "libucp.so.0";

/// Sets an environment variable for its lifetime, unless the user has set it.
class Default {
 public:
  Default(const char* name, const char* value) : name_(name), ours_(std::getenv(name) == nullptr) {
    if (ours_) ::setenv(name, value, 1);
  }
  ~Default() {
    if (ours_) ::unsetenv(name_);
  }
  Default(const Default&) = delete;
  Default& operator=(const Default&) = delete;

 private:
  const char* name_;
  bool ours_;
};

/// UCX reads these variables only when it is loaded.
void* open_quietly() {
  constexpr int kHow = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
  // Other threads may be reading the environment, so it is changed only at the first call.
  if (void* const loaded = ::dlopen(kName, kHow | RTLD_NOLOAD); loaded != nullptr) return loaded;
  const Default no_handlers("UCX_HANDLE_ERRORS", "none");
  const Default no_debugger("UCX_DEBUG_SIGNO", "0");
  const Default no_words("UCX_LOG_LEVEL", "fatal");
  const Default no_hooks("UCX_MEM_EVENTS", "n");
  return ::dlopen(kName, kHow);
}

class Finder {
 public:
  explicit Finder(void* library) : library_(library) {}

  template <class Function>
  void operator()(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }
  const char* missing() const noexcept { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

#ifdef __SANITIZE_ADDRESS__
// The leak checker calls this at the end of a program. In programs that had threads of UCX's the checker itself mostly ends with
// a segmentation fault.
extern "C" [[gnu::visibility("default"), gnu::used]] int __lsan_is_turned_off() {
  return ::dlopen(kName, RTLD_NOW | RTLD_NOLOAD) != nullptr ? 1 : 0;
}
#endif

}  // namespace

std::optional<Library> Library::load(std::string& why) {
  void* const library = open_quietly();
  if (library == nullptr) {
    why = fmt::format("{} cannot be loaded: {}. On Debian: apt-get install libucx0", kName, ::dlerror());
    return std::nullopt;
  }
  Library ucp;
  Finder find(library);
  find(ucp.get_version, "ucp_get_version");
  find(ucp.get_version_string, "ucp_get_version_string");
  find(ucp.lib_query, "ucp_lib_query");
  find(ucp.config_read, "ucp_config_read");
  find(ucp.config_modify, "ucp_config_modify");
  find(ucp.config_release, "ucp_config_release");
  find(ucp.init_version, "ucp_init_version");
  find(ucp.cleanup, "ucp_cleanup");
  find(ucp.context_print_info, "ucp_context_print_info");
  find(ucp.worker_create, "ucp_worker_create");
  find(ucp.worker_destroy, "ucp_worker_destroy");
  find(ucp.worker_get_address, "ucp_worker_get_address");
  find(ucp.worker_release_address, "ucp_worker_release_address");
  find(ucp.worker_set_am_recv_handler, "ucp_worker_set_am_recv_handler");
  find(ucp.worker_progress, "ucp_worker_progress");
  find(ucp.worker_arm, "ucp_worker_arm");
  find(ucp.worker_get_efd, "ucp_worker_get_efd");
  find(ucp.ep_create, "ucp_ep_create");
  find(ucp.ep_close_nbx, "ucp_ep_close_nbx");
  find(ucp.ep_flush_nbx, "ucp_ep_flush_nbx");
  find(ucp.ep_print_info, "ucp_ep_print_info");
  find(ucp.am_send_nbx, "ucp_am_send_nbx");
  find(ucp.am_recv_data_nbx, "ucp_am_recv_data_nbx");
  find(ucp.put_nbx, "ucp_put_nbx");
  find(ucp.get_nbx, "ucp_get_nbx");
  find(ucp.mem_map, "ucp_mem_map");
  find(ucp.mem_unmap, "ucp_mem_unmap");
  find(ucp.mem_query, "ucp_mem_query");
  find(ucp.rkey_pack, "ucp_rkey_pack");
  find(ucp.rkey_buffer_release, "ucp_rkey_buffer_release");
  find(ucp.ep_rkey_unpack, "ucp_ep_rkey_unpack");
  find(ucp.rkey_ptr, "ucp_rkey_ptr");
  find(ucp.rkey_destroy, "ucp_rkey_destroy");
  find(ucp.request_free, "ucp_request_free");
  find(ucp.request_check_status, "ucp_request_check_status");
  find(ucp.status_string, "ucs_status_string");
  if (find.missing() != nullptr) {
    why = fmt::format("{} has no function {}: UCX {}.{} or later is needed", kName, find.missing(),
                      UCP_API_MAJOR, UCP_API_MINOR);
    return std::nullopt;
  }
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  ucp.get_version(&major, &minor, &release);
  if (major != UCP_API_MAJOR || minor < UCP_API_MINOR) {
    why = fmt::format(
        "UCX {} is installed, and this library was built for {}.{} or later: install that, or build again",
        ucp.version(), UCP_API_MAJOR, UCP_API_MINOR);
    return std::nullopt;
  }
  return ucp;
}

bool Library::has_threads() const noexcept {
  ucp_lib_attr_t attributes{};
  attributes.field_mask = UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL;
  return lib_query(&attributes) == UCS_OK && attributes.max_thread_level == UCS_THREAD_MODE_MULTI;
}

}  // namespace aqueduct::conduits::ucx
