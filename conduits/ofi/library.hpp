#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <cstdint>
#include <string>

namespace aqueduct::conduits::ofi {

/// The exported functions of libfabric that this conduit calls. All other calls go through tables in libfabric's
/// objects.
///
/// The library is loaded when a job first asks for this conduit, not with the program: loading takes 0.2 s (the
/// providers' own libraries calibrate clocks), and the same program runs at a site without it.
struct Library {
  int (*getinfo)(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                 const fi_info* hints, fi_info** info) = nullptr;
  void (*freeinfo)(fi_info* info) = nullptr;
  fi_info* (*dupinfo)(const fi_info* info) = nullptr;  ///< of null: an empty one
  int (*fabric)(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) = nullptr;
  const char* (*strerror)(int error) = nullptr;

  /// The text of an error, of either sign. Of one that a setting of the system mends, it says so.
  const char* text(std::int64_t error) const noexcept {
    if (error == FI_EMFILE || error == -FI_EMFILE)
      return "this process has as many open files as it may (raise `ulimit -n`)";
    return strerror(static_cast<int>(error < 0 ? -error : error));
  }
};

struct Loaded {
  Library library;
  std::string problem;  ///< why the library cannot be used, in words; empty: it can
};

/// Loads libfabric. It stays loaded until the process ends.
Loaded load_library();

}  // namespace aqueduct::conduits::ofi
