#include "conduits/ofi/library.hpp"

#include <cstdlib>

#include <dlfcn.h>

namespace aqueduct::conduits::ofi {
namespace {

constexpr const char* kName = "libfabric.so.1";

template <class Function>
void find(void* library, const char* name, Function& function, std::string& problem) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) problem = std::string(kName) + " lacks " + name + ": it is too old";
}

}  // namespace

Loaded load_library() {
  Loaded loaded;
  // Without this, `verbs;ofi_rxm` posts receive buffers to a connection that it has closed, and the program ends with a
  // segmentation fault (libfabric's issue 11828, fixed by pull request 12674 in August 2026). Receives that all connections
  // share outlive each connection. Over tcp, libfabric shares them by default.
  ::setenv("FI_OFI_RXM_USE_SRX", "1", /*replace*/ 0);
  // What its manual calls the default. Over tcp libfabric 1.17 takes some 4000: buffers of 16 KiB, used in turn, so that each message
  // comes to memory that is in no cache. Measured on Zen 5, two ranks on loopback, far cores: a put of 8 B 12.0 us for 12.6, and a rank
  // 28 MB for 80.
  ::setenv("FI_OFI_RXM_MSG_RX_SIZE", "128", /*replace*/ 0);
  // A library of one of its providers (libinfinipath) would catch the signals of crashes, print a backtrace and end the process with 1,
  // as if the program had chosen to.
  ::setenv("IPATH_NO_BACKTRACE", "1", /*replace*/ 0);
  // Never unloaded: libraries that it loads start threads and install handlers.
  void* const library = ::dlopen(kName, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    loaded.problem =
        std::string("libfabric is not installed here (on Debian: apt-get install libfabric1): ") +
        (why != nullptr ? why : "no reason given");
    return loaded;
  }
  find(library, "fi_getinfo", loaded.library.getinfo, loaded.problem);
  find(library, "fi_freeinfo", loaded.library.freeinfo, loaded.problem);
  find(library, "fi_dupinfo", loaded.library.dupinfo, loaded.problem);
  find(library, "fi_fabric", loaded.library.fabric, loaded.problem);
  find(library, "fi_strerror", loaded.library.strerror, loaded.problem);
  return loaded;
}

}  // namespace aqueduct::conduits::ofi
