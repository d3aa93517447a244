#include <aqueduct/version.hpp>

#include "coll/tune/adding.hpp"
#include "core/settings.hpp"
#include "runtime/host.hpp"
#include "runtime/layers.hpp"
#include "runtime/start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::runtime {

namespace {

/// The settings that must be equal on all ranks of a job. The others may differ: they affect only their own rank, or
/// their effects travel with addresses and segments (sizes, keys, longest packets).
std::vector<SettingInfo> common_settings() {
  std::vector<SettingInfo> common = layer_settings();
  std::erase_if(common, [](const SettingInfo& info) { return !info.same_on_all_ranks; });
  return common;
}

/// The algorithms that the program has added, in words: "none" or "broadcast mine, steps …; …".
std::string algorithms_of(const Config& config) {
  std::string text;
  for (const coll::Algorithm* const one : aqueduct::detail::algorithms_of(config.added_algorithms()))
    text += (text.empty() ? "" : "; ") + coll::text_of(*one->added);
  return text.empty() ? "none" : text;
}

/// The settings in which two processes differ, such as "AQUEDUCT_SEGMENTS=8, here 16; …". What differs beyond settings comes first.
std::string differences(std::span<const std::string> theirs, std::span<const std::string> mine) {
  const std::vector<SettingInfo> common = common_settings();
  std::string text;
  if (theirs.back() != mine.back())
    text = fmt::format("algorithms that the program adds (Config::add_algorithm): {}, here {}", theirs.back(),
                       mine.back());
  for (std::size_t i = 0; i < common.size(); ++i) {
    if (theirs[i] == mine[i]) continue;
    text += fmt::format("{}{}={}, here {}", text.empty() ? "" : "; ", common[i].environment,
                        core::quoted_beside(theirs[i], mine[i]), core::quoted_beside(mine[i], theirs[i]));
  }
  return text;
}

/// What a process sends in the first exchange.
struct Introduction {
  std::uint64_t version = 0;
  std::uint64_t endpoints = 0;
  std::string host;
  std::vector<std::string> settings;  // values of common_settings(), then algorithms_of()
  std::vector<std::string> problems;  // errors in its settings

  void write(BlobWriter& out) const {
    out.number(version);
    out.number(endpoints);
    out.text(host);
    for (const std::string& value : settings) out.text(value);
    out.number(problems.size());
    for (const std::string& problem : problems) out.text(problem);
  }
  /// Reads an introduction with `settings` settings.
  static std::optional<Introduction> read(const Blob& blob, std::size_t settings) {
    BlobReader in(blob);
    Introduction one;
    one.version = in.number();
    one.endpoints = in.number();
    one.host = in.text();
    for (std::size_t i = 0; i < settings; ++i) one.settings.push_back(in.text());
    for (std::uint64_t left = in.number(); left != 0 && in.ok(); --left) one.problems.push_back(in.text());
    if (!in.ok()) return std::nullopt;
    return one;
  }
};

Introduction introduce(const Job::Impl& job, std::size_t endpoints) {
  Introduction me{library_version(), endpoints, host_identity(job.config, job.bootstrap->host()), {}, {}};
  for (const SettingInfo& info : common_settings()) me.settings.push_back(job.config.text(info.name));
  me.settings.push_back(algorithms_of(job.config));
  for (const SettingProblem& problem : job.config.problems()) me.problems.push_back(problem.text);
  return me;
}

/// Logs the errors in this process's settings, except those that a process
/// with a lower number logs: most often all processes have the same.
void tell_problems(Job::Impl& job, std::span<const Introduction> before, const Introduction& me) {
  for (const std::string& problem : me.problems) {
    const bool said = std::ranges::any_of(before, [&](const Introduction& other) {
      return std::ranges::find(other.problems, problem) != other.problems.end();
    });
    if (!said) job.log.error("{}", problem);
  }
}

/// Compares the versions. The version is the first number in the introduction of every version, so it can be read even
/// if the rest has another format.
Status same_version(Job::Impl& job, const std::vector<Blob>& answers) {
  for (std::size_t process = 0; process < answers.size(); ++process) {
    const std::uint64_t version = BlobReader(answers[process]).number();
    if (version == library_version()) continue;
    job.log.error("process {} runs Aqueduct {}.{}.{} and this one {}: start one version everywhere", process,
                  version / 10000, version / 100 % 100, version % 100, library_version_text());
    return ErrorCode::version_mismatch;
  }
  return {};
}

/// Whether these processes can make a job.
Status agree(Job::Impl& job, std::span<const Introduction> all, const Introduction& me) {
  tell_problems(job, all.first(job.bootstrap->process()), me);
  const auto wrong = [](const Introduction& one) { return !one.problems.empty(); };
  if (std::ranges::any_of(all, wrong)) return ErrorCode::bad_setting;
  for (std::uint32_t process = 0; process < all.size(); ++process) {
    if (all[process].settings == me.settings) continue;
    job.log.error(
        "process {} has other settings than this one: {}. Give all ranks the same (aqrun -e NAME=VALUE)",
        process, differences(all[process].settings, me.settings));
    return ErrorCode::bad_setting;
  }
  return {};
}

}  // namespace

Status meet(Job::Impl& job, std::size_t endpoints) {
  const Introduction me = introduce(job, endpoints);
  BlobWriter mine;
  me.write(mine);
  auto answers = job.bootstrap->exchange(mine.blob());
  if (!answers) {
    tell_problems(job, {}, me);
    job.log.error("the processes of this job could not find one another: {}", answers.status().text());
    return answers.status();
  }
  if (const Status status = same_version(job, *answers); !status) return status;
  std::vector<Introduction> all;
  for (const Blob& answer : *answers) {
    auto one = Introduction::read(answer, me.settings.size());
    if (!one) {
      job.log.error("what process {} says of itself cannot be read, though its version is this one's",
                    all.size());
      return ErrorCode::bootstrap_failed;
    }
    all.push_back(std::move(*one));
  }
  if (const Status status = agree(job, all, me); !status) return status;
  std::map<std::string, std::uint32_t> hosts;
  Rank next = 0;
  for (const Introduction& process : all) {
    const std::uint32_t number =
        hosts.emplace(process.host, static_cast<std::uint32_t>(hosts.size())).first->second;
    auto& ranks = job.ranks_of.emplace_back();
    for (std::uint64_t i = 0; i < process.endpoints; ++i) {
      ranks.push_back(next++);
      job.process.host.push_back(number);
    }
  }
  job.process.config = &job.config;
  job.process.log = &job.log;
  job.process.job = job.bootstrap->job();
  job.process.ranks = next;
  job.process.mine = job.ranks_of[job.bootstrap->process()];
  return {};
}

}  // namespace aqueduct::runtime
