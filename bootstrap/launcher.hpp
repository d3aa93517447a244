#pragma once

#include "bootstrap/stream.hpp"

#include <functional>
#include <optional>
#include <string>

namespace aqueduct::bootstrap {

enum class Launcher { alone, aqrun, pmix, pmi1 };

/// What started this process, as far as its environment tells.
struct Launch {
  Launcher by = Launcher::alone;
  std::string why;    ///< in words: which variables show it
  std::string doubt;  ///< in words: why this may not be what the user wanted; empty: no doubt
};

/// The value of an environment variable; nothing if it is not set.
using Variables = std::function<std::optional<std::string>(const char* name)>;
std::optional<std::string> environment_variable(const char* name);

/// `wanted` is the setting AQUEDUCT_LAUNCHER: "auto", or the name of a launcher to use whatever the environment says.
/// The innermost launcher counts. Under mpirun, processes of aqrun have the variables of both: aqrun wins. So does
/// hydra under mpirun, if PMI_FD names a socket that `is_connected`.
Launch find_launcher(const std::string& wanted, const Variables& variable,
                     const std::function<bool(int descriptor)>& is_connected = is_stream_socket);

/// "alone", "aqrun", "pmix", "pmi1": as in Job::launcher and AQUEDUCT_LAUNCHER.
const char* word_for(Launcher launcher) noexcept;

}  // namespace aqueduct::bootstrap
