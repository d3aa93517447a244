#include <aqueduct/version.hpp>

#include "runtime/host.hpp"
#include "runtime/start.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::runtime {

namespace {

/// Settings on which the ranks of a job have to agree.
constexpr const char* kCommon[] = {"conduit", "near", "credits", "atomics"};

std::string common_settings(const Config& config) {
  std::string text;
  for (const char* name : kCommon) text += std::string(name) + "=" + config.text(name) + " ";
  return text;
}

std::span<const std::byte> as_blob(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// What one process says of itself.
struct Introduction {
  std::uint64_t version = 0;
  std::uint64_t endpoints = 0;
  Blob host;
  Blob settings;
  std::vector<Blob> problems;  // of its settings

  void write(BlobWriter& out) const {
    out.number(version);
    out.number(endpoints);
    out.bytes(host);
    out.bytes(settings);
    out.number(problems.size());
    for (const Blob& problem : problems) out.bytes(problem);
  }
  static std::optional<Introduction> read(const Blob& blob) {
    BlobReader in(blob);
    Introduction one;
    one.version = in.number();
    one.endpoints = in.number();
    one.host = in.bytes();
    one.settings = in.bytes();
    for (std::uint64_t left = in.number(); left != 0 && in.ok(); --left) one.problems.push_back(in.bytes());
    if (!in.ok()) return std::nullopt;
    return one;
  }
};

Introduction introduce(const Job::Impl& job, std::size_t endpoints) {
  const auto blob = [](const std::string& text) { return Blob(as_blob(text).begin(), as_blob(text).end()); };
  Introduction me{library_version(),
                  endpoints,
                  blob(host_identity(job.config, job.bootstrap->host())),
                  blob(common_settings(job.config)),
                  {}};
  for (const SettingProblem& problem : job.config.problems()) me.problems.push_back(blob(problem.text));
  return me;
}

std::string text_of(const Blob& blob) { return {reinterpret_cast<const char*>(blob.data()), blob.size()}; }

/// Says what is wrong with this process's settings, but not what a process before it says. Most often all have the same.
void tell_problems(Job::Impl& job, std::span<const Introduction> before, const Introduction& me) {
  for (const Blob& problem : me.problems) {
    const bool said = std::ranges::any_of(before, [&](const Introduction& other) {
      return std::ranges::find(other.problems, problem) != other.problems.end();
    });
    if (!said) job.log.error("{}", text_of(problem));
  }
}

/// Whether these processes can make a job.
Status agree(Job::Impl& job, std::span<const Introduction> all, const Introduction& me) {
  for (std::uint32_t process = 0; process < all.size(); ++process) {
    if (all[process].version == me.version) continue;
    job.log.error("process {} runs version {} of Aqueduct and this one {}: start one version everywhere",
                  process, all[process].version, me.version);
    return ErrorCode::version_mismatch;
  }
  tell_problems(job, all.first(job.bootstrap->process()), me);
  const auto wrong = [](const Introduction& one) { return !one.problems.empty(); };
  if (std::ranges::any_of(all, wrong)) return ErrorCode::bad_setting;
  for (std::uint32_t process = 0; process < all.size(); ++process) {
    if (all[process].settings == me.settings) continue;
    job.log.error(
        "process {} has other settings than this one, {}here {}: give all ranks the same (aqrun -e "
        "NAME=VALUE)",
        process, text_of(all[process].settings), text_of(me.settings));
    return ErrorCode::bad_setting;
  }
  return {};
}

Result<std::vector<std::string>> exchange_text(Job::Impl& job, const std::string& mine) {
  auto all = job.bootstrap->exchange(as_blob(mine));
  if (!all) return all.status();
  std::vector<std::string> texts;
  for (const Blob& blob : *all) texts.emplace_back(reinterpret_cast<const char*>(blob.data()), blob.size());
  return texts;
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
  std::vector<Introduction> all;
  for (const Blob& answer : *answers) {
    auto one = Introduction::read(answer);
    if (!one) {
      job.log.error("what process {} says of itself cannot be read: is it another version of Aqueduct?",
                    all.size());
      return ErrorCode::version_mismatch;
    }
    all.push_back(std::move(*one));
  }
  if (const Status status = agree(job, all, me); !status) return status;
  std::map<Blob, std::uint32_t> hosts;
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

Status choose_networks(Job::Impl& job, core::Network* far) {
  if (far != nullptr) {
    job.far_network = far;
    return {};
  }
  bool one_host = true;
  for (std::uint32_t host : job.process.host) one_host = one_host && host == job.process.host.front();
  const auto ask_all = [&job](const std::string& mine) { return exchange_text(job, mine); };
  auto choice = choose_conduits(job.config, {one_host, job.ranks_of.size() == 1, ask_all}, job.log);
  if (!choice) return choice.status();
  job.choice = std::move(*choice);
  if (job.choice.far != nullptr) job.log.debug("conduit {}: {}", job.choice.far->name, job.choice.why);
  return {};
}

Status make_networks(Job::Impl& job) {
  if (job.choice.near != nullptr) {
    auto network = job.choice.near->make(job.process);
    if (!network) return network.status();
    job.near_network = std::move(*network);
  }
  if (job.choice.far != nullptr) {
    auto network = job.choice.far->make(job.process);
    if (!network) return network.status();
    job.own_far_network = std::move(*network);
    job.far_network = job.own_far_network.get();
  }
  return {};
}

}  // namespace aqueduct::runtime
