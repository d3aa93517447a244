#include "bootstrap/pmi1_beside_mpi.hpp"

#include "bootstrap/pmi1_wire.hpp"

#include <link.h>

#include <cstdlib>
#include <optional>
#include <string_view>

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aqueduct::bootstrap::pmi1 {
namespace {

constexpr std::chrono::seconds kLongestEnd{2};  // chosen: how long the manager may take to acknowledge

struct Kept {
  int descriptor;
  struct stat file;
  pid_t process;
};
std::optional<Kept> kept;  // written once, before the process exits

int is_mpi(dl_phdr_info* object, std::size_t, void*) {
  const std::string_view path(object->dlpi_name);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libmpi.") || name.starts_with("libmpich") ? 1 : 0;
}

void finalize() {
  if (::getpid() != kept->process) return;  // a forked child exits
  struct stat now;
  if (::fstat(kept->descriptor, &now) != 0 || now.st_dev != kept->file.st_dev ||
      now.st_ino != kept->file.st_ino)
    return;  // MPI has closed it, and perhaps something else has that number now
  static_cast<void>(Connection(kept->descriptor).ask("cmd=finalize\n", "finalize_ack", kLongestEnd));
}

}  // namespace

bool mpi_is_here() noexcept {
  return ::dlsym(RTLD_DEFAULT, "MPI_Finalized") != nullptr || ::dl_iterate_phdr(is_mpi, nullptr) != 0;
}

void finalize_at_exit(int descriptor) noexcept {
  Kept keep{descriptor, {}, ::getpid()};
  if (::fstat(descriptor, &keep.file) != 0) return;
  const bool again = kept.has_value();
  kept = keep;
  if (!again) static_cast<void>(std::atexit(finalize));
}

}  // namespace aqueduct::bootstrap::pmi1
