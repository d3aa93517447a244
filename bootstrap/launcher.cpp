#include "bootstrap/launcher.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

namespace aqueduct::bootstrap {
namespace {

/// The name of the PMIx launcher, recognised by a variable that only it sets.
std::string served_by(const Variables& variable) {
  if (variable("PRTE_LAUNCHED") || variable("PRTE_MCA_ess_base_vpid")) return "prterun";
  if (variable("OMPI_COMM_WORLD_RANK")) return "Open MPI's mpirun";
  if (variable("SLURM_STEP_ID")) return "Slurm's srun";
  if (variable("FLUX_JOB_ID")) return "Flux";
  return "a launcher with PMIx";
}

/// Says that srun started several tasks that do not know one another; empty for one task.
std::string many_alone(const Variables& variable) {
  const std::string tasks = variable("SLURM_STEP_NUM_TASKS").value_or("1");
  if (tasks == "1") return {};
  return fmt::format(
      "srun started {} tasks without PMIx, so each is a job of one rank; for one job of all tasks use srun "
      "--mpi=pmix",
      tasks);
}

bool is_set(const Variables& variable, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto value = variable(name); !value || value->empty()) return false;
  }
  return true;
}

/// Returns -1 if the text is not a number.
int number_in(const std::string& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : -1;
}

}  // namespace

std::optional<std::string> environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

Launch find_launcher(const std::string& wanted, const Variables& variable,
                     const std::function<bool(int)>& is_connected) {
  for (const Launcher launcher : {Launcher::alone, Launcher::aqrun, Launcher::pmix, Launcher::pmi1}) {
    if (wanted == word_for(launcher)) return {launcher, "AQUEDUCT_LAUNCHER asks for it", {}};
  }
  if (is_set(variable, {"AQUEDUCT_BOOTSTRAP"})) return {Launcher::aqrun, "AQUEDUCT_BOOTSTRAP is set", {}};
  const bool pmi1 = is_set(variable, {"PMI_FD", "PMI_RANK", "PMI_SIZE"});
  if (is_set(variable, {"PMIX_NAMESPACE", "PMIX_RANK"})) {
    if (pmi1 && is_connected(number_in(variable("PMI_FD").value()))) {
      return {
          Launcher::pmi1,
          "PMI_FD is a connection to mpiexec.hydra; PMIX_RANK comes from the job in which that was started",
          {}};
    }
    return {
        Launcher::pmix, fmt::format("PMIX_NAMESPACE and PMIX_RANK are set by {}", served_by(variable)), {}};
  }
  if (pmi1) {
    return {Launcher::pmi1, "PMI_FD, PMI_RANK and PMI_SIZE are set, as by mpiexec.hydra", {}};
  }
  return {Launcher::alone, "no variable of a launcher is set (AQUEDUCT_BOOTSTRAP, PMIX_RANK, PMI_FD)",
          many_alone(variable)};
}

const char* word_for(Launcher launcher) noexcept {
  switch (launcher) {
    case Launcher::alone: return "alone";
    case Launcher::aqrun: return "aqrun";
    case Launcher::pmix: return "pmix";
    case Launcher::pmi1: return "pmi1";
  }
  return "alone";
}

}  // namespace aqueduct::bootstrap
