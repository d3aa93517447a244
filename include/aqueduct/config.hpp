#pragma once

#include <aqueduct/status.hpp>
#include <aqueduct/threads.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct {

struct CollectiveAlgorithm;

namespace detail {
class AddedAlgorithms;
class SettingCatalog;
}  // namespace detail

/// How the text of a setting is parsed.
enum class SettingType : std::uint8_t {
  text,      ///< anything
  number,    ///< a whole number between `least` and `most`
  bytes,     ///< a number with an optional K, M, G or T (powers of 1024)
  duration,  ///< a number with ns, us, ms or s; plain numbers are in the setting's unit
  boolean,   ///< on/off, yes/no, true/false, 1/0
  choice,    ///< one of `choices`
};

/// Describes a setting, independently of its value.
struct SettingInfo {
  std::string_view name;         ///< "segment_bytes"
  std::string_view environment;  ///< "AQUEDUCT_SEGMENT_BYTES"
  SettingType type = SettingType::text;
  std::string_view unit;           ///< "bytes", "ms", … or empty
  std::string_view default_value;  ///< in the form a user would write it
  std::string_view help;           ///< one sentence
  std::int64_t least = 0;          ///< number, bytes, duration (ns): the smallest value allowed
  std::int64_t most = INT64_MAX;   ///< number, bytes, duration (ns): the largest
  std::string_view choices = {};   ///< choice: the words, separated by '|'
  /// Whether the value must be equal on all ranks of a job, because ranks would otherwise wait for each other or misread
  /// each other's messages. A job whose ranks differ in it is refused. Has no effect for settings of conduits, whose
  /// effects travel with addresses and keys.
  bool same_on_all_ranks = false;
};

/// Where a value came from.
enum class SettingOrigin : std::uint8_t { built_in, environment, program };

/// A mistake in a setting. The text names the setting, its value, its limits, and the nearest known name.
struct SettingProblem {
  std::string variable;
  std::string text;
};

/// Every setting with its value and origin, and the algorithms that the program adds. Copies are independent.
///
/// Errors: reading settings does not fail. Mistakes are collected in `problems()`, and Job::start rejects a Config that
///         has any.
class Config {
 public:
  /// The built-in defaults; ignores the environment.
  Config();
  /// The defaults, overridden by the AQUEDUCT_* variables of this process. Those that only say where Aqueduct is installed
  /// (AQUEDUCT_ROOT, AQUEDUCT_DIR, AQUEDUCT_HOME and the like) are no settings.
  static Config from_environment();
  /// The defaults, overridden by a list of NAME=VALUE (for tests and launchers).
  static Config from_variables(std::span<const std::string> variables);

  /// Sets a value by the setting's name ("segment_bytes") or variable ("AQUEDUCT_SEGMENT_BYTES").
  ///
  /// Errors: bad_setting; also kept in `problems()`.
  Status set(std::string_view name, std::string_view value);
  /// Sets AQUEDUCT_THREADS: which threads may use an endpoint.
  Status set(Threads threads) { return set("threads", to_string(threads)); }

  /// Adds an algorithm for a collective operation (algorithm.hpp) to those of the library, for the jobs that start with this
  /// Config: settings may name it, also those that were set before, searches try it, and files of decisions keep what they find. It
  /// is chosen only where one of these says so, or a model finds it to be the fastest.
  ///
  /// All ranks of a job add the same ones, in the same order: a job whose ranks differ is refused.
  /// Errors: bad_setting; also kept in `problems()`, in words. Some small calls of the algorithm are looked at here.
  Status add_algorithm(const CollectiveAlgorithm& algorithm);

  /// All settings of the library, its conduits and the plug-ins that were found. Lifetime: as long as the process.
  std::span<const SettingInfo> settings() const noexcept;
  /// What was wrong with the settings so far; empty if nothing was.
  const std::vector<SettingProblem>& problems() const noexcept { return problems_; }

  /// The value of a setting in one of four forms, and where it came from. Numbers and bytes are `number`s, durations are
  /// in nanoseconds, booleans are flags; `text` is the value as it was written. Requires: `name` is the name
  /// of a setting.
  std::string text(std::string_view name) const;
  std::int64_t number(std::string_view name) const;
  std::int64_t nanoseconds(std::string_view name) const;
  bool flag(std::string_view name) const;
  SettingOrigin origin(std::string_view name) const;
  /// Null: none were added.
  const detail::AddedAlgorithms* added_algorithms() const noexcept { return algorithms_.get(); }

 private:
  struct Value {
    std::string text;
    std::int64_t number = 0;
    SettingOrigin origin = SettingOrigin::built_in;
  };
  Status assign(std::string_view name, std::string_view value, SettingOrigin origin);
  Value value(std::string_view name) const;
  void take_defaults_of(std::string_view conduit);

  std::map<std::string, Value, std::less<>> values_;
  std::vector<SettingProblem> problems_;
  /// Values that were refused: they may name an algorithm that is yet to be added. [variable]
  std::map<std::string, Value, std::less<>> refused_;
  std::shared_ptr<const detail::AddedAlgorithms> algorithms_;
  const detail::SettingCatalog* catalog_;  // never null
};

}  // namespace aqueduct
