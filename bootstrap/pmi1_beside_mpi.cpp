#include "bootstrap/pmi1_beside_mpi.hpp"

#include "bootstrap/pmi1_wire.hpp"

#include <link.h>

#include <cstdlib>
#include <optional>
#include <string_view>

#include <dlfcn.h>
#include <unistd.h>

namespace aqueduct::bootstrap::pmi1 {
namespace {

constexpr std::chrono::seconds kLongestEnd{2};  // chosen: how long the manager may take to acknowledge

struct Kept {
  OpenFile manager;
  pid_t process;
};
std::optional<Kept> kept;

int is_mpi(dl_phdr_info* object, std::size_t, void*) {
  const std::string_view path(object->dlpi_name);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libmpi.") || name.starts_with("libmpich") ? 1 : 0;
}

/// Runs after all functions of atexit and the destructors of all static objects, which may call MPI_Finalize.
[[gnu::destructor]] void finalize() {
  if (!kept || ::getpid() != kept->process) return;  // a forked child exits
  static_cast<void>(Connection(kept->manager).ask("cmd=finalize\n", "finalize_ack", kLongestEnd));
}

}  // namespace

bool mpi_is_here() noexcept {
  return ::dlsym(RTLD_DEFAULT, "MPI_Finalized") != nullptr || ::dl_iterate_phdr(is_mpi, nullptr) != 0;
}

void finalize_at_exit(const OpenFile& manager) noexcept { kept = {manager, ::getpid()}; }

}  // namespace aqueduct::bootstrap::pmi1
