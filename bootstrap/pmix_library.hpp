#pragma once

#include <pmix.h>

#include <memory>
#include <string>

namespace aqueduct::bootstrap {

/// The functions of libpmix that are used, from the library found at run time. It is never unloaded: it has threads.
struct PmixLibrary {
  decltype(&PMIx_Init) init = nullptr;
  decltype(&PMIx_Finalize) finalize = nullptr;
  decltype(&PMIx_Initialized) initialized = nullptr;
  decltype(&PMIx_Abort) abort = nullptr;
  decltype(&PMIx_Put) put = nullptr;
  decltype(&PMIx_Commit) commit = nullptr;
  decltype(&PMIx_Fence_nb) fence_nb = nullptr;
  decltype(&PMIx_Get_nb) get_nb = nullptr;
  decltype(&PMIx_Register_event_handler) register_event_handler = nullptr;
  decltype(&PMIx_Deregister_event_handler) deregister_event_handler = nullptr;
  decltype(&PMIx_Error_string) error_string = nullptr;
  decltype(&PMIx_Get_version) get_version = nullptr;

  std::string file;
  std::string version() const;
  std::string text(pmix_status_t status) const;  ///< "PMIX_ERR_TIMEOUT (-24)"
};

/// `file`: empty for the one that the loader finds. If none is usable, returns null and the reason in `problem`.
std::shared_ptr<const PmixLibrary> load_pmix(const std::string& file, std::string& problem);

/// An argument of that name, without a value yet.
pmix_info_t info_of(const char* key);

}  // namespace aqueduct::bootstrap
