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
  std::string why;  ///< for people: which variables say so
  std::string
      doubt;  ///< for people: why that is perhaps not what was meant; empty: nothing speaks against it
};

/// The value of an environment variable; nothing where it is not set.
using Variables = std::function<std::optional<std::string>(const char* name)>;
std::optional<std::string> environment_variable(const char* name);

/// `wanted` is the setting AQUEDUCT_LAUNCHER: "auto", or the word of one that is taken whatever the environment.
/// The nearest one counts: aqrun inside a job of mpirun is aqrun, and so is hydra there, whose processes inherit
/// mpirun's variables beside a socket that `is_connected` of its own.
Launch find_launcher(const std::string& wanted, const Variables& variable,
                     const std::function<bool(int descriptor)>& is_connected = is_stream_socket);

/// "alone", "aqrun", "pmix", "pmi1": as in Job::launcher and AQUEDUCT_LAUNCHER.
const char* word_for(Launcher launcher) noexcept;

}  // namespace aqueduct::bootstrap
