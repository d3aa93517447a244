#pragma once

#include <aqueduct/config.hpp>

#include <span>
#include <string>
#include <string_view>

namespace aqueduct::detail {

class AddedAlgorithms;

/// The settings of this library and of its conduits. runtime/, which knows all layers and conduits, implements it, so
/// that Config itself needs neither. Every Config points to the catalog, which lives as long as the process.
class SettingCatalog {
 public:
  /// The setting of this name ("segment_bytes") or variable ("AQUEDUCT_SEGMENT_BYTES"); null if no setting has it. Loads
  /// the plug-ins in their folders if only they can have it.
  virtual const SettingInfo* find(std::string_view name) const = 0;
  /// All settings, with those of the plug-ins in their folders, which it loads.
  virtual std::span<const SettingInfo> all() const = 0;
  /// Checks a value that `info` itself allows: whether such a conduit exists, and what the conduit that has the setting
  /// says. `added` by the program; null: none. Returns what is wrong, or an empty string.
  virtual std::string objection(const SettingInfo& info, std::string_view value,
                                const AddedAlgorithms* added) const = 0;
  /// The settings of a plug-in that was loaded by this path. Empty if none was.
  virtual std::span<const SettingInfo> of_plugin(std::string_view path) const = 0;

 protected:
  ~SettingCatalog() = default;
};

}  // namespace aqueduct::detail
